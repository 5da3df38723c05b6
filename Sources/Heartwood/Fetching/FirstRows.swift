/// Keeps the first rows of a sequence, in the order of delivery.
///
/// A heap with the last of the kept rows on top, so a row that comes after all of them costs one comparison.
struct FirstRows {
  private let limit: Int
  private let order: DeliveryOrder
  private var heap: [FoundRow] = []

  /// - Parameter limit: The number of rows to keep; nil for all.
  init(_ limit: Int?, _ order: DeliveryOrder) {
    self.limit = limit ?? .max
    self.order = order
  }

  mutating func insert(_ row: FoundRow) throws {
    if heap.count < limit {
      heap.append(row)
      // Without a limit no row is discarded, so the rows are only sorted once, at the end.
      if limit != .max { try siftUp(heap.count - 1) }
    } else if try !heap.isEmpty && order.places(row, before: heap[0]) {
      heap[0] = row
      try siftDown(0)
    }
  }

  /// The kept rows in the order of delivery.
  consuming func sorted() throws -> [FoundRow] {
    var rows = heap
    try rows.sort { try order.places($0, before: $1) }
    return rows
  }

  private mutating func siftUp(_ start: Int) throws {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard try order.places(heap[parent], before: heap[child]) else { return }
      heap.swapAt(parent, child)
      child = parent
    }
  }

  private mutating func siftDown(_ start: Int) throws {
    var parent = start
    while true {
      var last = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if try order.places(heap[last], before: heap[child]) { last = child }
      }
      if last == parent { return }
      heap.swapAt(parent, last)
      parent = last
    }
  }
}
