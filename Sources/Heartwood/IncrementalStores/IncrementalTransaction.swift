import Foundation
import HeartwoodBytes

/// A batch over an incremental store: reads what the store's class reads in its transaction, and keeps what is written until there is much
/// of it, or until the class has to find it.
final class IncrementalTransaction: StoreTransaction {

  struct PendingRow {
    let entity: EntityDescription
    /// Nil for a deleted row.
    var row: StoredRow?
    var isNew: Bool
    var changed: Set<Int> = []
  }

  struct PendingLinks {
    let relationship: RelationshipDescription
    let key: UInt64
    var added: [UInt64] = []
    var removed: Set<UInt64> = []
    var order: [UInt64]?
  }

  let identity: StoreIdentity
  let contents: IncrementalContents
  private let derivations: DerivationPlan?
  private let context: ManagedObjectContext?
  private let writing: StoreBatchWriting
  private let now = Date()
  private var reader: IncrementalView
  private(set) var rows: [RowAddress: PendingRow] = [:]
  private(set) var order: [RowAddress] = []
  private(set) var links: [LinkAddress: PendingLinks] = [:]
  private(set) var linkOrder: [LinkAddress] = []
  private var slab: RowSlab?
  private(set) var changes: [HistoryChange] = []

  private static let mostPending = 5000

  init(_ store: IncrementalStore, _ context: ManagedObjectContext?, _ writing: StoreBatchWriting) {
    identity = store.identityOfObjects
    contents = IncrementalContents(store, identity)
    derivations = store.derivations
    self.context = context
    self.writing = writing
    reader = IncrementalView(contents, contents.newestGeneration, context, hasOneReader: true)
  }

