import HeartwoodFaults
import HeartwoodFiles
import Testing

@Suite struct SimulatedMachineTests {
  // MARK: Syncs

  /// A file of durable 1s, overwritten with 2s, after a sync with this behavior.
  private func synced(_ behavior: SyncBehavior) throws -> (disk: SimulatedFileSystem, file: any File) {
    let disk = SimulatedFileSystem()
    let directory = try disk.openDirectory("/")
    let file = try directory.open("a", .createNew)
    try file.write([1, 1, 1, 1], at: 0)
    try file.sync(.full)
    try directory.sync()
    try file.write([2, 2], at: 1)
    disk.syncBehavior = behavior
    let error = failure { try file.sync(.data) }
    #expect((error != nil) == [.failsKeepingData, .failsRevertingData].contains(behavior))
    if let error {
      #expect(error.isInjected)
      #expect(error.code == .inputOutput)
    }
    disk.syncBehavior = .honest
    return (disk, file)
  }

  @Test func `bytes that a failed sync keeps may be lost after a second sync`() throws {
    let (disk, file) = try synced(.failsKeepingData)
    #expect(try file.bytes() == [1, 2, 2, 1])
    try file.sync(.data)
    #expect(Set(try disk.outcomes(.whole)) == [["a": [1, 2, 2, 1]], ["a": [1, 1, 1, 1]]])
    try file.write([3], at: 2)
    try file.sync(.data)
    #expect(try file.bytes() == [1, 2, 3, 1])
    #expect(Set(try disk.outcomes(.whole)) == [["a": [1, 2, 3, 1]], ["a": [1, 1, 3, 1]]])
    try file.write([4], at: 1)
    try file.sync(.data)
    #expect(try disk.outcomes() == [["a": [1, 4, 3, 1]]], "what was written anew is safe")
  }

  @Test func `bytes put in a window may be lost before a sync, and not after it`() throws {
    let (disk, file) = try synced(.honest)
    let window = try #require(try file.window(at: 1, length: 3))
    ([5, 6] as [UInt8]).withUnsafeBytes { window.write($0, at: 2) }
    #expect(Set(try disk.outcomes(.whole)) == [["a": [1, 2, 5, 6]], ["a": [1, 2, 2, 1]]])
    try file.sync(.data)
    #expect(try disk.outcomes() == [["a": [1, 2, 5, 6]]])
  }

  @Test func `bytes that a dead process puts in a window are not stored`() throws {
    let disk = SimulatedFileSystem()
    let process = disk.process(named: "writer")
    let file = try process.openDirectory("/").open("a", .createNew)
    try file.write([1, 1], at: 0)
    let window = try #require(try file.window(at: 0, length: 2))
    process.kill()
    ([5, 6] as [UInt8]).withUnsafeBytes { window.write($0, at: 0) }
    #expect(try disk.openDirectory("/").open("a", .readOnly).bytes() == [1, 1])
  }

  @Test func `bytes that a failed sync lost end where the file is cut`() throws {
    let (disk, file) = try synced(.failsKeepingData)
    try file.truncate(to: 2)
    try file.sync(.data)
    #expect(Set(try disk.outcomes(.whole)) == [["a": [1, 2]], ["a": [1, 1]]])
  }

  @Test func `a sync that fails and reverts shows the old bytes`() throws {
    let (disk, file) = try synced(.failsRevertingData)
    #expect(try file.bytes() == [1, 1, 1, 1])
    #expect(try disk.outcomes() == [["a": [1, 1, 1, 1]]])
  }

  @Test func `a sync that lies makes nothing durable, an honest one after it everything`() throws {
    let (disk, file) = try synced(.lies)
    #expect(Set(try disk.outcomes(.whole)) == [["a": [1, 2, 2, 1]], ["a": [1, 1, 1, 1]]])
    try file.sync(.data)
    #expect(try disk.outcomes() == [["a": [1, 2, 2, 1]]])
  }

  @Test(arguments: [SyncBehavior.lies, .failsKeepingData, .failsRevertingData])
  func `syncs of directories misbehave too`(behavior: SyncBehavior) throws {
    let disk = SimulatedFileSystem()
    let directory = try disk.openDirectory("/")
    _ = try directory.open("a", .createNew)
    disk.syncBehavior = behavior
    #expect((failure { try directory.sync() } == nil) == (behavior == .lies))
    #expect(try directory.entries() == ["a"])
    #expect(Set(try disk.outcomes()) == [[:], ["a": []]])
    disk.syncBehavior = .honest
    try directory.sync()
    #expect(try disk.outcomes() == [["a": []]])
  }

