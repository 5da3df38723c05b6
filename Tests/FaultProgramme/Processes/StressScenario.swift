import HeartwoodEngine
import HeartwoodFaults

/// What a stress test of several processes on one store is made of. A line of text says all of it, and repeats it but for the
/// timing, which is the system's.
struct StressScenario: Sendable, Equatable {
  var seed: UInt64
  /// How many processes write all the time, and how many threads each of them has.
  var processes = 2
  var threads = 4
  /// How many more processes open the store, commit a little and close it, again and again.
  var openers = 0
  /// When the test ends: so many commits were acknowledged.
  var commits = 1000
  /// How many processes are killed and started again, and how many are stopped for a moment, on the way.
  var kills = 0
  var stops = 0
  /// In KiB; 0 for the default.
  var checkpoint = 64
  var segment = 64
  var durability = DurabilityMix.full
  var isBuffered = false
  /// What the first thread of each process does now and then, beside its commits.
  var tasks: Set<Task> = []

  enum DurabilityMix: String, CaseIterable, Sendable {
    case full, deferred, mixed
  }

  enum Task: String, CaseIterable, Sendable {
    case checkpoint, reclaim, backup, verify
    /// A second engine, for reading only, that follows the writers.
    case follow
    /// A thread of each process that opens the store for reading only, again and again, and reads all of it.
    case read
    /// Pauses, so that the lease is released because nothing is written.
    case pause
  }

  init(seed: UInt64) { self.seed = seed }

  /// One drawn by a seed.
  ///
  /// - Parameter commits: About how many it has.
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
    // No commit is to be refused, however slow the machine is and however long a process is stopped.
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
  /// Its line.
  var description: String {
    let tasks = tasks.isEmpty ? "none" : tasks.map(\.rawValue).sorted().joined(separator: ",")
    return
      "seed=\(seed) processes=\(processes) threads=\(threads) openers=\(openers) commits=\(commits) kills=\(kills) "
      + "stops=\(stops) checkpoint=\(checkpoint) segment=\(segment) durability=\(durability.rawValue) "
      + "buffered=\(isBuffered) tasks=\(tasks)"
  }

  /// Reads a line; what it does not say is as in `init(seed:)`.
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
