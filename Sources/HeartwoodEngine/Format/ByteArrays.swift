import HeartwoodFiles

extension [UInt8] {
  /// Calls `body` with the bytes in place, with typed throws.
  @inline(__always)
  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeBufferPointer { (buffer) throws(Failure) -> Result in
      try body(UnsafeRawBufferPointer(buffer))
    }
  }
}

extension File {
  /// Writes all of an array.
  func write(all bytes: [UInt8], at offset: Int) throws(FileSystemError) {
    try bytes.withBytes { (buffer) throws(FileSystemError) in try writeFully(buffer, at: Int64(offset)) }
  }
}
