extension Array {
  /// The elements in parts of so many, for requests that must not become too large; the last part may have fewer.
  func inParts(of size: Int) -> some Sequence<ArraySlice<Element>> {
    stride(from: 0, to: count, by: size).lazy.map { self[$0..<Swift.min($0 + size, count)] }
  }
}
