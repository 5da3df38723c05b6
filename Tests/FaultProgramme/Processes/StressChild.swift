import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// A process of a stress test. Its threads commit until its output or its input is closed.
///
///     FaultProgramme stress-child PATH NAME ROLE SCENARIO-LINE
///
/// It prints a line for each commit that has returned, before the thread starts the next: the name of the
/// thread and the number of the commit in this thread.
final class StressChild: @unchecked Sendable {
  enum Role: String {
    case writer
    /// Repeatedly opens the store, commits a little and closes it.
    case opener
  }

  static let command = "stress-child"

  private let path: String
  private let name: String
  private let scenario: StressScenario
  private let isEnding = Guarded(false)

  private init(_ path: String, _ name: String, _ scenario: StressScenario) {
    (self.path, self.name, self.scenario) = (path, name, scenario)
  }

  static func run(_ words: [String]) throws -> Never {
    Worker.limitTime()
    guard words.count > 3, let role = Role(rawValue: words[2]) else {
      throw Finding("usage: \(command) PATH NAME ROLE SCENARIO")
    }
    let scenario = try StressScenario(line: words[3...].joined(separator: " "))
    let child = StressChild(words[0], words[1], scenario)
    Thread.detachNewThread {
      // The end of the input is the request to end.
      while !FileHandle.standardInput.availableData.isEmpty {}
      child.isEnding.withLock { $0 = true }
    }
    do {
      try role == .writer ? child.write() : child.openAgainAndAgain()
    } catch {
      say("! \(words[1]): \(error)")
      exit(1)
    }
    exit(0)
  }

  /// The names of the threads of a process.
  static func threads(of name: String, _ role: Role, _ scenario: StressScenario) -> [String] {
    (0..<(role == .writer ? scenario.threads : 1)).map { "\(name).\($0)" }
  }

  static func backup(of path: String, by name: String) -> String { "\(path)-\(name)" }

  private var hasToEnd: Bool { isEnding.withLock { $0 } }

  private static func say(_ line: String) {
    // A single write of so few bytes is atomic in a pipe.
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }

  // MARK: Roles

  private func write() throws {
    let engine = try Engine(at: path, options: scenario.options)
    let names = Self.threads(of: name, .writer, scenario)
    let failure = Guarded<String?>(nil)
    let threads = DispatchGroup()
    func start(_ thread: String, _ body: @escaping @Sendable () throws -> Void) {
      threads.enter()
      Thread.detachNewThread { [self] in
        defer { threads.leave() }
        do {
          try body()
        } catch {
          failure.withLock { $0 = $0 ?? "\(thread): \(error)" }
          isEnding.withLock { $0 = true }
        }
      }
    }
    for (index, thread) in names.enumerated() {
      start(thread) { [self] in try commit(engine, as: thread, hasTasks: index == 0) }
    }
    if scenario.tasks.contains(.read) { start("\(name).reader") { [self] in try openAndRead() } }
    threads.wait()
    if let failure = failure.withLock({ $0 }) { throw Finding(failure) }
    try engine.close()
  }

  private func openAgainAndAgain() throws {
    while !hasToEnd {
      let engine = try Engine(at: path, options: scenario.options)
      for _ in 0..<3 { try commitOnce(engine, as: "\(name).0", after: 0) }
      try engine.close()
    }
  }

  private func openAndRead() throws {
    let writers = (0..<scenario.processes).flatMap { Self.threads(of: "p\($0)", .writer, scenario) }
    let openers = (0..<scenario.openers).map { "p\(scenario.processes + $0).0" }
    var options = scenario.options
    options.access = .readOnly
    var last = 0
    while !hasToEnd {
      let engine = try Engine(at: path, options: options)
      for _ in 0..<40 where !hasToEnd {
        let snapshot = try engine.snapshot()
        try requireAtLeast(last, in: snapshot)
        last = try StressContents.number(snapshot, StressContents.counter)
        try StressContents.check(snapshot, writers + openers, "read by \(name)")
      }
      try engine.close()
    }
  }

  // MARK: Committing

  private func commit(_ engine: Engine, as thread: String, hasTasks: Bool) throws {
    var last = 0
    var own = 0
    var follower: Engine?
    while !hasToEnd {
      (own, last) = try commitOnce(engine, as: thread, after: last)
      if scenario.tasks.contains(.pause), own % 23 == 0 { usleep(UInt32(own % 50) * 1000) }
      if own % 7 == 0 { try requireAtLeast(last, in: try engine.snapshot()) }
      if hasTasks { try runTasks(own, engine, &follower, last) }
    }
    try follower?.close()
  }

  @discardableResult
  private func commitOnce(_ engine: Engine, as thread: String, after last: Int) throws -> (own: Int, all: Int)
  {
    var numbers = (own: 0, all: 0)
    // Depends on the seed, so that the threads of a scenario make different choices.
    try engine.write(durability: scenario.durability(of: last &+ thread.utf8.count)) { transaction in
      numbers = try StressContents.write(transaction, as: thread)
    }
    // Commits that the thread has seen must not disappear.
    try require(numbers.all > last, "\(thread): commit \(numbers.all) of all comes after \(last)")
    Self.say("\(thread) \(numbers.own)")
    return numbers
  }

  private func runTasks(_ own: Int, _ engine: Engine, _ follower: inout Engine?, _ last: Int) throws {
    let tasks = scenario.tasks
    if tasks.contains(.checkpoint), own % 19 == 0 { try engine.checkpoint() }
    if tasks.contains(.reclaim), own % 31 == 0 { _ = try engine.reclaim() }
    if tasks.contains(.backup), own % 37 == 0 { _ = try engine.backup(to: Self.backup(of: path, by: name)) }
    if tasks.contains(.verify), own % 41 == 0 {
      let findings = try engine.verify().findings
      try require(findings == [], "\(name): \(findings)")
    }
    if tasks.contains(.follow), own % 11 == 0 {
      if follower == nil {
        var options = scenario.options
        options.access = .readOnly
        follower = try Engine(at: path, options: options)
      }
      if let follower { try requireAtLeast(last, in: try follower.snapshot()) }
      if own % 55 == 0 {
        try follower?.close()
        follower = nil
      }
    }
  }

  /// Checks that a snapshot contains everything that its thread has seen before.
  private func requireAtLeast(_ least: Int, in snapshot: Snapshot) throws {
    let found = try StressContents.number(snapshot, StressContents.counter)
    try require(found >= least, "\(name): a snapshot has \(found) commits, after one of \(least)")
  }
}
