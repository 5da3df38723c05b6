import Dispatch
@testable import Heartwood

/// A view of a store that counts the reads through it.
final class CountingView: StoreView, @unchecked Sendable {
  private let base: any StoreView
  private(set) var rows = 0
  private(set) var scans = 0
  private(set) var links = 0
  /// The rows that scans have passed.
  private(set) var scannedRows = 0
  /// Called with the number of scanned rows, on the thread of the scan.
  var atRow: (Int) -> Void = { _ in }

  init(_ base: any StoreView) { self.base = base }

  /// Stops the scan at a row: it signals `reached`, and goes on when `continued` is signalled.
  func stop(atRow row: Int) -> (reached: DispatchSemaphore, continued: DispatchSemaphore) {
    let (reached, continued) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    atRow = { number in
      guard number == row else { return }
      reached.signal()
      continued.wait()
    }
    return (reached, continued)
  }

  var all: Int { rows + scans + links }

  /// Makes a context read through a new counter, and returns it.
  static func pin(_ context: ManagedObjectContext) throws -> CountingView {
    context.view.pinned = nil
    let view = CountingView(try context.readingView())
    context.view.pinned = view
    return view
  }

  var generation: UInt64 { base.generation }
  var generations: StoreGenerations { base.generations }
  func indexes(of entity: EntityDescription) -> [StoreIndex] { base.indexes(of: entity) }

  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    rows += 1
    return try base.row(root, key)
  }

  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    links += 1
    try base.destinations(relationship, of: key, body)
  }

  func links(
    _ relationship: RelationshipDescription, from first: UInt64, through last: UInt64,
    _ body: (UInt64, UInt64) throws -> Bool
  ) throws {
    links += 1
    try base.links(relationship, from: first, through: last, body)
  }

  func scanRows(
    of root: EntityDescription, from start: UInt64?, reversed: Bool, _ body: (FoundRow) throws -> Bool
  ) throws {
    scans += 1
    try base.scanRows(of: root, from: start, reversed: reversed) {
      scannedRows += 1
      atRow(scannedRows)
      return try body($0)
    }
  }

  func rowCount(of root: EntityDescription) throws -> Int { try base.rowCount(of: root) }

  func rowKey(of root: EntityDescription, atRank rank: Int) throws -> UInt64? {
    try base.rowKey(of: root, atRank: rank)
  }

  func scanIndex(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool, _ body: (UInt64) throws -> Bool
  ) throws {
    try base.scanIndex(index, range, reversed: reversed, body)
  }

  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool, skipping count: inout Int,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    try base.scanEntries(index, range, reversed: reversed, skipping: &count, body)
  }

  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    try base.scanEntries(index, range, reversed: reversed, body)
  }

  func forEachIndexRun(
    _ index: StoreIndex, _ range: IndexRange, elements: Int, _ body: (UInt64, Int) throws -> Bool
  ) throws -> Bool {
    try base.forEachIndexRun(index, range, elements: elements, body)
  }

  func indexCount(_ index: StoreIndex, _ range: IndexRange) throws -> Int? {
    try base.indexCount(index, range)
  }

  func indexRunLength(
    _ index: StoreIndex, _ range: IndexRange, elements: Int, atRank rank: Int
  ) throws -> Int {
    try base.indexRunLength(index, range, elements: elements, atRank: rank)
  }

  func readExternal(
    _ reference: ExternalReference, of attribute: AttributeDescription, _ key: UInt64, pieceBytes: Int,
    _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    try base.readExternal(reference, of: attribute, key, pieceBytes: pieceBytes, body)
  }
}
