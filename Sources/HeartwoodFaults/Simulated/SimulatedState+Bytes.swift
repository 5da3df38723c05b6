import HeartwoodFiles

extension SimulatedState {
  func read(_ file: FileIdentifier, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    cached.bytes(of: file).withUnsafeBytes { bytes in
      guard offset < Int64(bytes.count) else { return 0 }
      let rest = bytes[Int(offset)...].prefix(buffer.count)
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest))
      return rest.count
    }
  }

  /// Writes the bytes that fit into the space limit. Returns their number.
  mutating func write(
    _ file: FileIdentifier, _ bytes: UnsafeRawBufferPointer, at offset: Int64, path: String
  ) throws(FileSystemError) -> Int {
    guard bytes.count > 0 else { return 0 }
    let (end, overflow) = offset.addingReportingOverflow(Int64(bytes.count))
    guard !overflow, end <= Self.largestFile else { throw FileSystemError(.noSpace, .write, path: path) }
    let size = Int64(cached.size(of: file))
    let allowedEnd = freeBytes.map { size + $0 } ?? end
    let count = end <= size ? bytes.count : Int(min(Int64(bytes.count), allowedEnd - offset))
    guard count > 0 else {
      throw FileSystemError(.noSpace, .write, path: path, isInjected: true)
    }
    perform(.write(file, offset: Int(offset), bytes: Array(bytes.prefix(count))))
    return count
  }

  mutating func truncate(_ file: FileIdentifier, to size: Int64, path: String) throws(FileSystemError) {
    guard size <= Self.largestFile else { throw FileSystemError(.noSpace, .truncate, path: path) }
    if let freeBytes, size > Int64(cached.size(of: file)) + freeBytes {
      throw FileSystemError(.noSpace, .truncate, path: path, isInjected: true)
    }
    perform(.truncate(file, size: Int(size)))
  }

  /// The total size of all files that have a name or are open, in bytes.
  var usedBytes: Int64 {
    let named = cached.folders.values.flatMap(\.values).compactMap(\.file)
    return handles.openFiles.union(named).reduce(0) { $0 + Int64(cached.size(of: $1)) }
  }

  var freeBytes: Int64? { spaceLimit.map { max(0, $0 - usedBytes) } }

  /// Gaps in files occupy memory, hence the limit.
  private static let largestFile: Int64 = 1 << 32
}
