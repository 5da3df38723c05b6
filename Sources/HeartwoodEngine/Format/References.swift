/// The address of a page: segment number in the upper 32 bits, index in units of 4096 bytes in the lower 32.
/// Segment 0 is the arena, which exists in memory only.
struct PageReference: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  init(segment: UInt32, index: UInt32) { rawValue = UInt64(segment) << 32 | UInt64(index) }

  /// No page: the root of an empty tree. The arena never allocates its page 0.
  static let none = PageReference(rawValue: 0)

  var segment: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
  var index: UInt32 { UInt32(truncatingIfNeeded: rawValue) }

  /// Whether the page is in memory only.
  @inline(__always)
  var isInArena: Bool { rawValue >> 32 == 0 }

  var description: String { isInArena ? "page \(index) of the arena" : "page \(index) of segment \(segment)" }
}

/// The position of a value in the log: segment number (31 bits) in the upper half, byte offset in the lower.
struct ValueReference: RawRepresentable, Hashable, Sendable {
  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  init(segment: UInt32, offset: UInt32) { rawValue = UInt64(segment) << 32 | UInt64(offset) }

  var segment: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
  var offset: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
}

/// The content of a leaf's entry: a short value itself, or the position of the value.
enum TreeEntry {
  case inline(UnsafeRawBufferPointer)
  case position(ValueReference)

  /// Longest inline value in bytes: a position and a record would take more space.
  static let inlineLimit = 16
}

/// The root of one generation's tree.
struct TreeRoot: Hashable, Sendable {
  var reference: PageReference
  /// Checksum of the root page if it is on disk; 0 in the arena.
  var checksum: UInt64
  /// Number of branch levels above a leaf.
  var level: Int
  /// Number of keys.
  var count: UInt64

  static let empty = TreeRoot(reference: .none, checksum: 0, level: 0, count: 0)

  /// The greatest level. With two entries per branch, a tree of this height has more keys than can be
  /// written.
  static let levelLimit = 40
}
