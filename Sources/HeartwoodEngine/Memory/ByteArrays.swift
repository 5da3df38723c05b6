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

  /// An array of `count` bytes, which `write` sets.
  @inline(__always)
  init(count: Int, _ write: (WritableBytes) -> Void) {
    self.init(unsafeUninitializedCapacity: count) { buffer, initialized in
      write(WritableBytes(UnsafeMutableRawBufferPointer(buffer)))
      initialized = count
    }
  }

  /// Calls `body` with the bytes in place, to be written.
  mutating func withWritableBytes<Result, Failure: Error>(
    _ body: (WritableBytes) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeMutableBufferPointer { (buffer) throws(Failure) -> Result in
      try body(WritableBytes(UnsafeMutableRawBufferPointer(buffer)))
    }
  }

  mutating func setField<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _ value: Value) {
    withWritableBytes { $0.setField(offset, value) }
  }
}

extension File {
  /// Writes all of an array.
  func write(all bytes: [UInt8], at offset: Int) throws(FileSystemError) {
    try bytes.withBytes { (buffer) throws(FileSystemError) in try writeFully(buffer, at: Int64(offset)) }
  }
}
