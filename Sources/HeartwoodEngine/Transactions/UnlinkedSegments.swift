import HeartwoodFiles

/// How much is in segments that are unlinked but stay open. Any thread.
final class UnlinkedTotals: Sendable {
  struct Totals: Sendable {
    var files = 0
    var bytes: Int64 = 0
  }
  private let totals = Guarded(Totals())

  var now: Totals { totals.withLock { $0 } }
  fileprivate func set(_ new: Totals) { totals.withLock { $0 = new } }
}

/// Segments that are unlinked but stay open, because pinned generations need them.
///
/// A segment is needed by the generations that can refer to it: from the first one that could when it came to be part of the store, to the
/// last one before it was retired. So a generation that is pinned for long keeps the files of its own time, and none that were made since.
struct UnlinkedSegments {
  private struct Segment {
    let number: UInt32
    let isLog: Bool
    /// The first generation that can refer to it.
    let first: UInt64
    /// The first generation after that which can't.
    let retired: UInt64
    let bytes: Int64

    /// - Parameter pins: The pinned generations in ascending order.
    func isNeeded(by pins: [UInt64]) -> Bool {
      var (low, high) = (0, pins.count)
      while low < high {
        let middle = (low + high) / 2
        if pins[middle] < first { low = middle + 1 } else { high = middle }
      }
      return low < pins.count && pins[low] < retired
    }
  }

  private let totals: UnlinkedTotals
  private var waiting: [Segment] = [] {
    didSet { totals.set(.init(files: waiting.count, bytes: waiting.reduce(0) { $0 + $1.bytes })) }
  }
  /// Whether work is submitted that releases them later.
  var isReleaseScheduled = false

  init(totals: UnlinkedTotals) { self.totals = totals }

  var isEmpty: Bool { waiting.isEmpty }

  /// Adds segments.
  ///
  /// - Parameter retired: The first generation that does not refer to them.
  mutating func add(_ segments: VictimSegments, retired: UInt64, from space: PageSpace) {
    var added: [Segment] = []
    for number in segments.logs {
      let owner = space.values.owner(of: number) as? LogSegment
      added.append(
        Segment(
          number: number, isLog: true, first: space.values.firstGeneration(of: number), retired: retired,
          bytes: Self.size(owner?.file)))
    }
    for number in segments.pages {
      added.append(
        Segment(
          number: number, isLog: false, first: space.firstGeneration(of: number), retired: retired,
          bytes: Self.size(space.fileOfSegment(number))))
    }
    if !added.isEmpty { waiting += added }
  }

  private static func size(_ file: (any File)?) -> Int64 { (try? file?.size()) ?? 0 }

  /// Removes the segments that no pinned generation needs; returns their owners. Those that a generation retires which is not published yet
  /// must wait: until then readers still pin the one before it.
  mutating func release(from space: PageSpace, _ generations: Generations) -> [AnyObject] {
    guard !waiting.isEmpty else { return [] }
    var pins: [UInt64] = []
    let published = generations.newest(pins: &pins)
    pins.sort()
    let free = waiting.filter { $0.retired <= published && !$0.isNeeded(by: pins) }
    guard !free.isEmpty else { return [] }
    let numbers = Set(free.map(\.number))
    waiting.removeAll { numbers.contains($0.number) }
    return free.compactMap { $0.isLog ? space.values.remove($0.number) : space.removeSegment($0.number) }
  }
}
