import HeartwoodFaults
import HeartwoodFiles
import Testing

@Suite struct CrashExplorerTests {
  struct Lost: Error, CustomStringConvertible {
    let description: String
  }

  /// Stores a series of bytes in a file with `store`, and acknowledges each.
  private static func keepBytes(
    _ store: @escaping (any Directory, [UInt8]) throws -> Void, times count: Int = 3
  ) -> (any FileSystem, (UInt8) -> Void) throws -> Void {
    { fileSystem, acknowledge in
      let directory = try fileSystem.openDirectory("/")
      for byte in 1...UInt8(count) {
        try store(directory, [UInt8](repeating: byte, count: 600))
        acknowledge(byte)
      }
    }
  }

  private static func safely(_ directory: any Directory, _ bytes: [UInt8]) throws {
    let entropy = SeededEntropy(seed: UInt64(bytes[0]))
    try bytes.withUnsafeBytes {
      try AtomicReplacement.replace("a", in: directory, with: $0, entropy: entropy)
    }
  }

  /// Bug: does not sync the bytes before the file gets its name.
  private static func carelessly(_ directory: any Directory, _ bytes: [UInt8]) throws {
    let file = try directory.open("b", .createNew)
    try file.write(bytes, at: 0)
    try file.close()
    try directory.rename("b", to: "a")
    try directory.sync()
  }

  @Sendable private static func verify(_ fileSystem: any FileSystem, _ acknowledged: [UInt8]) throws {
    let last = acknowledged.last ?? 0
    guard let found = try fileSystem.files()["a"] else {
      if last > 0 { throw Lost(description: "no file") }
      return
    }
    guard found.count == 600, Set(found).count == 1 else { throw Lost(description: "\(found.count) bytes") }
    guard found[0] == last || found[0] == last + 1 else { throw Lost(description: "\(found[0]) for \(last)") }
  }

