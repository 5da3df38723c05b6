import Foundation
import HeartwoodBytes
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// The outcome of opening each kind of path.
@Suite struct StoreOpeningTests {
  private let options = StoreKind.memoryMapped.options

  @Test func `a path without a store is an error for an engine that may not create one`() throws {
    var options = options
    options.createsStore = false
    #expect(
      code { _ = try Engine(at: "/none", options: options, fileSystem: MemoryFileSystem()) } == .notFound)
    options.createsStore = true
    options.access = .readOnly
    #expect(
      code { _ = try Engine(at: "/none", options: options, fileSystem: MemoryFileSystem()) } == .notFound)
    #expect(
      code { _ = try Engine(at: "/a/b", options: self.options, fileSystem: MemoryFileSystem()) } == .notFound)
  }

  /// The process may have detached since, and left everything as it was.
  @Test(arguments: [false, true])
  func `a read that another process has overtaken is repeated, although nothing has changed`(
    isOvertaken: Bool
  )
    throws
  {
    let fileSystem = MemoryFileSystem()
    try Engine(at: "/store", options: options, fileSystem: fileSystem).close()
    let folder = StoreFolder(try fileSystem.openDirectory("/store"), "/store")
    var attempts = 0
    func read() throws(EngineError) -> Int {
      attempts += 1
      guard attempts == 1 else { return attempts }
      throw isOvertaken ? .overtaken("again", file: "/store") : .stale("again", file: "/store")
    }
    let result = Result {
      try folder.retryingIfChanged(
        seconds: 0, version: { () throws(EngineError) in try folder.version() }, read)
    }
    #expect(attempts == (isOvertaken ? 2 : 1))
    #expect((try? result.get()) == (isOvertaken ? 2 : nil))
  }

  @Test func `a folder of other files is not a store and is left unchanged`() throws {
    try TemporaryFolder.with { path in
      let directory = try PosixFileSystem().openDirectory(path)
      try directory.open("notes.txt", .createNew).close()
      #expect(code { _ = try Engine(at: path, options: options) } == .notAStore)
      #expect(try directory.entries() == ["notes.txt"])
    }
  }

  @Test func `openings that wait for a process that ends without a state open the store themselves`() throws {
    try TemporaryFolder.with { path in
      var options = options
      options.busyTimeout = 600
      options.sharesInProcess = false
      try Engine(at: path, options: options).close()
      // As a process that is killed after others may attach, and before it has published a state.
      let directory = try PosixFileSystem().openDirectory(path)
      guard case .exclusive(let ending) = try ProcessAttachment.attach(directory, options) else {
        Issue.record("the store is open elsewhere")
        return
      }
      try ending.admitOthers()
      let count = try ending.page.attachCount()
      let results = Guarded<[Result<Void, any Error>]>([])
      let group = DispatchGroup()
      for _ in 0..<3 {
        group.enter()
        Thread.detachNewThread { [options] in
          let result = Result<Void, any Error> {
            let engine = try Engine(at: path, options: options)
            try engine.write { try $0.put([1], [2]) }
            try engine.close()
          }
          results.withLock { $0.append(result) }
          group.leave()
        }
      }
      // All of them have met it.
      while try ending.page.attachCount() < count + 3 { CurrentThread.pause() }
      ending.close()
      group.wait()
      for result in results.withLock({ $0 }) { try result.get() }
    }
  }

  @Test func `a file is not a store`() throws {
    try TemporaryFolder.with { path in
      try PosixFileSystem().openDirectory(path).open("file", .createNew).close()
      #expect(code { _ = try Engine(at: path + "/file", options: options) } == .notAStore)
    }
  }

  @Test func `an empty folder becomes a store`() throws {
    try TemporaryFolder.with { path in
      let engine = try Engine(at: path, options: options)
      #expect(engine.newestGeneration.rawValue == 0)
      try engine.close()
      #expect(
        try PosixFileSystem().openDirectory(path).entries() == [
          "0000000000000001.log", "anchor", "lock", "processes",
        ])
    }
  }

  @Test func `a store of a newer format is refused by its number`() throws {
    var store = try StoreFiles.small().files
    for slot in 0..<2 {
      store.setAnchorField(slot: slot, 8, UInt32(9))
      store.setAnchorField(slot: slot, 12, UInt32(9))
    }
    #expect(code { try open(store) } == .newerFormat)
  }

  @Test func `a store that requires a newer writer is read-only`() throws {
    var store = try StoreFiles.small().files
    for slot in 0..<2 { store.setAnchorField(slot: slot, 16, UInt32(9)) }
    #expect(code { try open(store) } == .newerFormat)
    var readOnly = options
    readOnly.access = .readOnly
    let engine = try Engine(at: StoreFiles.path, options: readOnly, fileSystem: try store.mounted())
    #expect(try engine.snapshot().count > 0)
  }

  @Test func `a store that one engine holds exclusively is locked for other engines`() throws {
    try TemporaryFolder.with { path in
      var exclusive = options
      (exclusive.sharing, exclusive.busyTimeout) = (.exclusive, 0)
      var waiting = options
      waiting.busyTimeout = 0
      let engine = try Engine(at: path, options: exclusive)
      #expect(code { _ = try Engine(at: path, options: waiting) } == .locked)
      try engine.close()
      let shared = try Engine(at: path, options: options)
      #expect(code { _ = try Engine(at: path, options: exclusive) } == .locked)
      try shared.close()
      try Engine(at: path, options: exclusive).close()
    }
  }

  @Test func `a read-only engine shows every transaction of an unclosed store`() throws {
    try TemporaryFolder.with { path in
      let engine = try Engine(at: path, options: options)
      for value in 1...3 { try engine.write { try $0.put("a", [UInt8(value)]) } }
      #expect(try engine.statistics().unrecoveredTransactions == 0)
      let image = path + "-image"
      try FileManager.default.copyItem(atPath: path, toPath: image)
      defer { try? FileManager.default.removeItem(atPath: image) }
      try engine.close()
      var readOnly = options
      readOnly.access = .readOnly
      let reader = try Engine(at: image, options: readOnly)
      #expect(try reader.statistics().generation.rawValue == 3)
      #expect(try reader.statistics().unrecoveredTransactions == 0)
      #expect(try reader.get("a") == [3])
      try reader.close()
      let writer = try Engine(at: image, options: options)
      #expect(try writer.statistics().generation.rawValue == 3)
      #expect(try writer.statistics().unrecoveredTransactions == 0)
      try writer.close()
    }
  }

  @Test func `a read-only engine writes nothing and refuses writes`() throws {
    let (store, model) = try StoreFiles.small()
    let fileSystem = FaultInjectingFileSystem(base: try store.mounted())
    var readOnly = options
    readOnly.access = .readOnly
    let engine = try Engine(at: StoreFiles.path, options: readOnly, fileSystem: fileSystem)
    try engine.read { try $0.expect(model, "read only") }
    #expect(code { try engine.write { try $0.put("a", [1]) } } == .readOnly)
    #expect(code { try engine.checkpoint() } == .readOnly)
    #expect(try engine.verify().findings == [])
    #expect(try engine.snapshot(at: Generation(rawValue: 2)).count == 4)
    try engine.close()
    #expect(fileSystem.mutationCount == 0)
  }

  @Test func `a folder without write permission is reported as read-only`() throws {
    let (store, _) = try StoreFiles.small()
    let plan = FaultPlan([.init(.any, occurrence: 2, code: .permissionDenied, duration: .forever)])
    let fileSystem = FaultInjectingFileSystem(base: try store.mounted(), plan: plan)
    #expect(
      code { _ = try Engine(at: StoreFiles.path, options: options, fileSystem: fileSystem) } == .readOnly)
  }

  @Test func `the null device is a separate store in memory for each engine`() throws {
    let one = try Engine(at: "/dev/null")
    let other = try Engine(at: "/dev/null")
    try one.write { try $0.put("key", [1]) }
    #expect(try one.snapshot().get("key") == [1])
    #expect(try other.snapshot().get("key") == nil)
    #expect(one.path == "/dev/null")
    #expect(one.storeIdentifier != other.storeIdentifier)
    try one.close()
    #expect(try Engine(at: "/dev/null").snapshot().count == 0)
  }

  @Test func `an empty store is small`() throws {
    let engine = try Engine(
      at: "/store", options: EngineOptions(worker: InlineWorker()), fileSystem: MemoryFileSystem())
    #expect(try engine.statistics().fileBytes < 64 << 10)
  }

  @Test func `a store opened and closed without writing is not touched`() throws {
    let (store, _) = try StoreFiles.small()
    let fileSystem = FaultInjectingFileSystem(base: try store.mounted())
    let engine = try Engine(at: StoreFiles.path, options: options, fileSystem: fileSystem)
    try engine.write { _ in }
    try engine.close()
    #expect(fileSystem.mutationCount == 0)
    #expect(try StoreFiles(fileSystem).files == store.files)
  }

  @Test func `the leftovers of an unfinished creation are replaced by a new store`() throws {
    let fileSystem = MemoryFileSystem()
    try fileSystem.createDirectory("/store")
    let directory = try fileSystem.openDirectory("/store")
    for name in ["lock", "processes", "anchor.new", "0000000000000001.log"] {
      try directory.open(name, .createNew).close()
    }
    let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    try engine.write { try $0.put("key", [1]) }
    try engine.close()
    #expect(try Engine(at: "/store", options: options, fileSystem: fileSystem).snapshot().get("key") == [1])
  }

  private func open(_ store: StoreFiles) throws {
    try Engine(at: StoreFiles.path, options: options, fileSystem: try store.mounted()).close()
  }
}

