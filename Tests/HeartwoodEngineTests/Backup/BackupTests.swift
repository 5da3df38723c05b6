import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `Backups` {
  @Test(arguments: StoreKind.allCases)
  func `a backup is a store of its own with all contents and generations of its source`(kind: StoreKind)
    throws
  {
    try kind.withPlace { fileSystem, path in
      let store = try BackedUp(kind, fileSystem, path)
      for round in 0..<4 { try store.write(round, puts: 60) }
      let generations = try store.engine.generations()
      let report = try store.backup()
      #expect(report.generation == store.engine.newestGeneration)
      #expect(report.reusedBytes == 0)
      try store.write(9, puts: 5)
      try store.open { backup in
        #expect(backup.storeIdentifier == store.engine.storeIdentifier)
        #expect(backup.newestGeneration == report.generation)
        #expect(try backup.generations() == generations)
        #expect(try backup.verify().isSound)
        for record in generations {
          try backup.snapshot(at: record.generation).expect(
            store.models[record.generation] ?? [:], "\(record)")
        }
      }
      try store.engine.close()
    }
  }

  @Test(arguments: StoreKind.allCases.filter { !$0.isCompressed })
  func `a backup into the same folder copies only new data`(kind: StoreKind) throws {
    try kind.withPlace { fileSystem, path in
      let store = try BackedUp(kind, fileSystem, path)
      for round in 0..<8 { try store.write(round, puts: 100) }
      let first = try store.backup()
      let second = try store.backup()
      #expect(second.copiedBytes == Int64(2 * Format.anchorBlockBytes))
      #expect(second.reusedBytes == first.copiedBytes - second.copiedBytes)
      #expect(second.files == first.files)
      try store.write(20, puts: 1)
      let third = try store.backup()
      #expect(third.copiedBytes < first.copiedBytes / 3)
      #expect(third.reusedBytes == second.reusedBytes)
      #expect(third.generation.rawValue == second.generation.rawValue + 1)
      try store.expectBackup()
      try store.engine.close()
    }
  }

  @Test(arguments: StoreKind.allCases, [1, 2, 3] as [UInt64])
  func `a backup holds its generation after any sequence of operations`(kind: StoreKind, seed: UInt64) throws
  {
    try kind.withPlace { fileSystem, path in
      var random = SplitMix64(seed: seed)
      let store = try BackedUp(kind, fileSystem, path)
      for step in 0..<(LongRun.isWanted ? 400 : 60) {
        switch random.below(12) {
        case 0...5: try store.write(step, puts: 1 + random.below(40), deleting: random.below(10))
        case 6...8:
          try store.backup()
          try store.expectBackup("seed \(seed), step \(step)")
        case 9: try store.engine.reclaim()
        case 10: try store.reopen()
        default: try store.engine.checkpoint()
        }
      }
      try store.engine.close()
    }
  }

  @Test func `a backup goes to the file system that the one of its source has for copies`() throws {
    let copies = MemoryFileSystem()
    let store = try Engine(
      at: "/store", fileSystem: WithCopies(base: MemoryFileSystem(), forCopies: copies))
    try store.write { try $0.put("a", [1]) }
    try store.backup(to: "/backup")
    try store.close()
    let backup = try Engine(at: "/backup", fileSystem: copies)
    #expect(try backup.get("a") == [1])
    try backup.close()
    #expect(
      FaultInjectingFileSystem(base: WithCopies(base: copies, forCopies: copies)).forCopies
        is MemoryFileSystem)
  }

  @Test func `a backup through a read-only engine leaves the source unchanged`() throws {
    let kind = StoreKind.memoryBuffered
    let fileSystem = MemoryFileSystem()
    let store = try BackedUp(kind, fileSystem, "/store")
    for round in 0..<3 { try store.write(round, puts: 10) }
    try store.engine.close()
    let before = try StoreFiles(fileSystem)
    var options = kind.options
    options.access = .readOnly
    let reader = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    try reader.backup(to: store.backupPath, fileSystem: fileSystem)
    try reader.close()
    #expect(try StoreFiles(fileSystem).files == before.files)
    try store.expectBackup()
    try store.reopen()
    try store.write(5, puts: 10)
    #expect(try store.backup().reusedBytes > 0)
    try store.expectBackup()
    try store.engine.close()
  }

  @Test func `a backup continues while its source is written`() throws {
    let kind = StoreKind.memoryMapped
    let fileSystem = MemoryFileSystem()
    let store = try BackedUp(kind, fileSystem, "/store")
    for round in 0..<4 { try store.write(round, puts: 50) }
    let model = store.model
    let writer = WritingMeanwhile(store)
    let observed = FaultInjectingFileSystem(base: fileSystem) { mutation in
      if mutation.path.hasSuffix(".log") { writer.writeOnce() }
    }
    let report = try store.engine.backup(to: store.backupPath, fileSystem: observed)
    #expect(writer.hasWritten)
    #expect(store.engine.newestGeneration > report.generation)
    try store.open { try $0.snapshot().expect(model, "as it was in the beginning") }
    try store.backup()
    try store.expectBackup()
    try store.engine.close()
  }

  // MARK: Interruptions

  /// The folder holds an earlier backup, and the files of a later one that a crash has interrupted. An engine opens the
  /// folder for writing, continues the earlier backup, is killed, and opens the folder again. The files of the interrupted
  /// backup neither count as part of that log, nor as proof that some of it is missing.
  @Test func `a folder with an interrupted backup can be opened for writing`() throws {
    let disk = SimulatedFileSystem()
    let store = try BackedUp(.simulated, disk, "/store")
    try store.write(1, puts: 40)
    try store.backup()
    let earlier = store.model
    for round in 2..<6 { try store.write(round, puts: 30) }
    let images = CutShort(disk)
    let observed = FaultInjectingFileSystem(base: disk) { mutation in
      if mutation.path.hasPrefix("/backup") { images.take() }
    }
    try store.engine.backup(to: "/backup", fileSystem: observed)
    try store.engine.close()
    var kept = 0
    for image in images.all {
      let mounted = image.mounted()
      let engine = try Engine(at: "/backup", options: StoreKind.simulated.options, fileSystem: mounted)
      guard try engine.newestGeneration.rawValue == 1 && engine.snapshot().count == UInt64(earlier.count)
      else {
        try engine.close()
        continue
      }
      kept += 1
      var mine = earlier
      for number in 0..<3 {
        try engine.write { try $0.put("mine \(number)", [UInt8](repeating: 9, count: 40)) }
        mine[[UInt8]("mine \(number)".utf8)] = [UInt8](repeating: 9, count: 40)
      }
      for killed in mounted.crashImages(.prefixesOnly) {
        let again = try Engine(
          at: "/backup", options: StoreKind.simulated.options, fileSystem: killed.mounted())
        try again.snapshot().expect(mine, "\(image), \(killed)")
        #expect(try again.verify().isSound)
        try again.close()
      }
    }
    #expect(kept > 3)
  }

  /// The lost slot named the checkpoint at which the backup ends. A recovery without it keeps transactions only.
  @Test(arguments: [0, 1]) func `backups continue after a slot of the source's anchor is lost`(lost: Int)
    throws
  {
    let disk = SimulatedFileSystem()
    let store = try BackedUp(.simulated, disk, "/store")
    for round in 1..<3 {
      try store.write(round, puts: 40)
      try store.backup()
    }
    let crashed = try #require(Array(disk.crashImages(.prefixesOnly)).last).mounted()
    try store.engine.close()
    let anchor = try crashed.openDirectory("/store").open(StoreFolder.anchorName, .readWrite)
    try anchor.write(
      all: [UInt8](repeating: 0, count: Format.anchorSlotBytes), at: lost * Format.anchorBlockBytes)
    try anchor.close()
    let found = try BackedUp(.simulated, crashed, "/store", holding: store.model)
    for round in 3..<7 {
      try found.backup()
      try found.expectBackup("\(round)")
      try found.write(round, puts: 20)
      try found.reopen()
    }
    try found.engine.close()
  }

  // MARK: Refusals

  @Test func `a backup does not depend on leftover files of the previous backup`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try BackedUp(.memoryBuffered, fileSystem, "/store")
    // A segment before the reclaimed ones, which stays.
    try store.writeLasting()
    for round in 0..<3 { try store.write(round, puts: 60) }
    try store.backup()
    let earlier = try StoreFiles(fileSystem, at: store.backupPath)
    // The segment of which the first backup has only the beginning is reclaimed.
    for round in 3..<9 { try store.write(round, puts: 60) }
    try store.engine.reclaim()
    try store.backup()
    let directory = try fileSystem.openDirectory(store.backupPath)
    let names = try directory.entries()
    for (name, bytes) in earlier.files where !names.contains(name) {
      let file = try directory.open(name, .createNew)
      try file.write(all: bytes, at: 0)
      try file.close()
    }
    #expect(try directory.entries() != names)
    try store.expectBackup()
    let report = try store.backup()
    #expect(report.copiedBytes == Int64(2 * Format.anchorBlockBytes), "all of it was there")
    try store.write(9, puts: 10)
    try store.backup()
    try store.expectBackup()
    try store.engine.close()
  }

  @Test func `a backup to the folder of another store is refused`() throws {
    let kind = StoreKind.memoryBuffered
    let fileSystem = MemoryFileSystem()
    let store = try BackedUp(kind, fileSystem, "/store")
    try store.write(1, puts: 3)
    var options = kind.options
    options.entropy = SeededEntropy(seed: 99)
    let other = try Engine(at: "/backup", options: options, fileSystem: fileSystem)
    #expect(code { _ = try store.backup() } == .locked)
    try other.write { try $0.put("a", [1]) }
    try other.close()
    #expect(code { _ = try store.backup() } == .exists)
    #expect(code { _ = try store.engine.backup(to: "/store", fileSystem: fileSystem) } == .locked)
    let again = try Engine(at: "/backup", options: options, fileSystem: fileSystem)
    #expect(try again.snapshot().get("a") == [1])
    try again.close()
    try store.engine.close()
  }

  @Test func `a backup that was written to is not replaced`() throws {
    let kind = StoreKind.memoryBuffered
    let fileSystem = MemoryFileSystem()
    let store = try BackedUp(kind, fileSystem, "/store")
    try store.write(1, puts: 3)
    try store.backup()
    // Opened for writing, and left unchanged.
    let same = try Engine(at: "/backup", options: kind.options, fileSystem: fileSystem)
    try same.close()
    try store.write(2, puts: 3)
    try store.backup()
    let used = try Engine(at: "/backup", options: kind.options, fileSystem: fileSystem)
    try used.write { try $0.put("mine", [1]) }
    try used.close()
    #expect(code { _ = try store.backup() } == .exists)
    try store.open { backup in
      let mine = try backup.snapshot().get("mine")
      #expect(mine == [1])
    }
    try store.engine.close()
  }

  @Test func `a backup of a later state is not replaced by an earlier state`() throws {
    let kind = StoreKind.memoryBuffered
    let fileSystem = MemoryFileSystem()
    let store = try BackedUp(kind, fileSystem, "/store")
    try store.write(1, puts: 30)
    try store.engine.backup(to: "/old", fileSystem: fileSystem)
    try store.write(2, puts: 30)
    try store.backup()
    try store.engine.close()
    // The older backup replaces the store, and then diverges.
    let old = try Engine(at: "/old", options: kind.options, fileSystem: fileSystem)
    #expect(code { _ = try old.backup(to: "/backup", fileSystem: fileSystem) } == .exists)
    for _ in 0..<5 { try old.write { try $0.put("other", [1, 2, 3]) } }
    #expect(code { _ = try old.backup(to: "/backup", fileSystem: fileSystem) } == .exists)
    try old.close()
    try store.expectBackup()
  }

  @Test func `a backup to a folder with other files, or inside a transaction, is refused`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try BackedUp(.memoryBuffered, fileSystem, "/store")
    try fileSystem.createDirectory("/backup")
    _ = try fileSystem.openDirectory("/backup").open("letter.txt", .createNew)
    #expect(code { _ = try store.backup() } == .notAStore)
    #expect(code { _ = try store.engine.write { _ in try store.backup() } } == .nestedWrite)
    #expect(code { _ = try store.engine.backup(to: "/no/where", fileSystem: fileSystem) } == .notFound)
    try store.engine.close()
    #expect(code { _ = try store.backup() } == .closed)
  }

  @Test func `a backup of a damaged store is refused, and the previous backup is kept`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try BackedUp(.memoryBuffered, fileSystem, "/store")
    try store.write(1, puts: 30)
    try store.backup()
    let model = store.model
    try store.write(2, puts: 30)
    try store.engine.checkpoint()
    let names = try fileSystem.openDirectory("/store").entries().filter { $0.hasSuffix("log") }
    let name = try #require(names.first)
    let file = try fileSystem.openDirectory("/store").open(name, .readWrite)
    let bytes = try StoreFiles(fileSystem).files[name] ?? []
    let place = try #require(bytes.lastIndex { $0 != 0 }) - 300
    try file.write(all: [bytes[place] ^ 1], at: place)
    try file.close()
    #expect(code { _ = try store.backup() } == .damaged)
    try store.open { try $0.snapshot().expect(model, "the earlier one") }
    try? store.engine.close()
  }
}

