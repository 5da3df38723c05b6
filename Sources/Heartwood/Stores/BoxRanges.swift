/// The entries of a range index that a box selects, as ranges of their codes.
struct BoxRanges {
  /// A range of codes.
  struct Part: Sendable {
    let codes: ClosedRange<BoxCode>
    /// The box that decides on each entry; nil if all of them are in it.
    let box: Box?
    /// The conditions on the numbers, for a plan.
    var text = ""
  }

  private(set) var parts: [Part] = []
  /// How many entries are in the ranges.
  private(set) var entries = 0
  /// About how many of them are in the box.
  private(set) var expected = 0.0

  /// The most ranges.
  private static var most: Int { 32 }
  /// A cell with so few entries is read, not divided: counting its quarters would cost as much.
  private static var fewest: Int { 24 }

  /// The most cells that are divided.
  private static var mostDivisions: Int { 100 }

  /// - Parameter count: The number of entries in a range of codes.
  init(_ box: Box, count: (ClosedRange<BoxCode>) throws -> Int) throws {
    var open: [(cell: BoxCell, count: Int)] = []
    var closed: [(cell: BoxCell, count: Int)] = []
    func add(_ cell: BoxCell) throws {
      let count = try count(cell.codes)
      guard count > 0 else { return }
      if count <= Self.fewest || cell.isInside(box) {
        closed.append((cell, count))
      } else {
        open.append((cell, count))
      }
    }
    try add(BoxCell(around: box))
    // The cell with the most entries is divided first.
    var divisions = 0
    while open.count + closed.count < Self.most, divisions < Self.mostDivisions,
      let place = open.indices.max(by: { open[$0].count < open[$1].count })
    {
      divisions += 1
      for quarter in open.remove(at: place).cell.quarters(of: box) { try add(quarter) }
    }
    for (cell, count) in (open + closed).sorted(by: { $0.cell.codes.lowerBound < $1.cell.codes.lowerBound }) {
      parts.append(Part(codes: cell.codes, box: cell.isInside(box) ? nil : box))
      entries += count
      // The numbers of a cell that is not divided are seldom spread evenly.
      expected += Double(count) * (cell.isInside(box) ? 1 : max(0.25, cell.share(of: box)))
    }
  }
}