  // MARK: Reading

  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    if let pending = rows[RowAddress(root: root.number, key: key)] { return pending.row?.view }
    return try reader.row(root, key)
  }

  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    guard let root = relationship.entity?.rootEntity else { return }
    guard relationship.isToMany else {
      guard let row = try row(root, key) else { return }
      let entity = try root.entity(numbered: row.entityNumber)
      let column = entity.layout.columns[relationship.slot]
      if !row.isNull(column) { _ = try body(row.key(column)) }
      return
    }
    // Those whose inverse is a to-one relationship are in the rows of the destinations.
    if !relationship.ownsLinks { try writeEntries() }
    let pending = links[LinkAddress(relationship, of: key)]
    if rows[RowAddress(root: root.number, key: key)]?.isNew != true {
      var continues = true
      try reader.destinations(relationship, of: key) { target in
        if pending?.removed.contains(target) == true || pending?.added.contains(target) == true {
          return true
        }
        continues = try body(target)
        return continues
      }
      guard continues else { return }
    }
    for target in pending?.added ?? [] where try !body(target) { return }
  }

  func view() throws -> any StoreView {
    try writeEntries()
    return reader
  }

  /// The keys of the stored rows that a request selects.
  func keys(of request: ResolvedRequest) throws -> [UInt64] {
    try IncrementalFetch(request, reader, hidden: 0).identifiers().map(\.keyInItsStore)
  }

  func keys(in index: StoreIndex, like row: RowView) throws -> [UInt64] {
    let values = index.values(of: row, identity)
    return try found[index.number]?[values] ?? find(index, [values])[values] ?? []
  }

  /// By the number of an index and values, what was looked up together.
  private var found: [UInt16: [[Value]: [UInt64]]] = [:]

  func lookUp(_ indexes: [StoreIndex], _ rows: () -> [[UInt8]]) throws {
    let rows = rows()
    for index in indexes { try lookUp(index, rows) }
  }

  private func lookUp(_ index: StoreIndex, _ rows: [[UInt8]]) throws {
    var sought: Set<[Value]> = []
    for row in rows {
      row.withUnsafeBytes { bytes in
        let view = RowView(unchecked: bytes)
        sought.insert(index.values(of: view, identity))
      }
    }
    var known: [[Value]: [UInt64]] = [:]
    for part in Array(sought).inParts(of: Self.soughtAtOnce) {
      known.merge(try find(index, part)) { first, _ in first }
    }
    found[index.number] = known
  }

  private static let soughtAtOnce = 512

  /// The keys of stored rows by their values in the columns of an index; those of values that none has are empty.
  private func find(_ index: StoreIndex, _ sought: some Sequence<[Value]>) throws -> [[Value]: [UInt64]] {
    var keys = Dictionary(sought.map { ($0, [UInt64]()) }, uniquingKeysWith: { first, _ in first })
    let present = keys.keys.filter { !$0.contains(where: \.isNull) }
    guard !present.isEmpty else { return keys }
    let rows = try reader.rows(of: index.entity, with: index.propertyNames, in: Array(present))
    for (key, row) in rows {
      let values = index.values(of: row.view, identity)
      keys[values, default: []].append(key)
    }
    return keys
  }

  // MARK: Writing

  func newKeys(_ root: EntityDescription, _ count: Int, in store: Int) throws -> UInt64 {
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType, "a custom store has no runs of identifiers")
  }

  func newKeys(of entity: EntityDescription, _ count: Int) throws -> [UInt64]? {
    try writing.newIdentifiers(entity, count).map(\.keyInItsStore)
  }

  func noteGivenKey(_ key: UInt64, _ root: EntityDescription) {}

  func versionOfRestoredRow(_ key: UInt64) throws -> UInt32 { 1 }

  func insert(_ entity: EntityDescription, _ key: UInt64, row: inout [UInt8]) throws {
    row = try derived(row, key, entity).row
    put(entity, key, row, isNew: true, [])
    row.withUnsafeBytes { appendToOrders(RowView(unchecked: $0), entity, key, entity.storedSlots) }
    changes.append(HistoryChange(kind: .insert, entity: entity, key: key))
    if order.count >= Self.mostPending { try writeEntries() }
  }

  func update(
    _ entity: EntityDescription, _ key: UInt64, expectedVersion: UInt32, row: inout [UInt8]?,
    changedSlots: [Int], changedToMany: [Int]
  ) throws -> RowConflict? {
    if let new = row {
      let (bytes, changed) = try derived(new, key, entity)
      row = bytes
      put(entity, key, bytes, isNew: false, Set(changedSlots + changed))
      bytes.withUnsafeBytes { appendToOrders(RowView(unchecked: $0), entity, key, changedSlots) }
    }
    changes.append(
      HistoryChange(kind: .update, entity: entity, key: key, updatedSlots: changedSlots + changedToMany))
    if order.count >= Self.mostPending { try writeEntries() }
    return nil
  }

  func delete(_ entity: EntityDescription, _ key: UInt64, expectedVersion: UInt32) throws -> RowConflict? {
    let place = RowAddress(entity, key)
    if rows[place] == nil { order.append(place) }
    rows[place] = PendingRow(entity: entity, row: nil, isNew: false)
    changes.append(HistoryChange(kind: .delete, entity: entity, key: key))
    return nil
  }

  /// A row with the derived values that depend on it alone.
  private func derived(
    _ row: [UInt8], _ key: UInt64, _ entity: EntityDescription
  ) throws -> (row: [UInt8], changed: [Int]) {
    guard let known = derivations?.of(entity), !known.ofOwnRow.isEmpty else { return (row, []) }
    return try row.withUnsafeBytes { bytes in
      let view = RowView(unchecked: bytes)
      let values = try known.values(of: view, key, reader, now)
      return view.replacing(
        Dictionary(values.map { ($0.slot, $0.value) }, uniquingKeysWith: { first, _ in first }), entity.layout
      )
    }
  }

  private func put(
    _ entity: EntityDescription, _ key: UInt64, _ bytes: [UInt8], isNew: Bool, _ changed: Set<Int>
  ) {
    let place = RowAddress(entity, key)
    let row = bytes.withUnsafeBytes { StoredRow(copying: $0, into: &slab) }
    if var known = rows[place] {
      known.row = row
      known.changed.formUnion(changed)
      rows[place] = known
    } else {
      order.append(place)
      rows[place] = PendingRow(entity: entity, row: row, isNew: isNew, changed: changed)
    }
  }

  func putExternal(_ data: Data, of attribute: AttributeDescription, _ key: UInt64) throws
    -> ExternalReference
  {
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType, "a custom store has no data outside its rows")
  }

  var keepsExternalData: Bool { false }

  func link(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) throws {
    guard relationship.ownsLinks else { return }
    add(target, to: relationship, of: source)
    if let inverse = relationship.inverseRelationship { add(source, to: inverse, of: target) }
  }

  func unlink(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) throws {
    guard relationship.ownsLinks else { return }
    remove(target, from: relationship, of: source)
    if let inverse = relationship.inverseRelationship { remove(source, from: inverse, of: target) }
  }

  private func withLinks(
    _ relationship: RelationshipDescription, _ key: UInt64, _ body: (inout PendingLinks) -> Void
  ) {
    let place = LinkAddress(relationship, of: key)
    if links[place] == nil { linkOrder.append(place) }
    body(&links[place, default: PendingLinks(relationship: relationship, key: key)])
  }

  private func add(_ target: UInt64, to relationship: RelationshipDescription, of key: UInt64) {
    withLinks(relationship, key) { links in
      links.removed.remove(target)
      if !links.added.contains(target) { links.added.append(target) }
    }
  }

  private func remove(_ target: UInt64, from relationship: RelationshipDescription, of key: UInt64) {
    withLinks(relationship, key) { links in
      links.added.removeAll { $0 == target }
      links.removed.insert(target)
    }
  }

  func setOrder(_ relationship: RelationshipDescription, _ source: UInt64, _ targets: [UInt64]) throws {
    withLinks(relationship, source) { $0.order = targets }
  }

  func reconcileOrders() throws -> [(relationship: RelationshipDescription, source: UInt64)] { [] }

  /// The class derives what depends on other rows.
  func deriveValues() throws -> [DerivedRow] { [] }

  /// The changes, without updates of rows that are new or gone.
  var netChanges: ObjectIDChanges {
    var net = ObjectIDChanges(changes, identity)
    net.updatedObjectIDs.subtract(net.insertedObjectIDs)
    net.updatedObjectIDs.subtract(net.deletedObjectIDs)
    return net
  }

  /// A destination comes last in the order of the object that its row refers to.
  private func appendToOrders(_ row: RowView, _ entity: EntityDescription, _ key: UInt64, _ slots: [Int]) {
    for slot in slots {
      let column = entity.layout.columns[slot]
      guard column.kind == .toOne, !row.isNull(column),
        let inverse = entity.relationship(at: slot).inverseRelationship, inverse.isToMany, inverse.isOrdered
      else { continue }
      withLinks(inverse, row.key(column)) { links in
        links.added.removeAll { $0 == key }
        links.added.append(key)
      }
    }
  }

  // MARK: Handing it to the class

  func writeEntries() throws {
    guard !order.isEmpty || !links.isEmpty else { return }
    let changes = rowChanges()
    (rows, order, links, linkOrder, slab, found) = ([:], [], [:], [], nil, [:])
    try writing.write(changes)
    reader = IncrementalView(contents, contents.newestGeneration, context, hasOneReader: true)
  }
}
