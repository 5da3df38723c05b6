/// Keeps the first rows of a sequence, in the order of delivery.
///
/// A heap with the last of the kept rows on top, so a row that comes after all of them costs one comparison. The rows that it returns are
/// valid as long as it.
struct FirstRows {
  private let limit: Int
  private let order: DeliveryOrder
  private var heap: [FoundRow] = []
  private let copies: RowCopies?

  /// - Parameters:
  ///   - limit: The number of rows to keep; nil for all.
  ///   - copies: What keeps the rows; nil if they stay valid without.
  init(_ limit: Int?, _ order: DeliveryOrder, copies: RowCopies? = nil) {
    self.copies = copies
    self.limit = limit ?? .max
    self.order = order
  }

  mutating func insert(_ row: FoundRow) throws {
    if heap.count < limit {
      heap.append(copies?.copy(row) ?? row)
      // Without a limit no row is discarded, so the rows are only sorted once, at the end.
      if limit != .max { try siftUp(heap.count - 1) }
    } else if try !heap.isEmpty && order.places(row, before: heap[0]) {
      copies?.release(heap[0])
      heap[0] = copies?.copy(row) ?? row
      try siftDown(0)
    }
  }

  /// The kept rows in the order of delivery.
  func sorted() throws -> [FoundRow] {
    var rows = heap
    try rows.sort { try places($0, before: $1) }
    return rows
  }

  @inline(__always)
  private func places(_ left: FoundRow, before right: FoundRow) throws -> Bool {
    guard let copies else { return try order.places(left, before: right) }
    defer { copies.releaseReadRows() }
    return try order.places(left, before: right)
  }

  private mutating func siftUp(_ start: Int) throws {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard try places(heap[parent], before: heap[child]) else { return }
      heap.swapAt(parent, child)
      child = parent
    }
  }

  private mutating func siftDown(_ start: Int) throws {
    var parent = start
    while true {
      var last = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if try places(heap[last], before: heap[child]) { last = child }
      }
      if last == parent { return }
      heap.swapAt(parent, last)
      parent = last
    }
  }
}
