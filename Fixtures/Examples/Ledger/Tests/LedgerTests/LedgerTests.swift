import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Ledger
import Testing

@Suite struct `A ledger on disks that fail` {
  private struct Wrong: Error {
    let findings: [String]
  }

  private struct Lost: Error {
    let reasons: Set<String>
  }

  /// A ledger on a disk; each run of a test does the same.
  private static func open(_ fileSystem: any FileSystem) throws -> Ledger {
    try Ledger(
      at: "/ledger", on: fileSystem,
      options: EngineOptions(
        segmentBytes: 64 << 10, worker: InlineWorker(), clock: SimulatedClock(),
        entropy: SeededEntropy(seed: 1)))
  }

  /// - Throws: `Wrong` if the rule of the ledger is broken.
  private static func check(_ ledger: Ledger) throws {
    let findings = try ledger.audit()
    guard findings.isEmpty else { throw Wrong(findings: findings) }
  }

  @Test func `the balances are right after every crash, and no transfer that was acknowledged is lost`()
    throws
  {
    let report = try CrashExplorer(seed: 1).run(acknowledging: String.self) { fileSystem, acknowledge in
      let ledger = try Self.open(fileSystem)
      for (amount, reason) in [(Int64(30), "bread"), (12, "stamps"), (7, "tea")] {
        try ledger.transfer(amount, from: "Ada", to: "Bob", for: reason)
        acknowledge(reason)
      }
      try ledger.close()
    } verify: { fileSystem, acknowledged in
      let ledger = try Self.open(fileSystem)
      try Self.check(ledger)
      let lost = Set(acknowledged).subtracting(try ledger.context.fetch(Transfer.self).map(\.reason))
      guard lost.isEmpty else { throw Lost(reasons: lost) }
      try ledger.close()
    }
    try report.check()
    #expect(report.distinctImages > 50)
  }

  @Test func `two saves for what belongs together are found`() throws {
    let report = try CrashExplorer(seed: 1).run(acknowledging: String.self) { fileSystem, _ in
      let ledger = try Self.open(fileSystem)
      let (ada, bob) = (try ledger.account("Ada"), try ledger.account("Bob"))
      ada.balance -= 30
      try ledger.context.save()
      bob.balance += 30
      try ledger.context.save()
    } verify: { fileSystem, _ in
      try Self.check(try Self.open(fileSystem))
    }
    #expect(report.failure != nil)
  }

  @Test func `a transfer on a full disk moves nothing, and the next one with room succeeds`() throws {
    try FaultPlan.fullDisk(after: 300_000).run(over: SimulatedFileSystem()) { fileSystem in
      let ledger = try Self.open(fileSystem)
      let reason = String(repeating: "bread ", count: 2000)
      #expect(throws: HeartwoodError.self) {
        while true { try ledger.transfer(1, from: "Ada", to: "Bob", for: reason) }
      }
      try Self.check(ledger)
      #expect(!ledger.context.hasChanges)
      fileSystem.use(FaultPlan())
      try ledger.transfer(1, from: "Ada", to: "Bob", for: "tea")
      try Self.check(ledger)
      try ledger.close()
    }
  }

  @Test func `a ledger whose disk refuses a sync is right when it is opened again`() throws {
    let disk = SimulatedFileSystem()
    try FaultPlan([.fail(.sync, file: "*.log", .nth(4))]).run(over: disk) { fileSystem in
      let ledger = try Self.open(fileSystem)
      #expect(throws: HeartwoodError.self) {
        for number in 0..<10 { try ledger.transfer(1, from: "Ada", to: "Bob", for: "\(number)") }
      }
      // It is unknown what is on the disk: nothing more is written until the store is opened again.
      #expect(throws: HeartwoodError.self) { try ledger.transfer(1, from: "Ada", to: "Bob", for: "tea") }
      try? ledger.close()
    }
    let ledger = try Self.open(disk)
    try Self.check(ledger)
    try ledger.transfer(1, from: "Ada", to: "Bob", for: "tea")
    try ledger.close()
  }
}
