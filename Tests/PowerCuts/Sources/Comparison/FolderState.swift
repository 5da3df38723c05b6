import HeartwoodFiles

/// The files of one folder, by name.
public typealias FolderState = [String: [UInt8]]

/// Reads a folder; empty where it is missing.
///
/// - Throws: `FileSystemError` where something else goes wrong.
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