/// The crash images at every call of a backup.
private final class CutShort: @unchecked Sendable {
  private let disk: SimulatedFileSystem
  private(set) var all: [CrashImage] = []

  init(_ disk: SimulatedFileSystem) { self.disk = disk }

  func take() {
    var limits = CrashImageLimits()
    limits.imageCount = 4
    all += Array(disk.crashImages(limits))
  }
}

/// Writes to a store in the middle of its backup, once.
private final class WritingMeanwhile: @unchecked Sendable {
  private let store: BackedUp
  private(set) var hasWritten = false

  init(_ store: BackedUp) { self.store = store }

  func writeOnce() {
    guard !hasWritten else { return }
    hasWritten = (try? store.write(77, puts: 30)) != nil
  }
}

/// A store with a backup, and the expected contents of both.
final class BackedUp {
  let kind: StoreKind
  let fileSystem: any FileSystem
  let path: String
  var engine: Engine
  private(set) var model: Model = [:]
  private(set) var models: [Generation: Model] = [:]

  var backupPath: String { path.replacing("/store", with: "/backup") }

  init(
    _ kind: StoreKind, _ fileSystem: any FileSystem, _ path: String, holding model: Model = [:]
  ) throws {
    self.model = model
    self.kind = kind
    self.fileSystem = fileSystem
    self.path = path
    engine = try Engine(at: path, options: kind.options, fileSystem: fileSystem)
  }