extension StoreFiles {
  /// Changes a field of a slot, and updates the slot's checksum.
  mutating func setAnchorField(slot: Int, _ offset: Int, _ value: UInt32) {
    guard var bytes = files[StoreFolder.anchorName] else { return }
    bytes.withWritableBytes { bytes in
      let sector = bytes.bytes(slot * Format.anchorBlockBytes, 512)
      sector.setField(offset, value)
      let seed: UInt64 = 0x4865_6172_7477_6F6F ^ UInt64(slot)
      sector.setField(504, XXH64.hash(sector.bytes.bytes(0, 504).buffer, seed: seed))
    }
    files[StoreFolder.anchorName] = bytes
  }
}

@Suite struct `A store without its anchor` {
  @Test(arguments: [false, true])
  func `a store without its anchor is not taken for a new store`(isClosed: Bool) throws {
    let fileSystem = MemoryFileSystem()
    let options = StoreKind.memoryBuffered.options
    let engine = try Engine(at: StoreFiles.path, options: options, fileSystem: fileSystem)
    try engine.write { try $0.put("a", [1]) }
    var files = try StoreFiles(fileSystem)
    try engine.close()
    if isClosed { files = try StoreFiles(fileSystem) }
    files.files[StoreFolder.anchorName] = nil
    let mounted = try files.mounted()
    let error = #expect(throws: EngineError.self) {
      try Engine(at: StoreFiles.path, options: options, fileSystem: mounted)
    }
    if !isClosed { #expect(error?.code == .damaged && error?.description.contains("salvage") == true) }
    let left = try StoreFiles(mounted).files
    #expect(files.files.allSatisfy { left[$0.key] == $0.value })
    #expect(try DamagedStore.salvage(files).found == [Array("a".utf8): [1]])
  }
}
