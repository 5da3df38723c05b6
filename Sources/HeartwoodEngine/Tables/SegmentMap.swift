/// A map with segment numbers as keys, whose lookup is fast for numbers close to the first one.
struct SegmentMap<Element> {
  private let initial: Element
  private var near: [Element] = []
  private var first: UInt32?
  private var far: [UInt32: Element] = [:]

  private static var nearLimit: Int { 1 << 16 }

  init(_ initial: Element) { self.initial = initial }

  subscript(segment: UInt32) -> Element {
    if let place = place(of: segment), place < near.count { return near[place] }
    return far[segment] ?? initial
  }

  @inline(__always)
  mutating func update(_ segment: UInt32, _ change: (inout Element) -> Void) {
    if first == nil { first = segment & ~0xFFF }
    if let place = place(of: segment) {
      while place >= near.count { near.append(initial) }
      change(&near[place])
    } else {
      var element = far[segment] ?? initial
      change(&element)
      far[segment] = element
    }
  }

  private func place(of segment: UInt32) -> Int? {
    guard let first, segment >= first, Int(segment - first) < Self.nearLimit else { return nil }
    return Int(segment - first)
  }
}
