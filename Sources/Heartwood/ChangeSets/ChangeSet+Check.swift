import HeartwoodBytes

/// The check of a change set against the model: its file may come from anywhere.
extension ChangeSet {
  /// - Throws: `.persistentStoreIncompatibleVersionHash` for objects, properties or values that the model does not have.
  func check(against entities: [String: EntityDescription]) throws {
    guard Set(changes.map(\.identity)).count == changes.count else { throw Self.misfit("an object twice") }
    for change in changes where !change.isTombstone {
      guard let entity = entities[change.entity], entity.rootEntity.displayName == change.identity.root else {
        throw Self.misfit("objects of \(change.entity), which the model does not have")
      }
      guard !entity.isAbstract else {
        throw Self.misfit(
          "an object of \(change.entity), which is abstract: the model has changed, or the file was not made by a store"
        )
      }
      func leads(to destination: Identity, _ relationship: RelationshipDescription) -> Bool {
        destination.root == relationship.destinationEntity.rootEntity.displayName
      }
      func require(_ isFit: Bool, _ name: String) throws {
        guard isFit else { throw Self.misfit("another \(change.entity).\(name) than the model") }
      }
      for (path, cell) in change.cells {
        guard let slot = entity.slot(named: path) else {
          throw Self.misfit("\(change.entity).\(path), which the model does not have")
        }
        let (relationship, kind) = (
          entity.compiled.relationshipBySlot[slot], entity.layout.columns[slot].kind
        )
        func fits(_ cell: Cell) -> Bool {
          switch cell {
          case .value(let value): kind.holds(value)
          case .object(let destination): relationship.map { leads(to: destination, $0) } ?? false
          }
        }
        try require(entity.isPortable(slot) && fits(cell.former) && fits(cell.value), path)
      }
      for (name, links) in change.links {
        let isFit = entity.relationshipsByName[name].map { relationship in
          relationship.hasPortableLinks && links.allSatisfy { leads(to: $0.destination, relationship) }
        }
        try require(isFit ?? false, name)
      }
      for (name, order) in change.orders {
        let isFit = entity.relationshipsByName[name].map { relationship in
          relationship.isOrdered && (order.former + order.value).allSatisfy { leads(to: $0, relationship) }
        }
        try require(isFit ?? false, name)
      }
    }
  }

  static func misfit(_ found: String) -> HeartwoodError {
    HeartwoodError(.persistentStoreIncompatibleVersionHash, "the change set has \(found)")
  }
}
