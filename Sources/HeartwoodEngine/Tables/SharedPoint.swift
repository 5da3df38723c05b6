import Synchronization

/// A point of the log that any thread reads and moves without a system lock.
///
/// A reader that sees a concurrent change retries (a sequence lock: Lameter, "Effective Synchronization on
/// Linux/NUMA Systems", 2005).
final class SharedPoint: Sendable {
  /// Odd while the point is being moved.
  private let version = Atomic<UInt64>(0)
  private let segment: Atomic<UInt32>
  private let offset: Atomic<Int>
  private let sequence: Atomic<UInt64>
  private let chain: Atomic<UInt64>
  private let generation: Atomic<UInt64>

  init(_ point: LogPoint) {
    segment = Atomic(point.position.segment)
    offset = Atomic(point.position.offset)
    sequence = Atomic(point.sequence)
    chain = Atomic(point.chain)
    generation = Atomic(point.generation)
  }

  /// The current value.
  var now: LogPoint {
    while true {
      let before = version.load(ordering: .acquiring)
      let point = LogPoint(
        position: LogPosition(
          segment: segment.load(ordering: .acquiring), offset: offset.load(ordering: .acquiring)),
        sequence: sequence.load(ordering: .acquiring), chain: chain.load(ordering: .acquiring),
        generation: generation.load(ordering: .acquiring))
      if before & 1 == 0, version.load(ordering: .relaxed) == before { return point }
    }
  }

  /// Moves the point. One thread at a time; another retries until the first is done, as a reader does.
  func move(to point: LogPoint) {
    var moves = version.load(ordering: .relaxed) & ~1
    while true {
      let (isOurs, version) = version.weakCompareExchange(
        expected: moves, desired: moves &+ 1, ordering: .acquiring)
      if isOurs { break }
      moves = version & ~1
    }
    segment.store(point.position.segment, ordering: .releasing)
    offset.store(point.position.offset, ordering: .releasing)
    sequence.store(point.sequence, ordering: .releasing)
    chain.store(point.chain, ordering: .releasing)
    generation.store(point.generation, ordering: .releasing)
    version.store(moves &+ 2, ordering: .releasing)
  }
}
