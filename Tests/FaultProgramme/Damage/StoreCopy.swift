import HeartwoodFiles

/// The files of a store as bytes, to damage and to restore.
struct StoreCopy: Sendable {
  var files: [String: [UInt8]] = [:]

  init(_ fileSystem: any FileSystem) throws {
    let directory = try fileSystem.openDirectory(Session.path)
    for name in try directory.entries() {
      let file = try directory.open(name, .readOnly)
      var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
      _ = try bytes.withUnsafeMutableBytes { try file.readFully(into: $0, at: 0) }
      try file.close()
      files[name] = bytes
    }
  }

  /// Creates a file system in memory with these files.
  func mounted() throws -> MemoryFileSystem {
    let fileSystem = MemoryFileSystem()
    try fileSystem.createDirectory(Session.path)
    let directory = try fileSystem.openDirectory(Session.path)
    for (name, bytes) in files {
      let file = try directory.open(name, .createNew)
      try bytes.withUnsafeBytes { try file.writeFully($0, at: 0) }
      try file.close()
    }
    return fileSystem
  }

  /// The files with data of the store itself, in the order in which they are damaged.
  var names: [String] { files.keys.filter { $0 != "processes" }.sorted() }

  /// The offset of every byte of every file.
  var offsets: [String: [Int]] { files.mapValues { Array($0.indices) } }

  /// The offsets of the nonzero bytes, and a sample of the zeros.
  var busyOffsets: [String: [Int]] {
    files.mapValues { bytes in
      bytes.indices.filter { bytes[$0] != 0 || ($0 > 0 && bytes[$0 - 1] != 0) || $0 % 128 == 0 }
    }
  }
}
