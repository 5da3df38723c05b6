import HeartwoodFiles

extension File {
  /// Writes all bytes.
  func writeBytes(_ bytes: [UInt8], at offset: Int64) throws(FileSystemError) {
    try bytes.withBytes { (buffer) throws(FileSystemError) in try writeFully(buffer, at: offset) }
  }
}

extension [UInt8] {
  /// Lends the bytes to a function that throws errors of the file system.
  func withBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    let outcome = withUnsafeBytes { buffer -> Swift.Result<Result, FileSystemError> in
      do throws(FileSystemError) { return .success(try body(buffer)) } catch { return .failure(error) }
    }
    return try outcome.get()
  }
}

extension UnsafeRawBufferPointer {
  /// Whether all bytes are zero.
  var isZero: Bool {
    var offset = 0
    while offset + 8 <= count {
      if loadUnaligned(fromByteOffset: offset, as: UInt64.self) != 0 { return false }
      offset += 8
    }
    return self[offset...].allSatisfy { $0 == 0 }
  }

  /// The number of bytes without the zeros at the end.
  var countWithoutZeros: Int {
    var end = count
    while end >= 8, loadUnaligned(fromByteOffset: end - 8, as: UInt64.self) == 0 { end -= 8 }
    while end > 0, self[end - 1] == 0 { end -= 1 }
    return end
  }

  func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[range]) }
}

extension UnsafeMutableRawBufferPointer {
  func slice(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: self[range])
  }

  func zero() { if count > 0 { initializeMemory(as: UInt8.self, repeating: 0) } }
}
