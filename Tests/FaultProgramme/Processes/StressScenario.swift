import HeartwoodEngine
import HeartwoodFaults

/// The parameters of a stress test of several processes on one store. A line of text describes all of them
/// and repeats the test, except for its timing.
struct StressScenario: Sendable, Equatable {
  var seed: UInt64
  /// The number of processes that write all the time, and the number of threads in each.
  var processes = 2
  var threads = 4
  /// The number of additional processes that repeatedly open the store, commit a little and close it.
  var openers = 0
  /// The number of acknowledged commits after which the test ends.
  var commits = 1000
  /// The number of times that a process is killed and restarted, and that a process is suspended for a
  /// moment.
  var kills = 0
  var stops = 0
  /// The log size in KiB between checkpoints; 0 for the default.
  var checkpoint = 64
  var segment = 64
  var durability = DurabilityMix.full
  var isBuffered = false
  /// The additional tasks of the first thread of each process.
  var tasks: Set<Task> = []

  enum DurabilityMix: String, CaseIterable, Sendable {
    case full, deferred, mixed
  }

  enum Task: String, CaseIterable, Sendable {
    case checkpoint, reclaim, backup, verify
    /// A second, read-only engine that follows the writers.
    case follow
    /// A thread of each process that repeatedly opens the store read-only and reads all of it.
    case read
    /// Pauses, after which the idle lease is released.
    case pause
  }

  init(seed: UInt64) { self.seed = seed }

  /// A scenario drawn with a seed.
  ///
  /// - Parameter commits: The approximate number of commits.
  init(drawnBy seed: UInt64, commits: Int) {
    self.seed = seed
    var random = SplitMix64(seed: seed)
    processes = [2, 2, 3, 4, 8][random.below(5)]
    threads = [1, 1, 2, 4, 8, 16][random.below(6)]
    openers = random.below(3) == 0 ? 1 + random.below(2) : 0
    self.commits = commits
    kills = random.below(2) == 0 ? 1 + random.below(4) : 0
    stops = random.below(3) == 0 ? 1 + random.below(3) : 0
    checkpoint = [64, 64, 128, 256, 1024, 0][random.below(6)]
    segment = [64, 64, 256, 0][random.below(4)]
    durability = DurabilityMix.allCases[random.below(3)]
    isBuffered = random.below(4) == 0
    tasks = Set(Task.allCases.filter { _ in random.below(3) == 0 })
  }

  var options: EngineOptions {
    var options = EngineOptions(reading: isBuffered ? .buffered : .mapped)
    if checkpoint > 0 { options.checkpointBytes = checkpoint << 10 }
    if segment > 0 { options.segmentBytes = segment << 10 }
    if checkpoint > 0 { options.toleratedGarbage = checkpoint << 10 }
    // Long enough that no commit is refused, however slow the machine is and however long a process is
    // suspended.
    options.busyTimeout = 300
    return options
  }

  func durability(of number: Int) -> Durability {
    switch durability {
    case .full: .full
    case .deferred: .deferred
    case .mixed: number % 3 == 0 ? .full : .deferred
    }
  }
}

extension StressScenario: CustomStringConvertible {
  /// The scenario as a line.
  var description: String {
    let tasks = tasks.isEmpty ? "none" : tasks.map(\.rawValue).sorted().joined(separator: ",")
    return
      "seed=\(seed) processes=\(processes) threads=\(threads) openers=\(openers) commits=\(commits) kills=\(kills) "
      + "stops=\(stops) checkpoint=\(checkpoint) segment=\(segment) durability=\(durability.rawValue) "
      + "buffered=\(isBuffered) tasks=\(tasks)"
  }

  /// Parses a line. Parameters that are missing have the values of `init(seed:)`.
  init(line: some StringProtocol) throws {
    self.init(seed: 1)
    for field in line.split(separator: " ") {
      let pair = String(field).split(separator: "=").map { String($0) }
      guard pair.count == 2, try set(pair[0], pair[1]) else {
        throw Finding("a scenario has no field \(field)")
      }
    }
  }

  private mutating func set(_ name: String, _ value: String) throws -> Bool {
    func number<Number: LosslessStringConvertible>() throws -> Number {
      guard let number = Number(value) else { throw Finding("\(name) is no number: \(value)") }
      return number
    }
    switch name {
    case "seed": seed = try number()
    case "processes": processes = try number()
    case "threads": threads = try number()
    case "openers": openers = try number()
    case "commits": commits = try number()
    case "kills": kills = try number()
    case "stops": stops = try number()
    case "checkpoint": checkpoint = try number()
    case "segment": segment = try number()
    case "durability": durability = DurabilityMix(rawValue: value) ?? .full
    case "buffered": isBuffered = value == "true"
    case "tasks": tasks = Set(value.split(separator: ",").compactMap { Task(rawValue: String($0)) })
    default: return false
    }
    return true
  }
}
