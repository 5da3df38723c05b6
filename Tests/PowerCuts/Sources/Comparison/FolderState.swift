import HeartwoodFiles

/// The files of one folder, by name.
public typealias FolderState = [String: [UInt8]]

/// Reads a folder. Returns an empty state if it is missing.
///
/// - Throws: `FileSystemError` for any other error.
public func folderState(_ path: String, in fileSystem: any FileSystem) throws -> FolderState {
  let directory: any Directory
  do throws(FileSystemError) {
    directory = try fileSystem.openDirectory(path)
  } catch {
    guard error.code == .notFound else { throw error }
    return [:]
  }
  var state: FolderState = [:]
  for name in try directory.entries() {
    let file = try directory.open(name, .readOnly)
    state[name] = try wholeBytes(of: file)
    try file.close()
  }
  return state
}

/// Whether two folders have the same files. Compares a word at a time, because there are thousands of pairs
/// of megabytes.
func areSame(_ one: FolderState, _ other: FolderState) -> Bool {
  one.count == other.count
    && one.allSatisfy { name, bytes in other[name].map { areSame(bytes, $0) } ?? false }
}

/// Whether two files have the same bytes.
func areSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
  guard one.count == other.count else { return false }
  return one.withUnsafeBytes { one in
    other.withUnsafeBytes { other in
      let words = one.count / 8
      for word in 0..<words {
        let (a, b) = (
          one.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self),
          other.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)
        )
        guard a == b else { return false }
      }
      return one[(words * 8)...].elementsEqual(other[(words * 8)...])
    }
  }
}

private func wholeBytes(of file: any File) throws -> [UInt8] {
  let size = Int(try file.size())
  var bytes = [UInt8](repeating: 0, count: size)
  var done = 0
  while done < size {
    let count = try bytes.withUnsafeMutableBytes { buffer in
      try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]), at: Int64(done))
    }
    guard count > 0 else { break }
    done += count
  }
  return bytes
}
