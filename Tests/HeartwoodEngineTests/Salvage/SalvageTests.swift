import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `Salvage` {
  @Test(arguments: [true, false])
  func `salvage of a sound store copies everything`(isClosed: Bool) throws {
    let damaged = try DamagedStore(isClosed: isClosed)
    let (report, found) = try damaged.salvage()
    #expect(found == damaged.newest)
    #expect(report.isComplete, "\(report.losses)")
    #expect(report.keys == UInt64(found.count))
    #expect(report.generation == damaged.generation)
  }

  @Test func `salvage needs no anchor`() throws {
    let damaged = try DamagedStore()
    for isThere in [true, false] {
      var files = damaged.files
      if isThere {
        files.files[StoreFolder.anchorName]?[20] ^= 1
        files.files[StoreFolder.anchorName]?[4096 + 20] ^= 1
      } else {
        files.files[StoreFolder.anchorName] = nil
      }
      let (report, found) = try DamagedStore.salvage(files)
      #expect(found == damaged.newest)
      #expect(report.losses.count == 1)
    }
  }

  @Test func `salvage needs no tree, as the log has all data`() throws {
    let damaged = try DamagedStore()
    for name in damaged.files.files.keys where name.hasSuffix(".pages") {
      var missing = damaged.files
      missing.files[name] = nil
      #expect(try DamagedStore.salvage(missing).found == damaged.newest, "without \(name)")
      var random = SplitMix64(seed: 4)
      for round in 0..<20 {
        var changed = damaged.files
        let count = changed.files[name]?.count ?? 0
        for _ in 0...round { changed.files[name]?[random.below(count)] ^= 0x40 }
        if round % 5 == 4 { changed.files[name]?.removeLast(random.below(count)) }
        let (_, found) = try DamagedStore.salvage(changed)
        #expect(found == damaged.newest, "seed 4, round \(round)")
      }
    }
  }

  @Test func `salvage finds the keys of a lost page in the log, and reports them`() throws {
    let damaged = try DamagedStore()
    let name = try #require(damaged.files.files.keys.filter { $0.hasSuffix(".pages") }.max())
    var files = damaged.files
    // Every page except the root, which is written last.
    let pages = (files.files[name]?.count ?? 0) / Format.pageBytes
    for page in 1..<(pages - 1) { files.files[name]?[page * Format.pageBytes + 100] ^= 1 }
    let (report, found) = try DamagedStore.salvage(files)
    #expect(found == damaged.newest)
    let losses = report.losses.filter { $0.keys != nil }
    #expect(!losses.isEmpty)
    #expect(losses.allSatisfy { $0.foundKeys ?? 0 >= $0.expectedKeys ?? 1 }, "\(losses)")
  }

  @Test func `salvage without one segment of the log copies the rest, and no value that never existed`()
    throws
  {
    let damaged = try DamagedStore()
    let logs = damaged.files.files.keys.filter { $0.hasSuffix(".log") }.sorted()
    #expect(logs.count > 2)
    for name in logs {
      var files = damaged.files
      files.files[name] = nil
      let (report, found) = try DamagedStore.salvage(files)
      #expect(!report.isComplete, "without \(name)")
      #expect(found.count > 20, "without \(name)")
      damaged.expectKnown(found, "without \(name)")
    }
  }

  @Test func `salvage of any damage copies no value that never existed, and changes no file`() throws {
    let damaged = try DamagedStore(isClosed: false)
    var random = SplitMix64(seed: 11)
    for round in 0..<(LongRun.isWanted ? 3000 : 60) {
      var files = damaged.files
      let names = files.files.keys.sorted()
      for _ in 0...random.below(4) {
        let name = random.pick(names)
        let count = files.files[name]?.count ?? 0
        guard count > 0 else { continue }
        let start = random.below(count)
        switch random.below(4) {
        case 0: files.files[name]?.removeLast(count - start)
        case 1: for index in start..<min(count, start + 512) { files.files[name]?[index] = 0 }
        case 2:
          for index in start..<min(count, start + 5000) { files.files[name]?[index] = UInt8(index & 0xFF) }
        default: files.files[name]?[start] ^= UInt8(1 << random.below(8))
        }
      }
      let (_, found) = try DamagedStore.salvage(files)
      damaged.expectKnown(found, "seed 11, round \(round)")
    }
  }

  @Test func `salvage omits a transaction without an end`() throws {
    let store = try StoreInUse()
    // The last frame is torn.
    var files = store.files
    let last = store.ends[store.ends.count - 1]
    files.files[store.logName]?[last - 4] ^= 1
    let (_, found) = try DamagedStore.salvage(files)
    for (key, value) in found {
      #expect(store.states.contains { $0[key] == value }, "\(String(decoding: key, as: UTF8.self))")
    }
  }

  @Test func `salvage omits a rolled-back transaction, also where the one in its place is damaged`()
    throws
  {
    let (files, model) = try Self.overSeveralSegments(failing: true)
    let name = try #require(files.files.keys.filter { $0.hasSuffix(".log") }.max())
    // In the key of the first record, and in the frame's header.
    for place in [Format.frameHeaderBytes + 12, 12] {
      var damaged = files
      damaged.files[name]?[Format.segmentHeaderBytes + place] ^= 1
      let (report, found) = try DamagedStore.salvage(damaged)
      #expect(!report.isComplete)
      for (key, value) in found { #expect(model[key] == value, "\(String(decoding: key, as: UTF8.self))") }
    }
  }

  @Test func `salvage finds the records after one whose length is damaged`() throws {
    let fileSystem = MemoryFileSystem()
    let engine = try Engine(
      at: StoreFiles.path, options: StoreKind.memoryBuffered.options, fileSystem: fileSystem)
    try engine.write { transaction in
      for number in 10..<30 { try transaction.put("key \(number)", [UInt8](repeating: 7, count: 100)) }
    }
    var files = try StoreFiles(fileSystem)
    try engine.close()
    // The length of the first value: 36 instead of 100, and then 101.
    for bit in [0x40, 0x01] as [UInt8] {
      let place = Format.segmentHeaderBytes + Format.frameHeaderBytes + 9
      files.files[SegmentName.log(1)]?[place] ^= bit
      let (report, found) = try DamagedStore.salvage(files)
      #expect(found.count == 19 && found[Array("key 10".utf8)] == nil)
      #expect(report.losses.contains { $0.what.contains("1 of its 20 records") }, "\(report.losses)")
      files.files[SegmentName.log(1)]?[place] ^= bit
    }
  }

  @Test(arguments: [200, 16 << 10])
  func `salvage copies no value that its key had only within a transaction`(frameBytes: Int) throws {
    let fileSystem = MemoryFileSystem()
    var options = StoreKind.memoryBuffered.options
    options.frameBytes = frameBytes
    let engine = try Engine(at: StoreFiles.path, options: options, fileSystem: fileSystem)
    func bytes(_ text: String) -> [UInt8] { [UInt8]((text + String(repeating: ".", count: 30)).utf8) }
    try engine.write { transaction in
      for key in 0..<8 { try transaction.put("key \(key)", bytes("before")) }
    }
    try engine.write { transaction in
      for key in 0..<8 { try transaction.put("key \(key)", bytes("within")) }
      for key in 0..<8 { try transaction.put("key \(key)", bytes("after")) }
    }
    try engine.write { try $0.put("last", bytes("last")) }
    let files = try StoreFiles(fileSystem)
    try engine.close()
    let log = SegmentName.log(1)
    let end = try #require(files.files[log]?.lastIndex { $0 != 0 })
    var whole = 0
    for place in Format.segmentHeaderBytes...end {
      var damaged = files
      damaged.files[log]?[place] ^= 0x10
      let (report, found) = try DamagedStore.salvage(damaged)
      let values = (0..<8).map { found[[UInt8]("key \($0)".utf8)] }
      for value in values {
        #expect(value == nil || value == bytes("before") || value == bytes("after"), "byte \(place)")
      }
      let newest = values.count { $0 == bytes("after") }
      whole += newest
      #expect(!report.isComplete || newest == 8, "byte \(place)")
    }
    // Records after the damage are copied.
    #expect(whole > (end - Format.segmentHeaderBytes) * 8 / 2)
  }

  @Test(arguments: [true, false])
  func `salvage reports the loss of the last file of the log, which the anchor names`(isClosed: Bool) throws {
    let damaged = try DamagedStore(isClosed: isClosed)
    let name = try #require(damaged.files.files.keys.filter { $0.hasSuffix(".log") }.max())
    for bytes in [nil, [], [UInt8](repeating: 0, count: 4096), damaged.files.files[name]?.dropLast()]
      as [[UInt8]?]
    {
      var files = damaged.files
      files.files[name] = bytes.map { Array($0) }
      let (report, _) = try DamagedStore.salvage(files)
      let isTold = report.losses.contains { $0.file?.hasSuffix(name) == true && $0.what.contains("last") }
      #expect(
        isTold == (bytes?.contains { $0 != 0 } != true), "\(bytes?.count ?? -1) bytes: \(report.losses)")
    }
  }

  @Test func `salvage reports a frame that is lost at the end of a segment`() throws {
    let (files, _) = try Self.overSeveralSegments(failing: false)
    let name = try #require(files.files.keys.filter { $0.hasSuffix(".log") }.min())
    var offset = Format.segmentHeaderBytes
    var frames: [Int] = []
    while let bytes = files.files[name], offset + 12 < bytes.count,
      bytes[offset..<offset + 4].elementsEqual([UInt8]("HWFR".utf8))
    {
      frames.append(offset)
      let payload = (0..<4).reduce(0) { $0 | Int(bytes[offset + 8 + $1]) << (8 * $1) }
      offset += FrameHeader.totalBytes(payload: payload)
    }
    #expect(frames.count > 2)
    var damaged = files
    damaged.files[name]?[(frames.last ?? 0) + 20] ^= 1
    let (report, _) = try DamagedStore.salvage(damaged)
    #expect(report.losses.contains { $0.offset == frames.last.map(Int64.init) }, "\(report.losses)")
  }

  /// A store whose last transaction has several frames in several segments, or was rolled back and replaced by another.
  private static func overSeveralSegments(failing: Bool) throws -> (files: StoreFiles, model: Model) {
    struct Refusal: Error {}
    let fileSystem = MemoryFileSystem()
    var options = StoreKind.memoryBuffered.options
    options.frameBytes = 10_000
    let engine = try Engine(at: StoreFiles.path, options: options, fileSystem: fileSystem)
    var model: Model = [:]
    for number in 0..<3 {
      try engine.write { try $0.put("key \(number)", [UInt8(number)]) }
      model[Array("key \(number)".utf8)] = [UInt8(number)]
    }
    do {
      try engine.write { transaction in
        for number in 0..<(failing ? 40 : 90) {
          let key = "long \(number)"
          try transaction.put(key, [UInt8](repeating: 7, count: 1000))
          if !failing { model[Array(key.utf8)] = [UInt8](repeating: 7, count: 1000) }
        }
        if failing { throw Refusal() }
      }
    } catch is Refusal {}
    if failing {
      for number in 0..<3 {
        try engine.write { try $0.put("late \(number)", [UInt8(number)]) }
        model[Array("late \(number)".utf8)] = [UInt8(number)]
      }
    }
    let files = try StoreFiles(fileSystem)
    try engine.close()
    return (files, model)
  }

  @Test func `salvage continues where the disk cannot read`() throws {
    let damaged = try DamagedStore()
    for occurrence in 1...25 {
      let plan = FaultPlan([.init(.of(.read), occurrence: occurrence * 3, code: .inputOutput)])
      let failing = FaultInjectingFileSystem(base: try damaged.files.mounted(), plan: plan)
      let new = MemoryFileSystem()
      let report = try Engine.salvage(
        from: StoreFiles.path, to: "/new", options: StoreKind.memoryBuffered.options, fileSystem: failing,
        newFileSystem: new)
      damaged.expectKnown(try DamagedStore.contents(new), "read \(occurrence * 3)")
      #expect(failing.injectedErrorCount == 0 || report.keys > 0)
    }
  }

  @Test func `salvage of a hostile store never traps`() throws {
    let store = try HostileStore()
    var random = SplitMix64(seed: 23)
    for round in 0..<(LongRun.isWanted ? 20_000 : 150) {
      var hostile = store
      _ = hostile.change(&random)
      hostile.seal()
      if round % 3 == 0 { _ = hostile.change(&random) }
      do {
        _ = try DamagedStore.salvage(hostile.files)
      } catch { #expect(error is EngineError, "seed 23, round \(round): \(error)") }
    }
  }

  @Test func `salvage is refused for a store in use, for a missing store, and over another store`() throws {
    let fileSystem = MemoryFileSystem()
    let options = StoreKind.memoryBuffered.options
    func salvage(_ from: String, _ to: String) throws {
      _ = try Engine.salvage(from: from, to: to, options: options, fileSystem: fileSystem)
    }
    #expect(code { try salvage("/none", "/new") } == .notFound)
    try fileSystem.createDirectory("/empty")
    #expect(code { try salvage("/empty", "/new") } == .notAStore)
    let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    try engine.write { try $0.put("a", [1]) }
    #expect(code { try salvage("/store", "/new") } == .locked)
    try engine.close()
    #expect(code { try salvage("/store", "/store") } == .locked)
    try salvage("/store", "/new")
    #expect(code { try salvage("/store", "/new") } == .exists)
  }

  @Test func `salvage removes the new store where it cannot be written`() throws {
    let damaged = try DamagedStore()
    let new = FaultInjectingFileSystem(base: MemoryFileSystem(), plan: .fullDisk(after: 30_000))
    #expect(
      code {
        _ = try Engine.salvage(
          from: StoreFiles.path, to: "/new", options: StoreKind.memoryBuffered.options,
          fileSystem: try damaged.files.mounted(), newFileSystem: new)
      } == .noSpace)
    let names = try new.openDirectory("/new").entries()
    #expect(names.allSatisfy(ProcessAttachment.isFile), "\(names)")
  }
}

