import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@Suite struct FaultPlanTests {
  // MARK: Text form

  @Test func `a printed plan is read back as it was`() throws {
    var numbers = SplitMix64(seed: 2026)
    for _ in 0..<2000 {
      let plan = RandomPlan.next(&numbers)
      #expect(try FaultPlan(parsing: plan.description) == plan, "\(plan)")
      #expect(!plan.description.contains("\n"))
    }
  }

  @Test func `a plan reads like a sentence`() throws {
    let plan: FaultPlan = [
      .fail(.sync, file: "*.log", .nth(3), with: .noSpace, effect: .whole),
      .tear(.every(7), keeping: 512, rest: .foreign),
      .sync(.failsKeepingData, .forever).unlessUnused,
      .flipBits(2, file: "a b", .nth(2), seed: 9),
    ]
    #expect(
      (plan + .fullDisk(after: 4096)).description == """
        space 4096; fail with "no space left" after all on sync of "*.log" at 3; \
        tear keeping 512 and foreign on write every 7; \
        sync that failsKeepingData on sync from 1 may stay unused; \
        flip 2 bits with seed 9 on read of "a b" at 2
        """)
    #expect(FaultPlan().description == "nothing")
  }

  @Test(arguments: [
    "", "fail", "fail with \"x\" on sync", "fail with \"x\" on sink at 1", "fail with \"x\" on sync at 0",
    "fail with \"x on sync at 1", "nothing; nothing", "space", "space x", "reads 0", "space 1;",
    "tear keeping -1 and old on write at 1", "sync that dances on sync at 1", "space 1 2",
    "flip 1 bits with seed -1 on read at 1",
  ])
  func `text that is not a plan is refused`(text: String) {
    #expect(throws: FaultPlan.SyntaxError.self) { try FaultPlan(parsing: text) }
  }

  // MARK: Counted operations

  @Test func `a fault that matched no call is a failure unless it may stay unused`() throws {
    let plan: FaultPlan = [.fail(.rename), .fail(.unlink).unlessUnused, .fail(.size, .nth(2))]
    let error = #expect(throws: FaultPlan.UnusedFaults.self) {
      try plan.run(over: MemoryFileSystem()) { fileSystem in
        _ = try fileSystem.openDirectory("/").open("a", .createNew).size()
      }
    }
    #expect(
      error?.unused == [
        "fail with \"input/output error\" on rename at 1 (of 0 calls)",
        "fail with \"input/output error\" on size at 2 (of 1 calls)",
      ])
    #expect(throws: FaultPlan.UnusedFaults.self, "another plan does not hide it") {
      try plan.run(over: MemoryFileSystem()) { $0.use(FaultPlan()) }
    }
    var limits = FaultPlan(spaceLimit: 1000, largestRead: 3, largestWrite: 3)
    #expect(throws: FaultPlan.UnusedFaults.self) { try limits.run(over: MemoryFileSystem()) { _ in } }
    limits.limitsMayStayUnused = true
    try limits.run(over: MemoryFileSystem()) { _ in }
  }

  @Test func `the report states how many calls each fault met`() throws {
    let plan: FaultPlan = [.fail(.size, .every(3)), .fail(.write, file: "b?")]
    try plan.run(over: MemoryFileSystem()) { fileSystem in
      let file = try fileSystem.openDirectory("/").open("bc", .createNew)
      let failures = (1...10).filter { _ in failure({ _ = try file.size() }) != nil }
      #expect(failures == [3, 6, 9])
      #expect(failure { try file.write([1], at: 0) }?.isInjected == true)
      #expect(fileSystem.report.lines.map(\.calls) == [10, 1])
      #expect(fileSystem.report.lines.map(\.firings) == [3, 1])
      #expect(
        fileSystem.report.description.hasPrefix("fail with \"input/output error\" on size every 3: met 3"))
    }
  }

  @Test(arguments: [
    ("*.log", "/a/1.log", true), ("*.log", "/a/1.log.old", false), ("?.log", "/a/1.log", true),
    ("a*b*c", "/x/aXbbXc", true), ("a*b*c", "/x/aXcX", false), ("/a/*", "/a/b/c", true),
    ("/a/*", "/b/c", false), ("", "/anything", true), ("a", "/b/a", true), ("a", "/a/b", false),
    ("*", "/", true), ("a**", "/a", true), ("?", "/", false),
  ])
  func `patterns match names or paths`(pattern: String, path: String, matches: Bool) throws {
    let plan: FaultPlan = [.fail(.openDirectory, file: pattern, .forever)]
    let fileSystem = FaultInjectingFileSystem(base: MemoryFileSystem(), plan: plan)
    #expect((failure { _ = try fileSystem.openDirectory(path) }?.isInjected == true) == matches)
  }

  @Test func `two file systems share a plan and its counters`() throws {
    let disk = SimulatedFileSystem()
    let first = FaultInjectingFileSystem(
      base: disk.process(named: "first"), plan: [.fail(.entries, .nth(2))])
    let second = first.sharingPlan(over: disk.process(named: "second"))
    _ = try first.openDirectory("/").entries()
    #expect(failure { _ = try second.openDirectory("/").entries() } != nil)
    #expect(first.firingCounts == [1])
  }

  // MARK: Effects

  /// A file on a disk with a fault plan, and the disk itself.
  private func write(
    _ plan: FaultPlan, _ body: (any File) throws -> Void
  ) throws -> [UInt8] {
    let disk = SimulatedFileSystem()
    try plan.run(over: disk) { try body(try $0.openDirectory("/").open("a", .createNew)) }
    return try disk.files()["a"] ?? []
  }

  @Test func `transfers are short, and may be empty`() throws {
    let found = try write([.shorten(.write, .every(2), to: 1), .shorten(.read, to: 0)]) { file in
      let written = try [file.writeOnce([1, 2, 3], at: 0), file.writeOnce([1, 2, 3], at: 3)]
      #expect(written == [3, 1])
      let read = try [file.readOnce(2, at: 0), file.readOnce(2, at: 0)]
      #expect(read == [0, 2])
    }
    #expect(found == [1, 2, 3, 1])
  }

  @Test func `a torn write succeeds and leaves its head`() throws {
    let ones = [UInt8](repeating: 1, count: 8)
    for (rest, expected) in [(TornContent.old, [2, 2, 1, 1]), (.zeros, [2, 2, 0, 0])]
      as [(TornContent, [UInt8])]
    {
      let found = try write([.tear(.nth(2), keeping: 2, rest: rest)]) { file in
        try file.write(ones, at: 0)
        try file.write([2, 2, 2, 2], at: 0)
      }
      #expect(found == expected + [1, 1, 1, 1])
    }
    let foreign = try write([.tear(.nth(2), keeping: 2, rest: .foreign)]) { file in
      try file.write(ones, at: 0)
      try file.write([2, 2, 2, 2, 2, 2], at: 0)
    }
    #expect(
      foreign[..<2] == [2, 2] && foreign[6...] == [1, 1] && foreign[2..<6] != [2, 2, 2, 2])
    #expect(try write([.tear(keeping: 0)]) { try $0.write(ones, at: 0) } == [], "a lost write")
  }

  @Test func `a misdirected write or read goes elsewhere`() throws {
    let found = try write([.misdirect(.write, by: 3), .misdirect(.read, by: -2)]) { file in
      try file.write([7], at: 1)
      #expect(try file.bytes(1, at: 6) == [7])
      #expect(try file.bytes(1, at: 0) == [0])
    }
    #expect(found == [0, 0, 0, 0, 7])
  }

  @Test func `bits turn over in what is read, and not on the disk`() throws {
    let found = try write([.flipBits(1, seed: 5)]) { file in
      try file.write([0, 0, 0, 0], at: 0)
      let read = try file.bytes(4)
      #expect(read.reduce(0) { $0 + $1.nonzeroBitCount } == 1)
      #expect(try file.bytes(4) == [0, 0, 0, 0])
    }
    #expect(found == [0, 0, 0, 0])
  }

  @Test func `syncs misbehave where the plan says so`() throws {
    let disk = SimulatedFileSystem()
    let plan: FaultPlan = [
      .sync(.lies, .nth(2)), .sync(.failsKeepingData, .nth(3)), .sync(.failsRevertingData, .nth(4)),
      .syncDirectory(.lies),
    ]
    try plan.run(over: FaultInjectingFileSystem(base: disk)) { fileSystem in
      let directory = try fileSystem.openDirectory("/")
      let file = try directory.open("a", .createNew)
      try file.sync(.data)
      try directory.sync()
      #expect(disk.unsyncedChangeCount == 1, "the name")
      try file.write([1], at: 0)
      try file.sync(.data)
      #expect(disk.unsyncedChangeCount == 2)
      #expect(failure { try file.sync(.data) }?.isInjected == true)
      #expect(try file.bytes(1) == [1])
      #expect(failure { try file.sync(.data) }?.isInjected == true)
      #expect(try file.bytes(1) == [])
      #expect(disk.unsyncedChangeCount == 1)
      #expect(fileSystem.injectedErrorCount == 2)
    }
  }

  @Test func `on a real disk a lying sync is omitted and a failing one fails`() throws {
    try TemporaryFolder.with { path in
      let plan: FaultPlan = [.sync(.lies), .sync(.failsKeepingData, .nth(2))]
      try plan.run(over: PosixFileSystem()) { fileSystem in
        let file = try fileSystem.openDirectory(path).open("a", .createNew)
        try file.sync(.full)
        #expect(failure { try file.sync(.full) }?.isInjected == true)
      }
    }
  }

  @Test func `the clock jumps when a call is made`() throws {
    let disk = SimulatedFileSystem()
    let before = disk.clock.nanosecondsSince1970
    let plan: FaultPlan = [.jumpClock(by: -3_600_000_000_000, at: .mutations, .nth(2))]
    try plan.run(over: disk) { fileSystem in
      try fileSystem.createDirectory("/a")
      #expect(disk.clock.nanosecondsSince1970 == before)
      try fileSystem.createDirectory("/b")
      #expect(disk.clock.nanosecondsSince1970 == before - 3_600_000_000_000)
    }
  }
}

