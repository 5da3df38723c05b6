/// Computes one window over the rows of a table.
struct WindowPass {
  private let window: RowProgram.Window
  private let row: ComputedRow
  private let place: Place
  private let sorting: RowSorting

  init(_ window: RowProgram.Window, _ row: ComputedRow, _ place: Place) {
    self.window = window
    self.row = row
    self.place = place
    sorting = RowSorting(keys: window.order, row: row, place: place)
  }

  /// - Complexity: O(n log n) for n rows.
  func compute(_ rows: inout [[Value]]) throws {
    var partitions: [[Value]: [Int]] = [:]
    for number in rows.indices {
      row.values = rows[number]
      partitions[try window.partition.map { try $0.read(place) }, default: []].append(number)
    }
    for numbers in partitions.values {
      guard !window.order.isEmpty else {
        try compute(numbers, &rows) { _, _ in true }
        continue
      }
      let values = try sorting.values(of: rows, numbers)
      let order = values.order()
      try compute(order.map { numbers[$0] }, &rows) { values.compare(order[$0], order[$1]) == 0 }
    }
  }

  /// - Parameters:
  ///   - numbers: The rows of a partition, in order.
  ///   - arePeers: Whether the rows at two positions are equal in the order.
  private func compute(
    _ numbers: [Int], _ rows: inout [[Value]], _ arePeers: (Int, Int) -> Bool
  ) throws {
    let elements = try numbers.map { number in
      guard let element = window.element else { return Value.null }
      row.values = rows[number]
      return try element.read(place)
    }
    func set(_ position: Int, _ value: Value) { rows[numbers[position]][window.place] = value }
    if let frame = window.frame { return computeFrames(frame, numbers, elements, &rows) }
    switch window.function {
    case .rowNumber: for position in numbers.indices { set(position, .int(Int64(position + 1))) }
    case .tile(let count):
      for position in numbers.indices {
        set(position, .int(Self.tile(position, of: numbers.count, in: count)))
      }
    case .lag(let distance):
      for position in numbers.indices {
        let (other, overflow) = position.subtractingReportingOverflow(distance)
        set(position, !overflow && elements.indices.contains(other) ? elements[other] : .null)
      }
    case .first: for position in numbers.indices { set(position, elements.first ?? .null) }
    case .last: for position in numbers.indices { set(position, elements.last ?? .null) }
    case .rank, .denseRank, .aggregate: computeByPeers(numbers, elements, &rows, arePeers)
    }
  }

  /// Functions of the rows in a frame around each row.
  ///
  /// - Complexity: Linear in the number of rows, whatever the size of the frame is.
  private func computeFrames(
    _ frame: RowFrame, _ numbers: [Int], _ elements: [Value], _ rows: inout [[Value]]
  ) {
    guard case .aggregate(let function) = window.function else {
      for position in numbers.indices {
        let positions = frame.positions(at: position, of: numbers.count)
        let end = window.function == .first ? positions.first : positions.last
        rows[numbers[position]][window.place] = end.map { elements[$0] } ?? .null
      }
      return
    }
    var moving = MovingAggregate(function, countsRows: window.element == nil)
    for position in numbers.indices {
      moving.move(to: frame.positions(at: position, of: numbers.count), of: elements)
      rows[numbers[position]][window.place] = moving.value
    }
  }

  /// Functions that are equal for rows that are equal in the order.
  private func computeByPeers(
    _ numbers: [Int], _ elements: [Value], _ rows: inout [[Value]], _ arePeers: (Int, Int) -> Bool
  ) {
    var state = AggregateState(.count)
    if case .aggregate(let function) = window.function { state = AggregateState(function) }
    var (start, denseRank) = (0, Int64(0))
    while start < numbers.count {
      var end = start
      while end < numbers.count, arePeers(start, end) { end += 1 }
      denseRank += 1
      for position in start..<end {
        if window.element == nil { state.addObject() } else { state.add(elements[position]) }
      }
      let value: Value =
        switch window.function {
        case .rank: .int(Int64(start + 1))
        case .denseRank: .int(denseRank)
        default: state.value()
        }
      for position in start..<end { rows[numbers[position]][window.place] = value }
      start = end
    }
  }

  /// The first parts have one row more where the rows cannot be divided evenly.
  private static func tile(_ position: Int, of count: Int, in tiles: Int) -> Int64 {
    let (size, larger) = count.quotientAndRemainder(dividingBy: max(1, tiles))
    let inLarger = larger * (size + 1)
    guard position >= inLarger else { return Int64(position / (size + 1) + 1) }
    return Int64(larger + (position - inLarger) / max(1, size) + 1)
  }
}