/// The files of a store with several segments, checkpoints and deletes, and all values that it ever held.
struct DamagedStore {
  var files: StoreFiles
  private(set) var newest: Model = [:]
  /// All values that each key had after a transaction.
  private var known: [[UInt8]: Set<[UInt8]>] = [:]
  let generation: Generation

  init(isClosed: Bool = true) throws {
    let fileSystem = MemoryFileSystem()
    let engine = try Engine(
      at: StoreFiles.path, options: StoreKind.memoryBuffered.options, fileSystem: fileSystem)
    var random = SplitMix64(seed: 3)
    for round in 0..<40 {
      var next = newest
      try engine.write { transaction in
        for _ in 0..<20 {
          let key = [UInt8]("key/\(random.below(400))".utf8)
          let value = random.bytes(random.below(3) == 0 ? random.below(16) : random.below(900))
          try transaction.put(key, value)
          next[key] = value
        }
        let gone = [UInt8]("key/\(random.below(400))".utf8)
        try transaction.delete(gone)
        next[gone] = nil
        if round % 9 == 8 {
          let prefix = [UInt8]("key/\(random.below(40))".utf8)
          _ = try transaction.deleteRange(.prefix(prefix))
          next = next.filter { !$0.key.starts(with: prefix) }
        }
      }
      newest = next
      for (key, value) in next { known[key, default: []].insert(value) }
      if round % 13 == 12 { try engine.checkpoint() }
    }
    generation = engine.newestGeneration
    if isClosed { try engine.close() }
    files = try StoreFiles(fileSystem)
    if !isClosed { try engine.close() }
  }

  func salvage() throws -> (report: SalvageReport, found: Model) { try Self.salvage(files) }

  static func salvage(_ files: StoreFiles) throws -> (report: SalvageReport, found: Model) {
    let mounted = try files.mounted()
    let new = MemoryFileSystem()
    let report = try Engine.salvage(
      from: StoreFiles.path, to: "/new", options: StoreKind.memoryBuffered.options, fileSystem: mounted,
      newFileSystem: new)
    #expect(try StoreFiles(mounted).files == files.files, "the damaged store was changed")
    return (report, try contents(new))
  }

  static func contents(_ fileSystem: any FileSystem) throws -> Model {
    let engine = try Engine(at: "/new", options: StoreKind.memoryBuffered.options, fileSystem: fileSystem)
    let found = try engine.snapshot().model()
    #expect(try engine.verify().isSound)
    try engine.close()
    return found
  }

  /// Whether every key has a value that it once had.
  func expectKnown(_ found: Model, _ comment: String) {
    for (key, value) in found where known[key]?.contains(value) != true {
      Issue.record("\(comment): \(String(decoding: key, as: UTF8.self)) has a value that it never had")
    }
  }
}
