import Workload

/// The part of the unflushed writes that survives a power cut.
///
/// A disk with a write cache can write its contents in any order and stop at any point: any subset of the
/// uncertain writes can survive, and any sectors of each. If two surviving writes cover the same sector, the
/// later one wins, because a disk does not replace newer bytes by older ones.
public enum Survival: String, CaseIterable, Sendable {
  /// No uncertain write.
  case none
  /// All uncertain writes.
  case all
  /// The first ones; the last of them in part.
  case prefix
  /// A random subset, each in whole.
  case subset
  /// A random subset, half of it in part.
  case torn
}

/// One image of a disk after a cut: the writes to apply on top of the flushed state.
public struct CutImage: Sendable {
  /// A range of bytes of the disk.
  public struct Piece: Equatable, Sendable {
    /// The offset of the first byte.
    public var offset: Int
    /// The bytes.
    public var bytes: ArraySlice<UInt8>

    /// Creates a piece.
    public init(offset: Int, bytes: ArraySlice<UInt8>) { (self.offset, self.bytes) = (offset, bytes) }
  }

  /// The size of a sector in bytes. A disk writes whole sectors.
  public static let sectorSize = 512

  /// The writes to apply to the state after the events before `start`, in this order.
  public let pieces: [Piece]
  /// The numbers of uncertain writes that survived in whole, in part, or not at all.
  public let (whole, torn, lost): (Int, Int, Int)

  /// Selects the surviving parts of the events in `window`, none of which is a flush.
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
