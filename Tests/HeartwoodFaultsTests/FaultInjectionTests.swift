import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@Suite struct FaultInjectionTests {
  @Test func `the n-th call of an operation fails once, and is marked`() throws {
    let plan = FaultPlan([.init(.of(.write), occurrence: 2, code: .noSpace)])
    let fileSystem = FaultInjectingFileSystem(base: MemoryFileSystem(), plan: plan)
    let file = try fileSystem.openDirectory("/").open("a", .createNew)
    try file.write([1], at: 0)
    let error = failure { try file.write([2], at: 0) }
    #expect(error?.code == .noSpace)
    #expect(error?.operation == .write)
    #expect(error?.isInjected == true)
    #expect(try file.bytes() == [1])
    try file.write([3], at: 0)
    #expect(fileSystem.firingCounts == [1])
    #expect(fileSystem.injectedErrorCount == 1)
  }

  @Test func `a lasting fault fails all later calls, of the files it names`() throws {
    let plan = FaultPlan([.init(.of(.sync), occurrence: 2, suffix: ".log", duration: .forever)])
    let fileSystem = FaultInjectingFileSystem(base: MemoryFileSystem(), plan: plan)
    let directory = try fileSystem.openDirectory("/")
    let log = try directory.open("1.log", .createNew)
    let other = try directory.open("1.pages", .createNew)
    for _ in 0..<3 { try other.sync(.data) }
    try log.sync(.data)
    #expect(failure { try log.sync(.data) }?.code == .inputOutput)
    #expect(failure { try log.sync(.full) }?.code == .inputOutput)
    try other.sync(.data)
    #expect(fileSystem.firingCounts == [2])
  }

  @Test(arguments: FileSystemError.Operation.allCases)
  func `every operation can fail`(operation: FileSystemError.Operation) throws {
    let base = MemoryFileSystem()
    _ = try base.openDirectory("/").open("old", .createNew)
    let fileSystem = FaultInjectingFileSystem(
      base: base, plan: FaultPlan([.init(.of(operation), code: .permissionDenied)]))
    let error = failure {
      try fileSystem.createDirectory("/folder")
      let directory = try fileSystem.openDirectory("/")
      let file = try directory.open("a", .createNew)
      _ = try file.tryLock(.exclusive)
      try file.write([1], at: 0)
      try file.sync(.full)
      _ = try file.bytes(1)
      _ = try file.map(length: 1)
      try file.truncate(to: try file.size())
      try file.close()
      try directory.rename("old", to: "b")
      try directory.unlink("b")
      try directory.sync()
      _ = try directory.entries()
      _ = try directory.watch()
    }
    #expect(error?.operation == operation)
    #expect(error?.code == .permissionDenied)
    #expect(fileSystem.firingCounts == [1])
  }

  @Test func `the hook numbers what changes the disk, and any of it can fail by its number`() throws {
    let script: (any FileSystem) throws -> Void = { fileSystem in
      try fileSystem.createDirectory("/folder")
      let directory = try fileSystem.openDirectory("/folder")
      let file = try directory.open("a", .createNew)
      try file.write([1], at: 0)
      _ = try file.bytes(1)
      try file.sync(.data)
      try file.truncate(to: 0)
      try file.close()
      _ = try directory.open("a", .readWrite)
      try directory.rename("a", to: "b")
      try directory.unlink("b")
      try directory.sync()
    }
    let lock = Lock()
    nonisolated(unsafe) var seen: [Mutation] = []
    let observed = FaultInjectingFileSystem(base: SimulatedFileSystem()) { mutation in
      lock.withLock { seen.append(mutation) }
    }
    try script(observed)
    #expect(
      seen.map(\.operation) == [
        .createDirectory, .open, .write, .sync, .truncate, .rename, .unlink, .syncDirectory,
      ])
    #expect(seen.map(\.number) == Array(1...8))
    #expect(observed.mutationCount == 8)
    for mutation in seen {
      let plan = FaultPlan([.init(.mutations, occurrence: mutation.number)])
      let failing = FaultInjectingFileSystem(base: SimulatedFileSystem(), plan: plan)
      let error = failure { try script(failing) }
      #expect(error?.operation == mutation.operation)
      #expect(error?.path == mutation.path)
    }
  }

  @Test func `bytes put in a window are announced, and a file system with a plan has no windows`() throws {
    let lock = Lock()
    nonisolated(unsafe) var seen: [FileSystemError.Operation] = []
    let base = SimulatedFileSystem()
    let fileSystem = FaultInjectingFileSystem(base: base) { mutation in
      #expect(seen.count < 2 || (try? base.openDirectory("/").open("a", .readOnly).bytes(9)) == [1, 2])
      lock.withLock { seen.append(mutation.operation) }
    }
    let file = try fileSystem.openDirectory("/").open("a", .createNew)
    try file.write([1, 2], at: 0)
    let window = try #require(try file.window(at: 0, length: 2))
    ([3] as [UInt8]).withUnsafeBytes { window.write($0, at: 1) }
    #expect(seen == [.open, .write, .write])
    #expect(try file.bytes(9) == [1, 3])
    #expect(window.isUsable)
    fileSystem.use([.fail(.write)])
    #expect(try file.window(at: 0, length: 2) == nil)
    #expect(!window.isUsable)
    fileSystem.use([])
    #expect(window.isUsable)
  }

  @Test func `a failing call may have done its work, or half of it`() throws {
    for (effect, left) in [(.none, []), (.half, [1, 2]), (.whole, [1, 2, 3, 4])]
      as [(FaultPlan.Effect, [UInt8])]
    {
      let plan = FaultPlan([.init(.of(.write), effect: effect)])
      let fileSystem = FaultInjectingFileSystem(base: SimulatedFileSystem(), plan: plan)
      let file = try fileSystem.openDirectory("/").open("a", .createNew)
      #expect(failure { try file.write([1, 2, 3, 4], at: 0) }?.isInjected == true)
      #expect(try file.bytes() == left)
    }
  }

  @Test func `space ends, and truncated or unlinked space is free again`() throws {
    let plan = FaultPlan(spaceLimit: 10)
    let fileSystem = FaultInjectingFileSystem(base: SimulatedFileSystem(), plan: plan)
    let directory = try fileSystem.openDirectory("/")
    let file = try directory.open("a", .createNew)
    try file.write([UInt8](repeating: 1, count: 8), at: 0)
    let error = failure { try file.write([2, 2, 2, 2], at: 8) }
    #expect(error?.code == .noSpace)
    #expect(error?.isInjected == true)
    #expect(try file.size() == 10, "what fitted was written")
    try file.write([3, 3], at: 0)
    #expect(failure { try file.truncate(to: 11) }?.code == .noSpace)
    try file.truncate(to: 4)
    let other = try directory.open("b", .createNew)
    #expect(failure { try other.write([1], at: 100) }?.code == .noSpace)
    try other.write([UInt8](repeating: 1, count: 6), at: 0)
    try directory.rename("b", to: "a")
    #expect(failure { try other.truncate(to: 11) }?.code == .noSpace)
    try other.truncate(to: 10)
    try directory.unlink("a")
    try directory.open("c", .createNew).truncate(to: 10)
    #expect(fileSystem.injectedErrorCount == 4)
  }

  @Test func `short reads and writes still carry everything`() throws {
    let plan = FaultPlan(largestRead: 3, largestWrite: 2)
    let fileSystem = FaultInjectingFileSystem(base: PosixFileSystem(), plan: plan)
    try TemporaryFolder.with { path in
      let file = try fileSystem.openDirectory(path).open("a", .createNew)
      try file.write([1, 2, 3, 4, 5, 6, 7], at: 0)
      #expect(try file.bytes(7) == [1, 2, 3, 4, 5, 6, 7])
    }
    #expect(fileSystem.shortTransferCount == 3 + 2)
  }

  @Test func `a new plan starts its counts at zero`() throws {
    let fileSystem = FaultInjectingFileSystem(base: MemoryFileSystem())
    let file = try fileSystem.openDirectory("/").open("a", .createNew)
    try file.write([1], at: 0)
    fileSystem.use(FaultPlan([.init(.any, occurrence: 2, duration: .forever)]))
    try file.write([2], at: 0)
    #expect(failure { try file.write([3], at: 0) } != nil)
    #expect(failure { _ = try file.size() } != nil)
    fileSystem.use(FaultPlan())
    #expect(try file.bytes() == [2])
    #expect(failure { try file.close() } == nil)
  }

  @Test func `a failing close still closes the file`() throws {
    let base = SimulatedFileSystem()
    let fileSystem = FaultInjectingFileSystem(base: base, plan: FaultPlan([.init(.of(.close))]))
    let file = try fileSystem.openDirectory("/").open("a", .createNew)
    #expect(try file.tryLock(.exclusive))
    #expect(failure { try file.close() }?.operation == .close)
    #expect(try base.openDirectory("/").open("a", .readWrite).tryLock(.exclusive))
  }
}
