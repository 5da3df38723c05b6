/// Chooses the thread that runs next.
protocol ScheduleStrategy: AnyObject {
  /// - Returns: The index of one of at least two options.
  func choose(at place: Schedule.Place, among options: [Scheduler.Option]) -> Int
}

/// Follows a schedule, and records the alternatives after its last switch.
final class FollowedSchedule: ScheduleStrategy {
  /// An alternative choice and its cost in preemptions.
  struct Branch {
    var change: Schedule.Switch
    var cost: Int
  }

  private let next: [Schedule.Place: Int]
  private var left: Int
  private let notesBranches: Bool
  private(set) var branches: [Branch] = []

  init(_ schedule: Schedule, notesBranches: Bool = false) {
    next = Dictionary(schedule.switches.map { ($0.place, $0.next) }) { first, _ in first }
    left = next.count
    self.notesBranches = notesBranches
  }

  /// Whether every switch of the schedule was made.
  var isFollowed: Bool { left == 0 }

  func choose(at place: Schedule.Place, among options: [Scheduler.Option]) -> Int {
    guard left > 0 else {
      if notesBranches { note(place, options) }
      return 0
    }
    guard let thread = next[place], let index = options.firstIndex(where: { $0.thread == thread }) else {
      return 0
    }
    left -= 1
    return index
  }

  private func note(_ place: Schedule.Place, _ options: [Scheduler.Option]) {
    for option in options.dropFirst() {
      branches.append(
        Branch(change: Schedule.Switch(place: place, next: option.thread), cost: option.cost))
    }
  }
}

/// Switches to a random thread at random points.
final class RandomSwitches: ScheduleStrategy {
  private var random: SplitMix64
  /// One point in this many picks a random thread.
  private let rarity: Int

  init(_ random: SplitMix64, rarity: Int) {
    self.random = random
    self.rarity = rarity
  }

  func choose(at place: Schedule.Place, among options: [Scheduler.Option]) -> Int {
    random.below(rarity) == 0 ? random.below(options.count) : 0
  }
}

/// Runs the thread with the highest priority. Priorities are random and change at a few random points: a bug
/// that needs this many changes is found with a probability that does not depend on how long the program runs
/// before it.
final class RandomPriorities: ScheduleStrategy {
  private var random: SplitMix64
  private var priorities: [Int: Int] = [:]
  private var lowest = 0
  private var count = 0
  private let changes: Set<Int>

  init(_ random: SplitMix64, changes: Int, length: Int) {
    var random = random
    self.changes = Set((0..<changes).map { _ in random.below(max(length, 1)) })
    self.random = random
  }

  func choose(at place: Schedule.Place, among options: [Scheduler.Option]) -> Int {
    count += 1
    let canContinue = options.contains { $0.thread == place.thread && !$0.isAsleep }
    if changes.contains(count) || !canContinue { demote(place.thread) }
    var best = 0
    for index in options.indices where priority(options[index].thread) > priority(options[best].thread) {
      best = index
    }
    return best
  }

  /// Lowers a thread below all others. Otherwise a thread that polls for a change would keep the others from
  /// making it.
  private func demote(_ thread: Int) {
    lowest -= 1
    priorities[thread] = lowest
  }

  private func priority(_ thread: Int) -> Int {
    if let priority = priorities[thread] { return priority }
    let priority = random.below(1 << 30)
    priorities[thread] = priority
    return priority
  }
}
