import HeartwoodFiles

@testable import HeartwoodEngine

/// The files of a small store that was not closed: two levels of pages, a checkpoint, and a transaction after it.
struct SmallStore {
  static let path = "/store"
  var files: [String: [UInt8]] = [:]
  let log = SegmentName.log(1)
  let pages: String

  static var options: EngineOptions {
    EngineOptions(
      reading: .buffered, segmentBytes: 64 << 10, checkpointBytes: 1 << 20, worker: InlineWorker(),
      clock: Moment(), entropy: Counter())
  }

  init() throws {
    let fileSystem = MemoryFileSystem()
    let engine = try Engine(at: Self.path, options: Self.options, fileSystem: fileSystem)
    try engine.write { transaction in
      for number in 0..<250 {
        let text = "key/\(1000 + number)/" + String(repeating: "x", count: number * 7 % 40)
        try transaction.put([UInt8](text.utf8), [UInt8](repeating: UInt8(number), count: number * 11 % 50))
      }
    }
    try engine.checkpoint()
    try engine.write { transaction in
      for number in 0..<6 { try transaction.put("more/\(number)", [UInt8](repeating: 1, count: 30)) }
      _ = try transaction.deleteRange(.prefix([UInt8]("key/11".utf8)))
      try transaction.delete("more/3")
    }
    let directory = try fileSystem.openDirectory(Self.path)
    for name in try directory.entries() {
      let file = try directory.open(name, .readOnly)
      files[name] = try StoreFolder.read(file, at: 0, count: Int(try file.size()), path: name)
    }
    pages = files.keys.first { $0.hasSuffix(".pages") } ?? ""
    try engine.close()
  }

  /// A new file system that contains the files.
  func mounted() throws -> MemoryFileSystem {
    let fileSystem = MemoryFileSystem()
    try fileSystem.createDirectory(Self.path)
    let directory = try fileSystem.openDirectory(Self.path)
    for (name, bytes) in files {
      let file = try directory.open(name, .createNew)
      try file.write(all: bytes, at: 0)
      try file.close()
    }
    return fileSystem
  }

  private struct Moment: WallClock {
    var nanosecondsSince1970: Int64 { 1_700_000_000_000_000_000 }
  }

  private final class Counter: Entropy, @unchecked Sendable {
    private let lock = Lock()
    private var state: UInt64 = 0

    func next() -> UInt64 {
      lock.withLock {
        state &+= 0x9E37_79B9_7F4A_7C15
        return state
      }
    }
  }
}
