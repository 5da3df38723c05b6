import Foundation

/// The difference of one object between two states of a store.
public struct ObjectDifference: Sendable {
  /// The kinds of differences.
  public enum Kind: String, Sendable {
    /// Only the later state has the object.
    case inserted
    /// Both have it, with other values or destinations.
    case updated
    /// Only the earlier state has it.
    case deleted
  }

  /// The object.
  public let objectID: ManagedObjectID
  /// The kind of the change.
  public let kind: Kind
  /// The names of the attributes and to-one relationships that differ: of an object that only one state has, all that have a value.
  public let changedValues: Set<String>
  /// The columns behind `changedValues`, also the elements of composite attributes.
  let changedSlots: [Int]
  private let former: [UInt8]?
  private let row: [UInt8]?
  private let links: [Int: RowDifference.Links]
  private let store: StoreIdentity
  /// The own entities of objects that are referred to, where a relationship may lead to several.
  private let entities: [RowAddress: EntityDescription]

  /// Data that is stored outside its row, in place of its bytes.
  public struct LargeData: Sendable, Hashable {
    /// The number of bytes.
    public let byteCount: UInt64
  }

  /// The values of the earlier state for `changedValues`, in the types of `ManagedObject.value(forKey:)`, identifiers for objects; without those that
  /// are nil, and ``LargeData`` for data that is stored outside its row.
  public var formerValues: [String: Any] { values(of: former) }

  /// The values of the later state, in the same form.
  public var values: [String: Any] { values(of: row) }

  /// The destinations that to-many relationships have got, by name, in the order of their identifiers.
  public var addedObjects: [String: [ManagedObjectID]] { destinations(\.added) }

  /// The destinations that to-many relationships have lost.
  public var removedObjects: [String: [ManagedObjectID]] { destinations(\.removed) }

  /// The names of the ordered relationships whose destinations have another order.
  public var reorderedRelationships: Set<String> {
    Set(links.filter(\.value.isReordered).map { objectID.entity.property(at: $0.key).name })
  }

  /// Whether a to-many relationship has other destinations, or another order of them.
  func changesDestinations(of name: String) -> Bool {
    objectID.entity.slot(named: name).map { links[$0] != nil } ?? false
  }

  private func values(of bytes: [UInt8]?) -> [String: Any] {
    guard let bytes else { return [:] }
    let entity = objectID.entity
    return bytes.withUnsafeBytes { bytes in
      guard let row = try? RowView(validating: bytes, layout: entity.layout) else { return [:] }
      var values: [String: Any] = [:]
      for name in changedValues {
        guard let slot = entity.slot(named: name) else { continue }
        switch Self.value(of: row, at: slot, entity, store) {
        case nil:
          if let data = row.external(entity.layout.columns[slot]) {
            values[name] = LargeData(byteCount: data.count)
          }
        case .object(let identifier)?: values[name] = own(identifier.entity, identifier.key)
        case _?:
          values[name] = entity.anyWhole(at: slot) { Self.value(of: row, at: $0, entity, store) ?? .null }
        }
      }
      return values
    }
  }

  private func destinations(_ part: KeyPath<RowDifference.Links, [UInt64]>) -> [String: [ManagedObjectID]] {
    var found: [String: [ManagedObjectID]] = [:]
    for (slot, difference) in links where !difference[keyPath: part].isEmpty {
      let relationship = objectID.entity.relationship(at: slot)
      let destination: EntityDescription = relationship.destinationEntity
      found[relationship.name] = difference[keyPath: part].map { own(destination, $0) }
    }
    return found
  }

  /// The identifier of an object that is referred to, with its own entity.
  private func own(_ entity: EntityDescription, _ key: UInt64) -> ManagedObjectID {
    ManagedObjectID(entity: entities[RowAddress(entity, key)] ?? entity, key: key, store: store)
  }

  /// A value of a row; nil for data that is stored outside of it.
  private static func value(
    of row: RowView, at slot: Int, _ entity: EntityDescription, _ store: StoreIdentity
  ) -> Value? {
    let layout = entity.layout
    let column = layout.columns[slot]
    return row.external(column) == nil ? row.value(column, layout: layout, store: store) : nil
  }
}

extension ObjectDifference {
  /// - Returns: nil if the rows differ in nothing that the model has.
  init?(
    _ difference: RowDifference, _ entity: EntityDescription, _ key: UInt64, _ store: StoreIdentity,
    _ views: GenerationPair
  ) throws {
    objectID = ManagedObjectID(entity: entity, key: key, store: store)
    (former, row, links) = (difference.former, difference.row, difference.links)
    self.store = store
    kind = difference.kind
    changedSlots = try Self.changed(former, row, entity, key, store, views)
    changedValues = Set(
      changedSlots.map { entity.property(at: entity.compositeSlots(around: $0).first ?? $0).name })
    if kind == .updated, changedValues.isEmpty, links.isEmpty { return nil }
    var entities: [RowAddress: EntityDescription] = [:]
    for address in Self.references(difference, entity, changedValues, store) {
      entities[address] = try views.entity(of: address)
    }
    self.entities = entities
  }

