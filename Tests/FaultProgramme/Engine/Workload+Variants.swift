import HeartwoodEngine
import HeartwoodFaults

extension Workload {
  /// The same workload with other sizes, names and durabilities, and some additional steps. Variant 0 is the
  /// workload itself.
  func variant(_ number: Int, seed: UInt64) -> Workload {
    guard number > 0 else { return self }
    var random = SplitMix64(seed: seed &* 0x1_0001 &+ UInt64(number))
    var change = Change(&random)
    // A workload that fills the disk must still fill it.
    if !faults.isEmpty { change.factor = max(100, change.factor) }
    var steps = steps.map { change.of($0, &random) }
    for _ in 0...random.below(3) {
      steps.insert(Self.anyStep(&random), at: random.below(steps.count + 1))
    }
    return Workload(
      "\(description), variant \(number)", preparation: preparation.map { change.of($0, &random) }, steps,
      faults: faults)
  }

  /// The change that is applied to every step.
  private struct Change {
    private let prefix: String
    var factor: Int

    init(_ random: inout SplitMix64) {
      prefix = random.pick(["", "a rather long beginning of a key, ", "ä/", "\u{0}"])
      factor = 25 + random.below(200)
    }

    func of(_ step: Step, _ random: inout SplitMix64) -> Step {
      switch step {
      case .commit(let durability, let edits):
        let other: Durability = random.below(6) == 0 ? .deferred : durability
        return .commit(other, edits.map { of($0, &random) })
      case .elsewhere(let durability, let edits):
        return .elsewhere(durability, edits.map { of($0, &random) })
      case .rollBack(let edits): return .rollBack(edits.map { of($0, &random) })
      case .checkpoint, .reclaim, .backup, .reclaimOfPeer, .otherProcess, .reopen, .kill, .joinFiles:
        return step
      }
    }

    private func of(_ edit: Edit, _ random: inout SplitMix64) -> Edit {
      switch edit {
      case .put(let key, let bytes): .put(prefix + key, bytes: bytes * factor / 100 + random.below(8))
      case .delete(let key): .delete(prefix + key)
      case .deletePrefix(let key): .deletePrefix(prefix + key)
      }
    }
  }

  static func anyStep(_ random: inout SplitMix64) -> Step {
    switch random.below(11) {
    case 9: .backup
    case 10: .reclaimOfPeer
    case 8: .reclaim
    case 0: .checkpoint
    case 1: .reopen
    case 2: .kill
    case 3: .rollBack([.put("given up", bytes: random.below(3000)), .deletePrefix("k")])
    case 4: .commit(.deferred, [.put("extra", bytes: random.below(100)), .delete("k1")])
    case 5: .commit(.full, [.deletePrefix(random.pick(["k", "k1", "l", "extra"]))])
    default: .commit(.full, (0...random.below(5)).map { .put("extra \($0)", bytes: random.below(900)) })
    }
  }
}
