/// The running checksum of a segment's pages, which a checkpoint states.
extension PageSegment {
  /// Pages that are read at a time.
  private static let stepPages = 64

  /// Reads pages in steps.
  ///
  /// - Parameters:
  ///   - chain: The running checksum of the pages before the first one.
  ///   - body: Gets the bytes of each step and the index of its first page.
  /// - Returns: The running checksum of all pages before `end`.
  func readPages(
    _ pages: Range<Int>, chain: UInt64,
    _ body: (UnsafeRawBufferPointer, Int) throws(EngineError) -> Void = { (_, _) throws(EngineError) in }
  ) throws(EngineError) -> UInt64 {
    let buffer = OwnedBytes(count: Self.stepPages * Format.pageBytes)
    var chain = chain
    for index in stride(from: pages.lowerBound, to: pages.upperBound, by: Self.stepPages) {
      let count = min(Self.stepPages, pages.upperBound - index) * Format.pageBytes
      let step = buffer.writable.bytes(0, count)
      try read(page: index, into: step)
      chain = chained(step.bytes, from: index, chain)
      try body(step.bytes.buffer, index)
    }
    return chain
  }

  /// Adds the checksums of pages to the running checksum. Page 0 of a segment is its header, which is
  /// skipped.
  private func chained(_ pages: Bytes, from index: Int, _ chain: UInt64) -> UInt64 {
    var chain = chain
    for page in 0..<pages.count / Format.pageBytes where index + page > 0 {
      let place = pages.bytes(page * Format.pageBytes, Format.pageBytes)
      chain = Checksums.mix(
        chain, PageSpace.checksum(place, segmentSeed: header.seed, index: index + page))
    }
    return chain
  }
}
