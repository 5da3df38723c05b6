import Foundation
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// One store on the real file system that three processes write at the same time, one of which is killed now and then and
/// begun anew, while this one reads.
struct CrowdRun {
  let seed: UInt64
  var program = URL(fileURLWithPath: CommandLine.arguments[0])

  static let names = ["a", "b", "c"]

  /// Small, so that others take checkpoints and give space back all the time.
  static var options: EngineOptions {
    var options = EngineOptions(segmentBytes: 64 << 10, checkpointBytes: 64 << 10)
    options.toleratedGarbage = 64 << 10
    options.busyTimeout = 60
    return options
  }

  /// - Returns: how many transactions there are in the end.
  @discardableResult
  func run(kills: Int) throws -> Int {
    let folder = FileManager.default.temporaryDirectory.appending(path: "crowd-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "store").path
    try Engine(at: path, options: Self.options).close()
    var random = SplitMix64(seed: seed)
    var processes = try Self.names.map { try CrowdProcess(program, path, $0, acknowledged: 0) }
    defer { for process in processes { process.kill() } }
    var options = Self.options
    options.access = .readOnly
    let reader = try Engine(at: path, options: options)
    for _ in 0..<kills {
      let victim = random.below(processes.count)
      try processes[victim].wait(for: 1 + random.below(60))
      usleep(UInt32(random.below(1500)))
      processes[victim].kill()
      let (name, acknowledged) = (processes[victim].name, processes[victim].acknowledged)
      try check(try reader.snapshot(), of: [name: acknowledged], "read beside")
      processes[victim] = try CrowdProcess(program, path, name, acknowledged: acknowledged)
    }
    for process in processes { process.kill() }
    try reader.close()
    let engine = try Engine(at: path, options: Self.options)
    let snapshot = try engine.snapshot()
    try check(
      snapshot, of: Dictionary(uniqueKeysWithValues: processes.map { ($0.name, $0.acknowledged) }),
      "at the end")
    let report = try engine.verify()
    try require(report.isSound, "\(report.findings)")
    try engine.close()
    for process in processes { try checkBackup(at: CrowdVictim.backup(of: path, by: process.name)) }
    return try CrowdVictim.number(snapshot, "count")
  }

  /// What a process has copied before it died is whole, or is no store.
  private func checkBackup(at path: String) throws {
    var options = Self.options
    options.createsStore = false
    do {
      let backup = try Engine(at: path, options: options)
      try CrowdVictim.check(try backup.snapshot(), "in the backup")
      let findings = try backup.verify().findings
      try require(findings == [], "\(findings)")
      try backup.close()
    } catch let error as EngineError {
      try require(error.code == .notFound || error.code == .notAStore, "the backup: \(error)")
    }
  }

  private func check(_ snapshot: Snapshot, of acknowledged: [String: Int], _ moment: String) throws {
    for (name, number) in acknowledged {
      let found = try CrowdVictim.number(snapshot, name)
      try require(found >= number, "\(moment) \(name) has \(found) transactions, \(number) were acknowledged")
    }
    try CrowdVictim.check(snapshot, moment)
  }
}

/// One of the processes, as the one that kills it sees it.
private final class CrowdProcess {
  let name: String
  /// The last of its transactions that it has told of.
  private(set) var acknowledged: Int
  private let process = Process()
  private let pipe = Pipe()
  private var rest = Data()

  init(_ program: URL, _ path: String, _ name: String, acknowledged: Int) throws {
    self.name = name
    self.acknowledged = acknowledged
    process.executableURL = program
    process.arguments = ["victim", path, name, CrowdVictim.kind]
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    process.standardOutput = pipe
    try process.run()
  }

  /// Waits until it has told of so many more.
  func wait(for more: Int) throws {
    let wanted = acknowledged + more
    while acknowledged < wanted {
      let data = pipe.fileHandleForReading.availableData
      try require(!data.isEmpty, "process \(name) ended by itself after its transaction \(acknowledged)")
      take(data)
    }
  }

  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    take(pipe.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
  }

  private func take(_ data: Data) {
    rest += data
    // A line that was cut short by the death is none.
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      if let number = Int(String(decoding: rest[..<end], as: UTF8.self)) { acknowledged = number }
      rest = Data(rest[(end + 1)...])
    }
  }
}

/// A process that counts its own transactions, and those of all, in every one of them. Now and then it gives space back,
/// makes a backup and verifies, while the others write.
enum CrowdVictim {
  static let kind = "crowd"

  static func run(at path: String, name: String) throws -> Never {
    let engine = try Engine(at: path, options: CrowdRun.options)
    var last = 0
    while true {
      let (own, count) = try engine.write { transaction in
        let own = try number(transaction, name) + 1
        let count = try number(transaction, "count") + 1
        try transaction.put(name, bytes(own))
        try transaction.put("count", bytes(count))
        try transaction.put(
          "\(name) \(own % 40)", [UInt8](repeating: UInt8(truncatingIfNeeded: own), count: own % 900))
        return (own, count)
      }
      // Everything that it has seen stays.
      try require(count > last, "\(name): transaction \(count) comes after \(last)")
      last = count
      FileHandle.standardOutput.write(Data("\(own)\n".utf8))
      if own % 7 == 0 { try check(try engine.snapshot(), name) }
      if own % 31 == 0 { _ = try engine.reclaim() }
      if own % 37 == 0 { _ = try engine.backup(to: backup(of: path, by: name)) }
      if own % 41 == 0 {
        let findings = try engine.verify().findings
        try require(findings == [], "\(name): \(findings)")
      }
    }
  }

  static func backup(of path: String, by name: String) -> String { "\(path)-\(name)" }

  /// Whether the transactions of all add up, and every value is that of one.
  static func check(_ snapshot: Snapshot, _ moment: String) throws {
    var sum = 0
    for name in CrowdRun.names {
      let own = try number(snapshot, name)
      sum += own
      for number in max(1, own - 39)...max(1, own) where own > 0 {
        let expected = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 900)
        try require(
          try snapshot.get(Array("\(name) \(number % 40)".utf8)) == expected,
          "\(moment): the value of transaction \(number) of \(name) is another one")
      }
    }
    let count = try number(snapshot, "count")
    try require(sum == count, "\(moment): \(count) transactions, and those of all are \(sum)")
  }

  static func number(_ reader: some KeyValueReader, _ key: String) throws -> Int {
    guard let bytes = try reader.get(Array(key.utf8)) else { return 0 }
    return Int(String(decoding: bytes, as: UTF8.self)) ?? -1
  }

  private static func bytes(_ number: Int) -> [UInt8] { Array("\(number)".utf8) }
}
