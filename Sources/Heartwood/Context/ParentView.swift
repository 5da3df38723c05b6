import HeartwoodBytes

/// The view that a child context reads: that of its parent, with the parent's unsaved changes over it.
///
/// It is made on the parent's queue and never changes, so that the child reads it on its own queue.
final class ParentView: StoreView, @unchecked Sendable {
  /// The view that the parent itself reads: the store's view, or another parent's.
  let base: any StoreView
  /// The parent's unsaved changes when the view was made.
  let changes: FrozenRows

  init(_ base: any StoreView, _ changes: FrozenRows) {
    self.base = base
    self.changes = changes
  }

  var stored: any StoreView { base.stored }
  var layers: [FrozenRows] { [changes] + base.layers }

  var convertsRows: Bool { base.convertsRows }

  func forOneReader() -> any StoreView {
    convertsRows ? ParentView(base.forOneReader(), changes) : self
  }

  func releaseRows() { base.releaseRows() }

  func restricted(to stores: Set<Int>) -> any StoreView {
    ParentView(base.restricted(to: stores), changes)
  }

  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    switch changes.row(root, key) {
    case .row(let row): return row
    case .deleted: return nil
    case .unchanged: return try base.row(root, key)
    }
  }

  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    guard let change = changes.destinations(relationship, of: key) else {
      return try base.destinations(relationship, of: key, body)
    }
    for destination in try change.keys(over: base, relationship, key) where try !body(destination) { return }
  }

  func destinationCount(_ relationship: RelationshipDescription, of key: UInt64) throws -> Int {
    guard let change = changes.destinations(relationship, of: key) else {
      return try base.destinationCount(relationship, of: key)
    }
    return try change.keys(over: base, relationship, key).count
  }

  func hasDestination(
    _ relationship: RelationshipDescription, _ target: UInt64, of key: UInt64
  ) throws -> Bool {
    guard let change = changes.destinations(relationship, of: key) else {
      return try base.hasDestination(relationship, target, of: key)
    }
    return try change.keys(over: base, relationship, key).contains(target)
  }

  func count(_ counts: inout WordCounts) throws {
    try base.count(&counts)
    let root = counts.attribute.root
    for key in changes.changedKeys(of: root) {
      if let row = try base.row(root, key) { counts.add(row, sign: -1) }
      if case .row(let row) = changes.row(root, key) { counts.add(row) }
    }
  }

  // MARK: The store's rows only

  var generation: UInt64 { base.generation }
  var generations: StoreGenerations { base.generations }

  func indexes(of entity: EntityDescription) -> [StoreIndex] { stored.indexes(of: entity) }

  func scanRows(
    of root: EntityDescription, from start: UInt64?, reversed: Bool, _ body: (FoundRow) throws -> Bool
  ) throws {
    try stored.scanRows(of: root, from: start, reversed: reversed, body)
  }

  func indexRunLength(
    _ index: StoreIndex, _ range: IndexRange, elements: Int, atRank rank: Int
  ) throws -> Int {
    try stored.indexRunLength(index, range, elements: elements, atRank: rank)
  }

  func links(
    _ relationship: RelationshipDescription, from first: UInt64, through last: UInt64,
    _ body: (UInt64, UInt64) throws -> Bool
  ) throws {
    try stored.links(relationship, from: first, through: last, body)
  }

  func rowCount(of root: EntityDescription) throws -> Int { try stored.rowCount(of: root) }

  func rowKey(of root: EntityDescription, atRank rank: Int) throws -> UInt64? {
    try stored.rowKey(of: root, atRank: rank)
  }

  func scanIndex(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool, _ body: (UInt64) throws -> Bool
  ) throws {
    try stored.scanIndex(index, range, reversed: reversed, body)
  }

  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    try stored.scanEntries(index, range, reversed: reversed, body)
  }

  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool, skipping count: inout Int,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    try stored.scanEntries(index, range, reversed: reversed, skipping: &count, body)
  }

  func forEachIndexRun(
    _ index: StoreIndex, _ range: IndexRange, elements: Int, _ body: (UInt64, Int) throws -> Bool
  ) throws -> Bool {
    try stored.forEachIndexRun(index, range, elements: elements, body)
  }

  func indexCount(_ index: StoreIndex, _ range: IndexRange) throws -> Int? {
    try stored.indexCount(index, range)
  }

  func readExternal(
    _ reference: ExternalReference, of attribute: AttributeDescription, _ key: UInt64, pieceBytes: Int,
    _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    try stored.readExternal(reference, of: attribute, key, pieceBytes: pieceBytes, body)
  }
}
