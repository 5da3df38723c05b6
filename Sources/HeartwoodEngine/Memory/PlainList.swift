/// A list of plain values with a single owner. Unlike `Array`, appending checks the capacity only, not
/// whether the storage is shared.
struct PlainList<Element: BitwiseCopyable>: ~Copyable {
  private var base: UnsafeMutablePointer<Element>
  private var capacity: Int
  private(set) var count = 0

  /// Creates an empty list.
  init() {
    capacity = 16
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  var isEmpty: Bool { count == 0 }

  subscript(index: Int) -> Element {
    precondition(index >= 0 && index < count, "A list has no element at this place.")
    return base[index]
  }

  @inline(__always)
  mutating func append(_ element: Element) {
    if count == capacity { grow() }
    base[count] = element
    count &+= 1
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: 2 * capacity)
    larger.update(from: base, count: count)
    base.deallocate()
    (base, capacity) = (larger, 2 * capacity)
  }

  mutating func popLast() -> Element? {
    guard count > 0 else { return nil }
    count &-= 1
    return base[count]
  }

  /// Removes all elements; keeps the capacity.
  mutating func removeAll() { count = 0 }

  /// Removes the elements for which `isGone` returns true. It is called once per element, in order.
  mutating func removeAll(where isGone: (Element) -> Bool) {
    var kept = 0
    for index in 0..<count where !isGone(base[index]) {
      base[kept] = base[index]
      kept &+= 1
    }
    count = kept
  }
}
