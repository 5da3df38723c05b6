/// Finds the destinations that rows of a batch name.
final class BatchTargets {
  private struct Name: Hashable {
    let index: UInt16
    let first: Value
    /// Without an allocation for constraints of one property.
    var rest: [Value] = []
  }

  private let transaction: any StoreTransaction
  /// The objects that were found lately: rows of a batch often share their destinations.
  private var known: [Name: UInt64] = [:]
  private var existing: Set<ManagedObjectID> = []
  private static let most = 10_000

  init(_ transaction: any StoreTransaction) { self.transaction = transaction }

  /// Forgets what was found: rows may have other unique values now.
  func forget() { known = [:] }

  /// The key of a destination; nil if no row has the unique values.
  ///
  /// - Throws: `.managedObjectReferentialIntegrity` if there is no row with the identifier.
  func key(of reference: BatchReference, _ relationship: RelationshipDescription) throws -> UInt64? {
    switch reference {
    case .key(let identifier):
      try check(identifier, relationship)
      return identifier.key
    case .unique(let index, let parts):
      guard let first = try value(of: parts[0]) else { return nil }
      var name = Name(index: index.number, first: first)
      for part in parts.dropFirst() {
        guard let value = try value(of: part) else { return nil }
        name.rest.append(value)
      }
      if let key = known[name] { return key }
      guard let key = try find(index, [first] + name.rest, relationship.destinationEntity) else { return nil }
      if known.count >= Self.most { known = [:] }
      known[name] = key
      return key
    }
  }

  /// - Throws: `.managedObjectReferentialIntegrity` if there is no such object.
  func requiredKey(
    of reference: BatchReference, _ relationship: RelationshipDescription
  ) throws -> UInt64 {
    if let key = try key(of: reference, relationship) { return key }
    throw HeartwoodError.batchNoDestination(reference, relationship)
  }

  /// Nil if it is an object that does not exist.
  private func value(of part: BatchReference.Part) throws -> Value? {
    switch part {
    case .value(let value): value
    case .object(let reference, let relationship):
      try key(of: reference, relationship).map {
        .object(
          ManagedObjectID(entity: relationship.destinationEntity, key: $0, store: transaction.identity))
      }
    }
  }

  private func check(_ identifier: ManagedObjectID, _ relationship: RelationshipDescription) throws {
    guard !existing.contains(identifier) else { return }
    let destination: EntityDescription = relationship.destinationEntity
    guard let row = try transaction.row(destination.rootEntity, identifier.key) else {
      throw HeartwoodError.noRow(identifier)
    }
    guard try isDestination(row, destination) else {
      throw HeartwoodError.batchReference(relationship, "\(identifier) is not \(destination.displayName)")
    }
    if existing.count >= Self.most { existing = [] }
    existing.insert(identifier)
  }

  private func find(_ index: StoreIndex, _ values: [Value], _ destination: EntityDescription) throws
    -> UInt64?
  {
    if values.contains(where: \.isNull) { return nil }
    var builder = RowBuilder(index.entity.layout)
    for (slot, value) in zip(index.slots, values) { builder.set(slot, value) }
    let keys = try builder.finish(version: 1).withUnsafeBytes {
      try transaction.keys(in: index, like: RowView(unchecked: $0))
    }
    return try keys.first { key in
      try transaction.row(destination.rootEntity, key).map { try isDestination($0, destination) } ?? false
    }
  }

  private func isDestination(_ row: RowView, _ destination: EntityDescription) throws -> Bool {
    try destination.rootEntity.entity(numbered: row.entityNumber).isKindOf(entity: destination)
  }
}