  // MARK: Space

  @Test func `a small disk fills up, and is free again when files go`() throws {
    let disk = SimulatedFileSystem(spaceLimit: 10)
    let directory = try disk.openDirectory("/")
    do {
      let file = try directory.open("a", .createNew)
      try file.write([UInt8](repeating: 1, count: 8), at: 0)
      let error = failure { try file.write([2, 2, 2, 2], at: 8) }
      #expect(error?.code == .noSpace)
      #expect(error?.isInjected == true)
      #expect(try file.size() == 10, "what fitted was written")
      try file.write([3, 3], at: 0)
      #expect(failure { try file.truncate(to: 11) }?.code == .noSpace)
      try directory.unlink("a")
      let other = try directory.open("b", .createNew)
      #expect(failure { try other.write([1], at: 0) }?.code == .noSpace, "it is still open")
      try file.close()
      try other.write([1], at: 0)
      #expect(failure { try other.write([1], at: 100) }?.code == .noSpace)
    }
    #expect(disk.usedBytes == 1)
    disk.spaceLimit = nil
    try directory.open("b", .readWrite).write([1], at: 100)
    #expect(disk.usedBytes == 101)
  }

  // MARK: Processes

  @Test func `processes see one disk and have their own locks`() throws {
    let disk = SimulatedFileSystem()
    let writer = disk.process(named: "writer")
    let reader = disk.process(named: "reader")
    let written = try writer.openDirectory("/").open("a", .createNew)
    try written.write([1, 2], at: 0)
    let read = try reader.openDirectory("/").open("a", .readOnly)
    #expect(try read.bytes() == [1, 2])
    #expect(try written.tryLock(.exclusive))
    #expect(try written.tryLock(.exclusive))
    #expect(try !read.tryLock(.shared))
    #expect(disk.openFileCount == 2)
    #expect(disk.lockCount == 1)
    try written.close()
    #expect(try read.tryLock(.shared))
  }

  @Test func `a killed process loses its locks and can do nothing more`() throws {
    let disk = SimulatedFileSystem()
    let victim = disk.process(named: "victim")
    let directory = try victim.openDirectory("/")
    let file = try directory.open("a", .createNew)
    try file.write([1], at: 0)
    #expect(try file.tryLock(.exclusive))
    victim.kill()
    #expect(!victim.isAlive)
    #expect(disk.openFileCount == 0)
    let calls: [() throws -> Void] = [
      { try file.write([2], at: 0) }, { _ = try file.bytes() }, { try file.sync(.full) },
      { _ = try file.tryLock(.exclusive) }, { _ = try file.size() }, { try file.truncate(to: 0) },
      { _ = try file.map(length: 1) }, { try file.close() }, { _ = try directory.open("a", .readOnly) },
      { _ = try directory.entries() }, { try directory.rename("a", to: "b") }, { try directory.unlink("a") },
      { try directory.sync() }, { _ = try victim.openDirectory("/") }, { try victim.createDirectory("/b") },
    ]
    for call in calls {
      let error = failure(call)
      #expect(error?.code == .processKilled)
      #expect(error?.isInjected == true)
    }
    let next = try disk.process(named: "next").openDirectory("/").open("a", .readWrite)
    #expect(try next.tryLock(.exclusive))
    #expect(try next.bytes() == [1], "what it wrote is in the cache of the system, which lives on")
    #expect(disk.unsyncedChangeCount == 2)
  }

  // MARK: Time and randomness

  @Test func `the clock follows the test, and the entropy follows its seed`() {
    let clock = SimulatedClock(nanosecondsSince1970: 100, step: 5)
    #expect([clock.nanosecondsSince1970, clock.nanosecondsSince1970] == [100, 105])
    clock.jump(by: -1000)
    #expect(clock.nanosecondsSince1970 == -890)
    clock.set(nanosecondsSince1970: 3)
    #expect(clock.nanosecondsSince1970 == 3)
    let numbers = SimulatedFileSystem(seed: 9).entropy
    let same = SeededEntropy(seed: 9)
    #expect((0..<5).map { _ in numbers.next() } == (0..<5).map { _ in same.next() })
    #expect(numbers.next() != SeededEntropy(seed: 10).next())
  }
}
