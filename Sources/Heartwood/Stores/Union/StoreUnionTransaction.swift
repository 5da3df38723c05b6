import Foundation

/// A save to several stores in progress: splits it into one for each store.
final class StoreUnionTransaction: StoreTransaction {
  /// By the numbers of the stores.
  private let members: [Int: LogStoreTransaction]
  private let union: StoreUnion
  private let references: RowReferences
  private let numbered = ConvertedRows(keepsPlaces: false)

  init(_ members: [Int: LogStoreTransaction], _ union: StoreUnion, _ references: RowReferences) {
    self.members = members
    self.union = union
    self.references = references
  }

  var identity: StoreIdentity { union.identity }

  var changes: [HistoryChange] {
    members.sorted { $0.key < $1.key }.flatMap { number, member in
      member.changes.map {
        HistoryChange(
          kind: $0.kind, entity: $0.entity, key: $0.key.numbered(number), updatedSlots: $0.updatedSlots,
          tombstone: $0.tombstone)
      }
    }
  }

  private func member(_ number: Int) throws -> LogStoreTransaction {
    if let member = members[number] { return member }
    throw HeartwoodError.noStore(number)
  }

  func writeEntries() throws { for member in members.values { try member.writeEntries() } }

  func view() throws -> any StoreView {
    StoreUnionView(
      try members.map { StoreUnionView.Member(number: $0.key, view: try $0.value.transactionView()) },
      references, areRowsKept: false)
  }

  func keys(in index: StoreIndex, like row: RowView) throws -> [UInt64] {
    var keys: [UInt64] = []
    for (number, member) in members.sorted(by: { $0.key < $1.key }) where member.schema.has(index.entity) {
      let own = StoreUnionView.Member(number: number, view: try member.transactionView())
      guard let index = own.index(like: index) else { continue }
      // Objects of other stores are none of its references.
      guard let local = references.local(row, index, number) else { continue }
      keys += try local.withUnsafeBytes { bytes in
        try member.keys(in: index, like: RowView(unchecked: bytes)).map { $0.numbered(number) }
      }
    }
    return keys
  }

  func newKeys(_ root: EntityDescription, _ count: Int, in store: Int) throws -> UInt64 {
    try member(store).newKeys(root, count, in: 0).numbered(store)
  }

  func noteGivenKey(_ key: UInt64, _ root: EntityDescription) throws {
    try member(key.storeNumber).noteGivenKey(key.keyInStore, root)
  }

  func versionOfRestoredRow(_ key: UInt64) throws -> UInt32 {
    try member(key.storeNumber).versionOfRestoredRow(key.keyInStore)
  }

  // MARK: Reading

  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    let number = key.storeNumber
    guard key.isPermanentKey, let member = members[number], member.schema.has(root),
      let row = try member.row(root, key.keyInStore)
    else { return nil }
    guard let bytes = references.numbered(row, number) else { return row }
    return numbered.row(row) { bytes }
  }

  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    let number = key.storeNumber
    guard let member = members[number], let entity = relationship.entity, member.schema.has(entity) else {
      return
    }
    try member.destinations(relationship, of: key.keyInStore) { try body($0.numbered(number)) }
  }

  func destinationCount(_ relationship: RelationshipDescription, of key: UInt64) throws -> Int {
    guard let member = members[key.storeNumber], let entity = relationship.entity, member.schema.has(entity)
    else { return 0 }
    return try member.destinationCount(relationship, of: key.keyInStore)
  }

  func hasDestination(
    _ relationship: RelationshipDescription, _ target: UInt64, of key: UInt64
  ) throws -> Bool {
    guard target.storeNumber == key.storeNumber, let member = members[key.storeNumber],
      let entity = relationship.entity, member.schema.has(entity)
    else { return false }
    return try member.hasDestination(relationship, target.keyInStore, of: key.keyInStore)
  }

  // MARK: Writing

  func insert(_ entity: EntityDescription, _ key: UInt64, row: inout [UInt8]) throws {
    numbered.trim()
    var local = try references.local(row, entity, key, identity)
    try member(key.storeNumber).insert(entity, key.keyInStore, row: &local)
    row = references.numbered(local, key.storeNumber)
  }

  func update(
    _ entity: EntityDescription, _ key: UInt64, expectedVersion: UInt32, row: inout [UInt8]?,
    changedSlots: [Int], changedToMany: [Int]
  ) throws -> RowConflict? {
    numbered.trim()
    var local = try row.map { try references.local($0, entity, key, identity) }
    let conflict = try member(key.storeNumber).update(
      entity, key.keyInStore, expectedVersion: expectedVersion, row: &local, changedSlots: changedSlots,
      changedToMany: changedToMany)
    row = local.map { references.numbered($0, key.storeNumber) }
    return try conflict.map { try self.conflict($0, key) }
  }

  func deriveValues() throws -> [DerivedRow] {
    var derived: [DerivedRow] = []
    for (number, member) in members.sorted(by: { $0.key < $1.key }) {
      derived += try member.deriveValues().map { row in
        DerivedRow(
          entity: row.entity, key: row.key.numbered(number), row: references.numbered(row.row, number))
      }
    }
    return derived
  }

  func delete(_ entity: EntityDescription, _ key: UInt64, expectedVersion: UInt32) throws -> RowConflict? {
    numbered.trim()
    let conflict = try member(key.storeNumber).delete(
      entity, key.keyInStore, expectedVersion: expectedVersion)
    return try conflict.map { try self.conflict($0, key) }
  }

  /// A conflict of a store as one of all.
  private func conflict(_ conflict: RowConflict, _ key: UInt64) throws -> RowConflict {
    let row = try conflict.newestRow.map { bytes in
      try bytes.withUnsafeBytes {
        references.numbered(
          try RowView(validating: $0, below: conflict.entity.rootEntity), key.storeNumber)
      } ?? bytes
    }
    return RowConflict(
      entity: conflict.entity, key: key, expectedVersion: conflict.expectedVersion,
      newestVersion: conflict.newestVersion, newestRow: row)
  }

  func putExternal(
    _ data: Data, of attribute: AttributeDescription, _ key: UInt64
  ) throws -> ExternalReference {
    try member(key.storeNumber).putExternal(data, of: attribute, key.keyInStore)
  }

  func link(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) throws {
    try requireSameStore(relationship, source, target)
    try member(source.storeNumber).link(relationship, source.keyInStore, target.keyInStore)
  }

  func unlink(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) throws {
    guard source.storeNumber == target.storeNumber else { return }
    try member(source.storeNumber).unlink(relationship, source.keyInStore, target.keyInStore)
  }

  func setOrder(
    _ relationship: RelationshipDescription, _ source: UInt64, _ targets: [UInt64]
  ) throws {
    for target in targets { try requireSameStore(relationship, source, target) }
    try member(source.storeNumber).setOrder(relationship, source.keyInStore, targets.map(\.keyInStore))
  }

  func reconcileOrders() throws -> [(relationship: RelationshipDescription, source: UInt64)] {
    var corrected: [(relationship: RelationshipDescription, source: UInt64)] = []
    for (number, member) in members.sorted(by: { $0.key < $1.key }) {
      corrected += try member.reconcileOrders().map { ($0.relationship, $0.source.numbered(number)) }
    }
    return corrected
  }

  private func requireSameStore(
    _ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64
  ) throws(HeartwoodError) {
    guard source.storeNumber != target.storeNumber, let entity = relationship.entity else { return }
    throw .externalRelationship(
      ManagedObjectID(entity: entity, key: source, store: identity), relationship,
      ManagedObjectID(entity: relationship.destinationEntity, key: target, store: identity))
  }
}
