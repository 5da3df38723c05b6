/// Keeps the first rows of a sequence, in the order of delivery.
///
/// A heap with the last of the kept rows on top, so a row that comes after all of them costs one comparison. The rows that it returns are
/// valid as long as it. Of an order by computed values, the values of each row are read once.
struct FirstRows: FirstElements {
  private let limit: Int
  private let order: DeliveryOrder
  private let copies: RowCopies?
  fileprivate var heap: [FoundRow] = []
  private var computed: FirstComputedRows?

  /// - Parameters:
  ///   - limit: The number of rows to keep; nil for all.
  ///   - copies: The copies that keep the rows; nil if they stay valid without.
  init(_ limit: Int?, _ order: DeliveryOrder, copies: RowCopies? = nil) {
    self.copies = copies
    self.limit = limit ?? .max
    self.order = order
    computed = order.isComputed ? FirstComputedRows(self.limit, order, copies) : nil
  }

  mutating func insert(_ row: FoundRow) throws {
    guard computed == nil else {
      try computed?.insert(row)
      return
    }
    if heap.count < limit {
      heap.append(copies?.copy(row) ?? row)
      // Without a limit no row is discarded, so the rows are only sorted once, at the end.
      if limit != .max { try siftUp() }
    } else if try !heap.isEmpty && order.places(row, before: heap[0]) {
      copies?.release(heap[0])
      heap[0] = copies?.copy(row) ?? row
      try siftDown()
    }
  }

  /// The kept rows in the order of delivery.
  func sorted() throws -> [FoundRow] {
    if let computed { return computed.sorted() }
    var rows = heap
    try rows.sort { try places($0, before: $1) }
    return rows
  }

  @inline(__always)
  fileprivate func places(_ left: FoundRow, before right: FoundRow) throws -> Bool {
    guard let copies else { return try order.places(left, before: right) }
    defer { copies.releaseReadRows() }
    return try order.places(left, before: right)
  }
}

/// The same for an order by computed values.
private struct FirstComputedRows: FirstElements {
  private let limit: Int
  private let order: DeliveryOrder
  private let copies: RowCopies?
  /// The kept rows at their places, at which `values` has what they are sorted by.
  private var rows: [FoundRow] = []
  private var values: SortValues
  /// The places of the kept rows.
  fileprivate var heap: [Int] = []

  init(_ limit: Int, _ order: DeliveryOrder, _ copies: RowCopies?) {
    self.limit = limit
    self.order = order
    self.copies = copies
    values = order.noValues
  }

  mutating func insert(_ row: FoundRow) throws {
    guard limit > 0 else { return }
    try order.appendValues(of: row, to: &values)
    if rows.count < limit {
      rows.append(copies?.copy(row) ?? row)
      heap.append(rows.count - 1)
      if limit != .max { try siftUp() }
      return
    }
    let last = heap[0]
    if places(rows.count, row.key, before: last) {
      copies?.release(rows[last])
      rows[last] = copies?.copy(row) ?? row
      values.moveLast(to: last)
      try siftDown()
    } else {
      values.removeLast()
    }
  }

  func sorted() -> [FoundRow] {
    let numbers = values.order { order.placesEqual(rows[$0].key, before: rows[$1].key) }
    return numbers.map { rows[$0] }
  }

  fileprivate func places(_ left: Int, before right: Int) -> Bool {
    places(left, rows[left].key, before: right)
  }

  private func places(_ left: Int, _ leftKey: UInt64, before right: Int) -> Bool {
    let decision = values.compare(left, right)
    return decision != 0 ? decision < 0 : order.placesEqual(leftKey, before: rows[right].key)
  }
}

/// A heap with the element on top that all others are placed before.
private protocol FirstElements {
  associatedtype Element
  var heap: [Element] { get set }
  func places(_ left: Element, before right: Element) throws -> Bool
}

extension FirstElements {
  /// Moves the last element to its place.
  fileprivate mutating func siftUp() throws {
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard try places(heap[parent], before: heap[child]) else { return }
      heap.swapAt(parent, child)
      child = parent
    }
  }

  /// Moves the first element to its place.
  fileprivate mutating func siftDown() throws {
    var parent = 0
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