  func write(_ number: Int, puts: Int, deleting: Int = 0) throws {
    var next = model
    try engine.write(durability: number % 3 == 0 ? .deferred : .full) { transaction in
      for part in 0..<puts {
        let key = [UInt8]("key \((number * 31 + part * 7) % 211)".utf8)
        next[key] = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: (number * part) % 300)
        try transaction.put(key, next[key] ?? [])
      }
      for part in 0..<deleting {
        let key = [UInt8]("key \((number + part) % 211)".utf8)
        try transaction.delete(key)
        next[key] = nil
      }
    }
    model = next
    models[engine.newestGeneration] = next
  }

  /// Values that are never overwritten, of more than a segment.
  func writeLasting() throws {
    try engine.write { transaction in
      for part in 0..<40 {
        let key = [UInt8]("lasting \(part)".utf8)
        model[key] = [UInt8](repeating: UInt8(part), count: 3000)
        try transaction.put(key, model[key] ?? [])
      }
    }
    models[engine.newestGeneration] = model
  }

  @discardableResult
  func backup() throws -> BackupReport { try engine.backup(to: backupPath, fileSystem: fileSystem) }

  func reopen() throws {
    try engine.close()
    engine = try Engine(at: path, options: kind.options, fileSystem: fileSystem)
  }

  /// Opens the backup for reading.
  func open(_ body: (Engine) throws -> Void) throws {
    var options = kind.options
    options.access = .readOnly
    let backup = try Engine(at: backupPath, options: options, fileSystem: fileSystem)
    try body(backup)
    try backup.close()
  }

  func expectBackup(_ comment: Comment = "") throws {
    try open { backup in
      try backup.snapshot().expect(model, comment)
      let report = try backup.verify()
      #expect(report.isSound, "\(comment): \(report.findings)")
      #expect(try backup.statistics().unrecoveredTransactions == 0)
    }
  }
}

/// A file system whose copies go to another one.
private struct WithCopies: FileSystem {
  let base: any FileSystem
  let forCopies: any FileSystem

  func openDirectory(_ path: String) throws(FileSystemError) -> any Directory { try base.openDirectory(path) }
  func createDirectory(_ path: String) throws(FileSystemError) { try base.createDirectory(path) }
}
