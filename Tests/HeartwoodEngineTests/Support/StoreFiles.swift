import HeartwoodFiles

@testable import HeartwoodEngine

/// The files of a store as bytes that a test damages and writes back.
struct StoreFiles {
  static let path = "/store"
  var files: [String: [UInt8]] = [:]

  init(_ fileSystem: any FileSystem, at path: String = StoreFiles.path) throws {
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
  func mounted() throws -> MemoryFileSystem {
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

  /// A small closed store with entries of every kind, and its contents.
  static func small(reading: EngineOptions.Reading = .buffered) throws -> (files: StoreFiles, model: Model) {
    let fileSystem = MemoryFileSystem()
    var options = StoreKind.memoryBuffered.options
    options.reading = reading
    var model: Model = [:]
    let engine = try Engine(at: path, options: options, fileSystem: fileSystem)
    for number in 0..<7 {
      if number == 3 { try engine.checkpoint() }
      try engine.write { transaction in
        for part in 0..<2 {
          let key = [UInt8]("key \(number * 7 % 5) \(part)".utf8)
          let value = [UInt8](repeating: UInt8(number), count: number * 3 + part)
          try transaction.put(key, value)
          model[key] = value
        }
        if number == 5 {
          try transaction.delete("key 0 1")
          model[[UInt8]("key 0 1".utf8)] = nil
        }
      }
    }
    try engine.close()
    return (try StoreFiles(fileSystem), model)
  }
}
