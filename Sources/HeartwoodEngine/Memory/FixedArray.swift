import HeartwoodBytes
import HeartwoodFiles

/// A fixed number of elements that do not move, whose use checks neither sharing nor, in release builds, indexes.
struct FixedArray<Element: ~Copyable>: ~Copyable {
  private let elements: UnsafeMutablePointer<Element>
  let count: Int
  /// The memory of the elements; nil if the array has allocated its own.
  private let memory: AnonymousMemory?

  init(count: Int, _ element: (Int) -> Element) {
    (elements, self.count, memory) = (.allocate(capacity: count), count, nil)
    for index in 0..<count { (elements + index).initialize(to: element(index)) }
  }

  /// Elements whose bytes are zero at first, which is a value of theirs. They take memory only where they are used.
  init(count: Int, in memory: AnonymousMemory) {
    require(
      count * MemoryLayout<Element>.stride <= memory.byteCount, "The elements do not fit into their memory.")
    (elements, self.count, self.memory) = (
      memory.base.bindMemory(to: Element.self, capacity: count), count, memory
    )
  }

  deinit {
    guard memory == nil else { return }
    elements.deinitialize(count: count)
    elements.deallocate()
  }

  subscript(index: Int) -> Element {
    @inline(__always) unsafeAddress { UnsafePointer(element(index)) }
    @inline(__always) nonmutating unsafeMutableAddress { element(index) }
  }

  @inline(__always)
  private func element(_ index: Int) -> UnsafeMutablePointer<Element> {
    assert(index >= 0 && index < count, "An array has no element at this index.")
    return elements.advanced(by: index)
  }
}

extension FixedArray where Element: BitwiseCopyable {
  /// Elements that are undefined until they are set.
  init(count: Int) { (elements, self.count, memory) = (.allocate(capacity: count), count, nil) }

  /// Moves elements to other indexes, which may overlap the first.
  func move(_ range: Range<Int>, to index: Int) {
    guard !range.isEmpty else { return }
    assert(range.lowerBound >= 0 && index >= 0 && max(range.upperBound, index + range.count) <= count)
    (elements + index).update(from: elements + range.lowerBound, count: range.count)
  }
}
