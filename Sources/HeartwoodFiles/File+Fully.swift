extension File {
  /// Reads until `buffer` is full or the file ends; returns the number of bytes read.
  public func readFully(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = try read(into: rest, at: offset + Int64(done))
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Writes all of `bytes`, with as many writes as needed.
  ///
  /// - Throws: errors of `write`, and `.inputOutput` if two writes in a row write nothing. Any part of the
  ///   bytes may have been written then.
  public func writeFully(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) {
    var done = 0
    var refusals = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = try write(rest, at: offset + Int64(done))
      refusals = count == 0 ? refusals + 1 : 0
      if refusals == 2 { throw FileSystemError(.inputOutput, .write, path: name) }
      done += count
    }
  }
}
