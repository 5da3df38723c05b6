/// A set of segment numbers with a fast `contains`, which is called for each entry of a tree.
struct SegmentSet {
  private var map = SegmentMap(false)
  let numbers: [UInt32]

  init(_ numbers: [UInt32]) {
    self.numbers = numbers
    for number in numbers { map.update(number) { $0 = true } }
  }

  var isEmpty: Bool { numbers.isEmpty }

  @inline(__always)
  func contains(_ segment: UInt32) -> Bool { map[segment] }
}
