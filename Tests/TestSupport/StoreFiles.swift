import HeartwoodFiles

/// The files of a store as bytes, to damage and to restore.
package struct StoreFiles: Sendable {
  /// Where tests have the store.
  package static let path = "/store"
  /// By name.
  package var files: [String: [UInt8]] = [:]

  package init(_ fileSystem: any FileSystem, at path: String = StoreFiles.path) throws {
    let directory = try fileSystem.openDirectory(path)
    for name in try directory.entries() {
      let file = try directory.open(name, .readOnly)
      var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
      _ = try bytes.withUnsafeMutableBytes { try file.readFully(into: $0, at: 0) }
      try file.close()
      files[name] = bytes
    }
  }

  /// A new file system in memory that holds them.
  package func mounted() throws -> MemoryFileSystem {
    let fileSystem = MemoryFileSystem()
    try fileSystem.createDirectory(Self.path)
    let directory = try fileSystem.openDirectory(Self.path)
    for (name, bytes) in files {
      let file = try directory.open(name, .createNew)
      try bytes.withUnsafeBytes { try file.writeFully($0, at: 0) }
      try file.close()
    }
    return fileSystem
  }
}