  /// The objects that a difference refers to by relationships which may lead to several entities.
  private static func references(
    _ difference: RowDifference, _ entity: EntityDescription, _ changed: Set<String>, _ store: StoreIdentity
  ) -> [RowAddress] {
    var found: [RowAddress] = []
    for relationship in entity.relationshipsBySlot {
      let destination: EntityDescription = relationship.destinationEntity
      guard destination.factory.hasSubentities else { continue }
      if let links = difference.links[relationship.slot] {
        found += (links.added + links.removed).map { RowAddress(destination, $0) }
      }
      guard !relationship.isToMany, changed.contains(relationship.name) else { continue }
      for bytes in [difference.former, difference.row].compactMap(\.self) {
        bytes.withUnsafeBytes { bytes in
          guard let row = try? RowView(validating: bytes, layout: entity.layout),
            case .object(let identifier)? = value(of: row, at: relationship.slot, entity, store)
          else { return }
          found.append(RowAddress(destination, identifier.key))
        }
      }
    }
    return found
  }

  private static func changed(
    _ former: [UInt8]?, _ row: [UInt8]?, _ entity: EntityDescription, _ key: UInt64, _ store: StoreIdentity,
    _ views: GenerationPair
  ) throws -> [Int] {
    func read<Result>(_ bytes: [UInt8]?, _ body: (RowView?) throws -> Result) rethrows -> Result {
      guard let bytes else { return try body(nil) }
      return try bytes.withUnsafeBytes { try body(try? RowView(validating: $0, layout: entity.layout)) }
    }
    return try read(former) { former in
      try read(row) { row in
        try entity.slots.filter { slot in
          guard entity.compiled.relationshipBySlot[slot]?.isToMany != true else { return false }
          let column = entity.layout.columns[slot]
          guard former?.external(column) == nil, row?.external(column) == nil else {
            return try !views.haveSameData(former, row, at: slot, entity, key)
          }
          let before = former.map { $0.value(column, layout: entity.layout, store: store) } ?? .null
          let after = row.map { $0.value(column, layout: entity.layout, store: store) } ?? .null
          return !before.isStored(as: after)
        }
      }
    }
  }
}

extension RowDifference {
  /// The kind of the row's change.
  var kind: ObjectDifference.Kind {
    former == nil && row != nil ? .inserted : former != nil && row == nil ? .deleted : .updated
  }
}

extension PersistentStoreCoordinator {
  /// The differences between two generations of a store, in the order of entities and keys.
  ///
  /// The pages of the tree that both generations have are not read, so it costs what differs, and not the size of the store.
  ///
  /// - Parameters:
  ///   - former: The number of the earlier generation, or transaction: see `generations()`.
  ///   - present: The number of the later one; nil for the newest.
  ///   - store: One of several stores; nil for the only one.
  /// - Throws: The store's error if it no longer has one of the generations, such as after `reclaim()`, or if it was migrated between them;
  ///   `.persistentStoreUnsupportedRequestType` if the store has no past generations.
  /// - Complexity: Linear in the pages that differ, in the objects that do, which are all in memory, and in data that is stored outside its
  ///   row and was written again.
  public func differences(
    from former: UInt64, to present: UInt64? = nil, of store: PersistentStore? = nil
  ) throws -> [ObjectDifference] {
    try historyStore(store).pastViews(at: former, and: present).objectDifferences()
  }
}

extension GenerationPair {
  /// The objects that differ, in the order of their addresses.
  func objectDifferences() throws -> [ObjectDifference] {
    let sorted = try later.differences(from: earlier).sorted { $0.key < $1.key }
    return try sorted.compactMap { address, difference in
      let entity = try difference.entity ?? later.entity(of: address)
      return try entity.flatMap { try ObjectDifference(difference, $0, address.key, later.identity, self) }
    }
  }

  /// The own entity of an object; nil if neither state has it.
  fileprivate func entity(of address: RowAddress) throws -> EntityDescription? {
    try later.entity(of: address) ?? earlier.entity(of: address)
  }

  /// Whether two rows of an object have the same data, which one of them at least has outside of it.
  ///
  /// - Complexity: Linear in the data if both were written apart and have as many bytes. The former data is in memory then.
  fileprivate func haveSameData(
    _ former: RowView?, _ row: RowView?, at slot: Int, _ entity: EntityDescription, _ key: UInt64
  ) throws -> Bool {
    let column = entity.layout.columns[slot]
    guard let before = former?.external(column), let after = row?.external(column),
      let attribute = entity.attribute(at: slot), before.count == after.count
    else { return false }
    guard before != after else { return true }
    var rest = Data()
    let pieceBytes = 1 << 20
    let wasThere = try earlier.readExternal(before, of: attribute, key, pieceBytes: pieceBytes) {
      rest.append(contentsOf: $0)
      return true
    }
    let isThere = try later.readExternal(after, of: attribute, key, pieceBytes: pieceBytes) { piece in
      guard rest.prefix(piece.count).elementsEqual(piece) else { return false }
      rest = rest.dropFirst(piece.count)
      return true
    }
    return wasThere && isThere && rest.isEmpty
  }
}

extension LogStoreView {
  /// The own entity of an object; nil if there is no row of it.
  func entity(of address: RowAddress) throws -> EntityDescription? {
    guard let root = schema.rootEntities.first(where: { $0.number == address.root }),
      let row = try row(root, address.key)
    else { return nil }
    return try root.entity(numbered: row.entityNumber)
  }
}
