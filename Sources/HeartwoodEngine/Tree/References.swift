/// Where a page lies: the number of its segment above, its index in 4096-byte units below. Segment 0
/// is the arena, which is memory only.
struct PageReference: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  init(segment: UInt32, index: UInt32) { rawValue = UInt64(segment) << 32 | UInt64(index) }

  /// No page: the root of a tree without keys. The arena's first page is never given out.
  static let none = PageReference(rawValue: 0)

  var segment: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
  var index: UInt32 { UInt32(truncatingIfNeeded: rawValue) }

  /// True for pages that are in memory only.
  @inline(__always)
  var isInArena: Bool { rawValue >> 32 == 0 }

  var description: String { isInArena ? "page \(index) of the arena" : "page \(index) of segment \(segment)" }
}

/// Where a value lies in the log: the number of the segment (31 bits) above, the byte offset below.
struct ValueReference: RawRepresentable, Hashable, Sendable {
  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  init(segment: UInt32, offset: UInt32) { rawValue = UInt64(segment) << 32 | UInt64(offset) }

  var segment: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
  var offset: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
}

/// What a leaf holds for a key: a short value itself, or where the value lies.
enum TreeEntry {
  case inline(UnsafeRawBufferPointer)
  case position(ValueReference)

  /// Values up to this many bytes lie in the page: a position and a record would be longer than they.
  static let inlineLimit = 16
}

/// The root of one generation's tree, with what is needed to check it.
struct TreeRoot: Hashable, Sendable {
  var reference: PageReference
  /// Of the root's bytes, where it lies on disk; 0 in the arena.
  var checksum: UInt64
  /// How many branches lie above a leaf.
  var level: Int
  /// How many keys there are.
  var count: UInt64

  static let empty = TreeRoot(reference: .none, checksum: 0, level: 0, count: 0)

  /// No tree is higher: at two entries a branch this many levels hold more keys than can be written.
  static let levelLimit = 40
}
