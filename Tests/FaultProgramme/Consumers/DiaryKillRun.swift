import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// A diary on the real file system whose processes are killed again and again, one after the other and one beside the others.
struct DiaryKillRun {
  /// The counts of a run.
  struct Report: Sendable {
    var kills = 0
    var entries = 0
    var acknowledgements = 0
  }

  let seed: UInt64
  let roles: [DiaryRole]
  let program: URL

  /// Two writers, each with a consumer, and a process that holds, releases, deletes history and compacts.
  static let withHolds: [DiaryRole] = [.firstWriter, .secondWriter, .keeper]
  /// Two writers beside a shipper and a follower.
  static let followed: [DiaryRole] = [.firstWriter, .secondWriter, .cleaner, .shipper, .follower]

  init(
    seed: UInt64, roles: [DiaryRole], program: URL = URL(fileURLWithPath: CommandLine.arguments[0])
  ) {
    (self.seed, self.roles, self.program) = (seed, roles, program)
  }

  /// Kills at least this many processes. After each round, in which all were killed, the whole store is checked. Its folder is kept if something is
  /// found.
  func run(kills: Int) throws -> Report {
    let folder = FileManager.default.temporaryDirectory.appending(path: "diary-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let places = DiaryPlaces(folder: folder.path)
    try KilledProcess.inheritance.withLock {
      let container = try places.open()
      try Diary.prepare(container)
      try container.close()
    }
    var random = SplitMix64(seed: seed)
    var ledger = DiaryLedger()
    var report = Report()
    while report.kills < kills {
      do {
        try killAll(places, &random, &ledger, &report)
        report.entries = try KilledProcess.inheritance.withLock { try look(places, &ledger) }
      } catch {
        throw Finding("seed \(seed), after \(report.kills) kills: \(error); \(folder.path) is as it was then")
      }
    }
    try FileManager.default.removeItem(at: folder)
    report.acknowledgements = ledger.count
    return report
  }

  /// Starts a process for each role, and kills them in any order; the first one may be started again beside the others.
  private func killAll(
    _ places: DiaryPlaces, _ random: inout SplitMix64, _ ledger: inout DiaryLedger, _ report: inout Report
  ) throws {
    var children: [DiaryProcess] = []
    var life = report.kills
    // Those that are left if something is found.
    defer { for child in children { _ = child.kill() } }
    func start(_ role: DiaryRole) throws {
      ledger.begin(role)
      children.append(try DiaryProcess(program, places, role, life: Int(seed % 1_000_003) * 100_000 + life))
      life += 1
    }
    for role in roles { try start(role) }
    for place in 0..<roles.count {
      let child = children.remove(at: random.below(children.count))
      let lines = try Self.kill(child, &random)
      for line in lines { try ledger.take(line) }
      if place == 0, random.below(2) == 0 { try start(child.role) }
    }
    while let child = children.popLast() {
      for line in try Self.kill(child, &random) { try ledger.take(line) }
    }
    report.kills = life
  }

  /// Kills a process while it opens the store, or after it has done something.
  private static func kill(_ child: DiaryProcess, _ random: inout SplitMix64) throws -> [String] {
    let wanted = child.role.isSilent || random.below(4) == 0 ? 0 : 1 + random.below(5)
    let lines: [String]
    do {
      lines = try child.lines(wanted)
    } catch {
      throw Finding("\(error): \(child.kill())")
    }
    usleep(UInt32(random.below(wanted == 0 ? 30_000 : 3_000)))
    return lines + child.kill()
  }

  /// - Returns: The number of entries.
  private func look(_ places: DiaryPlaces, _ ledger: inout DiaryLedger) throws -> Int {
    let container = try places.open()
    let facts = try DiaryFacts(of: container)
    try ledger.settle(facts)
    let report = try container.persistentStoreCoordinator.verify()
    try require(report.isSound, "not sound: \(report.findings)")
    if roles.contains(.follower) { try follow(places, facts, ledger.followed) }
    try container.close()
    for name in try PosixFileSystem().openDirectory(places.store).entries() {
      try require(Self.isExpected(name), "there is a file left over, \(name)")
    }
    return facts.objects.entries.count
  }

  /// A shipper that was killed while it made the lineage of the store has left the file that was to become it.
  private static func isExpected(_ name: String) -> Bool {
    StoreChecker.isExpected(name) || ["holds", "lineage"].contains(name)
      || name.hasPrefix("lineage.") && AtomicReplacement.isTemporary(name)
  }

  /// Ships and follows what is left: then the follower's store is the same.
  private func follow(_ places: DiaryPlaces, _ facts: DiaryFacts, _ followed: UInt64) throws {
    let engine = try Engine(
      at: places.store, options: EngineOptions(access: .readOnly, createsStore: false))
    let shipper = Shipper(
      engine, to: try FolderDestination(places.destination, creates: true), options: DiaryChild.shipping)
    try shipper.ship()
    let follower = Follower(from: try FolderDestination(places.destination), to: places.copy)
    let report = try follower.advance()
    follower.close()
    try require(
      report.generation == engine.newestGeneration && report.generation.rawValue >= followed,
      "the follower is at \(report.generation), the store at \(engine.newestGeneration)")
    try engine.close()
    let copy = try places.open(isReadOnly: true, at: places.copy)
    let found = try DiaryFacts(of: copy)
    let findings = try copy.persistentStoreCoordinator.verify().findings
    try copy.close()
    try require(findings.isEmpty, "the follower's store is not sound: \(findings)")
    let differing = Set(found.lines).symmetricDifference(facts.lines).sorted().prefix(6)
    try require(found.lines == facts.lines, "the follower's store differs: \(differing)")
  }
}
