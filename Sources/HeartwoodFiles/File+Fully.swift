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

  /// Up to `count` bytes at `offset`; fewer at the end of the file.
  ///
  /// - Throws: errors of `read`.
  public func bytes(_ count: Int, at offset: Int64) throws(FileSystemError) -> [UInt8] {
    var failure: FileSystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(FileSystemError) {
        filled = try readFully(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
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