extension File {
  fileprivate func writeOnce(_ bytes: [UInt8], at offset: Int64) throws -> Int {
    try bytes.withUnsafeBytes { try write($0, at: offset) }
  }

  fileprivate func readOnce(_ count: Int, at offset: Int64) throws -> Int {
    var bytes = [UInt8](repeating: 0, count: count)
    return try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
  }
}

/// Fault plans of all kinds.
private enum RandomPlan {
  static func next(_ numbers: inout SplitMix64) -> FaultPlan {
    var plan = FaultPlan((0..<numbers.below(4)).map { _ in fault(&numbers) })
    if numbers.below(3) == 0 { plan.spaceLimit = Int64(truncatingIfNeeded: numbers.next()) }
    if numbers.below(3) == 0 { plan.largestRead = 1 + numbers.below(1 << 40) }
    if numbers.below(3) == 0 { plan.largestWrite = 1 + numbers.below(10) }
    plan.limitsMayStayUnused = numbers.below(4) == 0
    return plan
  }

  private static func fault(_ numbers: inout SplitMix64) -> FaultPlan.Fault {
    let operations = FileSystemError.Operation.allCases
    let calls: FaultPlan.Calls =
      switch numbers.below(4) {
      case 0: .any
      case 1: .mutations
      default: .of(operations[numbers.below(operations.count)])
      }
    let number = 1 + numbers.below(1000)
    let occurrences: [FaultPlan.Occurrence] = [.nth(number), .every(number), .from(number)]
    let file = numbers.below(2) == 0 ? "" : text(&numbers)
    var fault = FaultPlan.Fault(action(&numbers), on: calls, file: file, occurrences[numbers.below(3)])
    fault.mayStayUnused = numbers.below(3) == 0
    return fault
  }

  private static func action(_ numbers: inout SplitMix64) -> FaultPlan.Action {
    let distance = Int64(truncatingIfNeeded: numbers.next())
    switch numbers.below(7) {
    case 0: return .fail(.init(rawValue: text(&numbers)), FaultPlan.Effect.allCases[numbers.below(3)])
    case 1: return .shorten(to: numbers.below(100))
    case 2: return .tear(keeping: numbers.below(5000), rest: TornContent.allCases[numbers.below(3)])
    case 3: return .misdirect(by: distance)
    case 4: return .flipBits(1 + numbers.below(64), seed: numbers.next())
    case 5: return .sync(SyncBehavior.allCases[numbers.below(SyncBehavior.allCases.count)])
    default: return .jumpClock(by: distance)
    }
  }

  private static func text(_ numbers: inout SplitMix64) -> String {
    let alphabet = Array("ab.*?/ ;\"\\\n\rnä🌳\u{301}")
    return String((0..<(1 + numbers.below(8))).map { _ in alphabet[numbers.below(alphabet.count)] })
  }
}