  @Test(arguments: CrashModel.allCases)
  func `a sound workload passes at every call`(crashModel: CrashModel) throws {
    let report = try CrashExplorer(seed: 1, crashModel: crashModel).run(
      acknowledging: UInt8.self, workload: Self.keepBytes(Self.safely), verify: Self.verify)
    try report.check()
    #expect(report.calls == 15)
    #expect(report.images > report.distinctImages)
    #expect(report.distinctImages > (crashModel == .ext4Ordered ? 15 : 60))
    #expect(
      report.description.hasPrefix("15 calls, \(report.images) images, \(report.distinctImages) of them"))
  }

  @Test func `a planted bug is found, minimised, and found again by its line`() throws {
    let explorer = CrashExplorer(seed: 42)
    let report = try explorer.run(
      acknowledging: UInt8.self, workload: Self.keepBytes(Self.carelessly), verify: Self.verify)
    let failure = try #require(report.failure)
    #expect(failure.moment == "call 4, syncDirectory of /")
    #expect(failure.message == "0 bytes")
    #expect(failure.image.description == "of 3 unsynced changes only change 3 (rename of b to a)")
    #expect(failure.reproduction.description == "seed 42 disk hostile crash 4:2")
    #expect(throws: CrashFailure.self) { try report.check() }
    #expect(try failure.image.mounted().files() == ["a": []])

    let again = try CrashExplorer().replay(
      "\(failure.reproduction)", acknowledging: UInt8.self, workload: Self.keepBytes(Self.carelessly),
      verify: Self.verify)
    #expect(again.failure?.description == failure.description)
    #expect(again.images == 1)
    let mended = try CrashExplorer().replay(
      "\(failure.reproduction)", acknowledging: UInt8.self, workload: Self.keepBytes(Self.safely),
      verify: Self.verify)
    #expect(mended.failure == nil)
  }

  @Test func `ext4 preserves what POSIX may lose`() throws {
    var failures: [CrashModel: Bool] = [:]
    for crashModel in CrashModel.allCases {
      failures[crashModel] =
        try CrashExplorer(crashModel: crashModel).run(
          acknowledging: UInt8.self, workload: Self.keepBytes(Self.carelessly), verify: Self.verify
        ).failure != nil
    }
    #expect(failures == [.posix: true, .hostile: true, .ext4Ordered: false])
  }

  @Test func `a torn write is minimised too`() throws {
    let report = try CrashExplorer(seed: 3).run(acknowledging: Int.self) { fileSystem, _ in
      let directory = try fileSystem.openDirectory("/")
      let file = try directory.open("a", .createNew)
      try directory.sync()
      for index in 0..<6 { try file.write([UInt8](repeating: 1, count: 1200), at: Int64(index * 1200)) }
      try file.sync(.full)
    } verify: { fileSystem, _ in
      if try (fileSystem.files()["a"] ?? []).contains(where: { $0 > 1 }) {
        throw Lost(description: "foreign")
      }
    }
    let failure = try #require(report.failure)
    #expect(failure.moment == "call 4, write of /a")
    #expect(failure.image.description.contains("foreign bytes"))
    #expect(failure.reproduction.description.hasPrefix("seed 3 disk hostile crash 4:0~head:"))
  }

  @Test func `faults happen during the workload, and belong to its line`() throws {
    let explorer = CrashExplorer(crashModel: .posix, faults: [.sync(.lies, file: "*.temporary", .nth(2))])
    let report = try explorer.run(
      acknowledging: UInt8.self, workload: Self.keepBytes(Self.safely), verify: Self.verify)
    let failure = try #require(report.failure)
    #expect(
      failure.reproduction.description.hasSuffix(
        " faults sync that lies on sync of \"*.temporary\" at 2"))
    let again = try CrashExplorer().replay(
      "\(failure.reproduction)", acknowledging: UInt8.self, workload: Self.keepBytes(Self.safely),
      verify: Self.verify)
    #expect(again.failure?.description == failure.description)
    let unused = CrashExplorer(faults: [.fail(.unlink)])
    #expect(throws: FaultPlan.UnusedFaults.self) {
      try unused.run(acknowledging: UInt8.self, workload: Self.keepBytes(Self.safely), verify: Self.verify)
    }
  }

  @Test func `crashes in recoveries are found, and replayed`() throws {
    // The journal `j` contains the byte to write to `a`. A recovery that removes the journal before the byte is
    // durable loses it if it crashes.
    let recover: @Sendable (any FileSystem) throws -> Void = { fileSystem in
      let directory = try fileSystem.openDirectory("/")
      guard try directory.entries().contains("j") else { return }
      let byte = try directory.open("j", .readOnly).bytes(1)
      try directory.open("a", .readWrite).write(byte, at: 0)
      try directory.unlink("j")
      try directory.sync()
    }
    let prepare: (any FileSystem) throws -> Void = { fileSystem in
      let directory = try fileSystem.openDirectory("/")
      try directory.open("a", .createNew).write([0], at: 0)
      try directory.open("j", .createNew).write([1], at: 0)
    }
    let verify: @Sendable (any FileSystem, [Int]) throws -> Void = { fileSystem, _ in
      let found = try fileSystem.files()
      if found["a"] != [1] { throw Lost(description: "lost") }
    }
    var explorer = CrashExplorer(crashModel: .posix)
    try explorer.run(prepare: prepare, workload: { _, _ in }, recover: recover, verify: verify).check()
    explorer.recoveryDepth = 1
    explorer.recoveryLimits = CrashImageLimits()
    let report = try explorer.run(prepare: prepare, workload: { _, _ in }, recover: recover, verify: verify)
    let failure = try #require(report.failure)
    #expect(failure.moment == "call 3, syncDirectory of / of recovery 1")
    #expect(failure.reproduction.description == "seed 0 disk posix crash 1:none crash 3:1")
    #expect(report.recoveryCalls == 3)
    let again = try CrashExplorer().replay(
      "\(failure.reproduction)", prepare: prepare, workload: { _, _ in }, recover: recover, verify: verify)
    #expect(again.failure?.description == failure.description)
  }

  @Test func `a workload of two processes is explored as one, and continues when one is killed`() throws {
    let report = try CrashExplorer(seed: 5).run(acknowledging: UInt8.self) { fileSystem, acknowledge in
      let disk = try #require(fileSystem.disk)
      let victim = disk.process(named: "victim")
      let first = try fileSystem.sharingPlan(over: victim).openDirectory("/").open("lock", .createNew)
      #expect(try first.tryLock(.exclusive))
      let second = try fileSystem.sharingPlan(over: disk.process(named: "heir")).openDirectory("/")
      #expect(try !second.open("lock", .readWrite).tryLock(.exclusive))
      victim.kill()
      #expect(failure { try first.write([1], at: 0) }?.code == .processKilled)
      #expect(try second.open("lock", .readWrite).tryLock(.exclusive))
      try Self.safely(second, [UInt8](repeating: 1, count: 600))
      acknowledge(1)
    } verify: {
      try Self.verify($0, $1)
    }
    try report.check()
    #expect(report.calls == 7)
  }

  @Test func `text that is not a line of this workload is not replayed`() {
    for line in [
      "", "seed 1 disk hostile", "seed 1 disk hostile crash 0:1", "seed x disk posix crash 1:1",
      "seed 1 disk fat crash 1:1", "seed 1 disk posix crash 1:3-1", "seed 1 disk posix crash 1:1~head:512",
      "seed 1 disk posix crash 1:1 faults everything", "seed 1 disk posix crash 999:1",
    ] {
      #expect(throws: CrashReplayError.self, "\(line)") {
        try CrashExplorer().replay(
          line, acknowledging: UInt8.self, workload: Self.keepBytes(Self.safely, times: 1),
          verify: Self.verify)
      }
    }
    for line in [
      "seed 1 disk posix crash 1:none", "seed 18446744073709551615 disk ext4Ordered crash 7:0-3,9~odd:zeros",
      "seed 1 disk hostile crash 1:3,0-1,2~tail:5:old,4 crash 2:1~head:0:foreign",
    ] {
      #expect(CrashReproduction(line)?.description == line)
    }
  }
}
