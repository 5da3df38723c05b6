/// A table in memory of its own that never changes and whose use counts no references. Debug builds check its bounds.
@usableFromInline struct PlainTable<Element> {
  @usableFromInline let elements: UnsafeBufferPointer<Element>

  /// The owner frees the table with `deallocate()`.
  init(_ elements: [Element]) {
    let table = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
    _ = table.initialize(fromContentsOf: elements)
    self.elements = UnsafeBufferPointer(table)
  }

  @inlinable @inline(__always)
  var count: Int { elements.count }
  @inlinable @inline(__always)
  subscript(index: Int) -> Element { elements[index] }

  func deallocate() { elements.deallocate() }
}

extension PlainTable: @unchecked Sendable where Element: Sendable {}
