import Workload

/// What a power cut leaves of the writes that no flush covered.
///
/// A disk with a cache may write what it holds in any order, and stop anywhere: any subset of the uncertain writes may
/// be there, and of each any of its sectors. Of two writes to the same sector the later one wins if both are there,
/// as a disk does not put older bytes over newer ones.
public enum Survival: String, CaseIterable, Sendable {
  /// No uncertain write is there.
  case none
  /// All of them are.
  case all
  /// Those that came first; the last of them in part.
  case prefix
  /// Some, each whole.
  case subset
  /// Some, half of them in part.
  case torn
}

/// One image of a disk after a cut: the writes that have to be laid over what was flushed.
public struct CutImage: Sendable {
  /// Bytes of the disk.
  public struct Piece: Equatable, Sendable {
    /// The first of them.
    public var offset: Int
    /// The bytes.
    public var bytes: ArraySlice<UInt8>

    /// A piece.
    public init(offset: Int, bytes: ArraySlice<UInt8>) { (self.offset, self.bytes) = (offset, bytes) }
  }

  /// A disk writes whole sectors of so many bytes.
  public static let sectorSize = 512

  /// What is laid over the events before `start`, in this order.
  public let pieces: [Piece]
  /// How many uncertain writes are there whole, in part, or not at all.
  public let (whole, torn, lost): (Int, Int, Int)

  /// What survives of the events in `window`, none of which is a flush.
  public init(_ window: ArraySlice<DiskRecord.Event>, _ survival: Survival, _ random: inout RandomNumbers) {
    let odds = 1 + random.below(7)
    let prefix = window.isEmpty ? 0 : random.below(window.count) + 1
    var pieces: [Piece] = []
    var counts = (whole: 0, torn: 0, lost: 0)
    for (index, event) in window.enumerated() {
      guard case .write(let offset, let bytes, let isForced) = event else { continue }
      let fate =
        isForced ? Fate.whole : Self.fate(survival, index, prefix: prefix, odds: odds, &random)
      let kept = Self.kept(fate, of: bytes.count, &random)
      pieces += kept.map { Piece(offset: offset + $0.lowerBound, bytes: bytes[$0]) }
      let total = kept.reduce(0) { $0 + $1.count }
      if total == bytes.count {
        counts.whole += 1
      } else if total == 0 {
        counts.lost += 1
      } else {
        counts.torn += 1
      }
    }
    self.pieces = pieces
    (whole, torn, lost) = counts
  }

  private enum Fate { case whole, torn, lost }

  private static func fate(
    _ survival: Survival, _ index: Int, prefix: Int, odds: Int, _ random: inout RandomNumbers
  ) -> Fate {
    switch survival {
    case .none: .lost
    case .all: .whole
    case .prefix: index < prefix - 1 ? .whole : index == prefix - 1 ? .torn : .lost
    case .subset: random.below(8) < odds ? .whole : .lost
    case .torn: random.below(8) < odds ? (random.below(2) == 0 ? .torn : .whole) : .lost
    }
  }

  /// The sectors of a write that reach the disk.
  private static func kept(_ fate: Fate, of count: Int, _ random: inout RandomNumbers) -> [Range<Int>] {
    guard fate == .torn else { return fate == .whole ? [0..<count] : [] }
    let sectors = count / sectorSize
    let place = random.below(sectors + 1)
    let kept: [Int] =
      switch random.below(3) {
      case 0: Array(0..<place)
      case 1: Array(place..<sectors)
      default: (0..<sectors).filter { _ in random.next() & 1 == 0 }
      }
    return kept.map { $0 * sectorSize..<($0 + 1) * sectorSize }
  }
}
