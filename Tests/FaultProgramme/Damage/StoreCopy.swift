import HeartwoodFiles

/// The files of a store as plain bytes, to be damaged and put back.
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

  /// A file system in memory that holds them.
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

  /// Those that hold something of the store itself, in the order in which they are damaged.
  var names: [String] { files.keys.filter { $0 != "processes" }.sorted() }

  /// Every byte of every file.
  var offsets: [String: [Int]] { files.mapValues { Array($0.indices) } }

  /// Where something is, and a few places among the zeros.
  var busyOffsets: [String: [Int]] {
    files.mapValues { bytes in
      bytes.indices.filter { bytes[$0] != 0 || ($0 > 0 && bytes[$0 - 1] != 0) || $0 % 128 == 0 }
    }
  }
}
