import HeartwoodBytes
import HeartwoodFiles

/// The 16 random bytes that identify a store.
public struct StoreIdentifier: Hashable, Sendable, CustomStringConvertible {
  /// The first eight bytes, as a little-endian integer.
  package let low: UInt64
  /// The last eight bytes.
  package let high: UInt64

  /// Creates an identifier from its two halves.
  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// The 16 bytes.
  public var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 16)
    bytes.setField(0, low)
    bytes.setField(8, high)
    return bytes
  }

  /// 32 hexadecimal digits.
  public var description: String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The seed of all checksums of the store.
  var seed: UInt64 {
    withBytes(of: low, high) { XXH64.hash($0, seed: 0) }
  }
}

/// The state of the store after one transaction. It has the transaction's number and never changes.
public struct Generation: RawRepresentable, Comparable, Hashable, Sendable, CustomStringConvertible {
  /// The number of the transaction that made it; 0 is the empty store.
  public let rawValue: UInt64

  /// Creates a generation with a number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The number.
  public var description: String { String(rawValue) }

  /// Orders older generations before newer ones.
  public static func < (left: Generation, right: Generation) -> Bool { left.rawValue < right.rawValue }
}

/// The position of a frame or of the log's end: a log segment and a byte offset in it.
struct LogPosition: Hashable, Sendable, CustomStringConvertible {
  let segment: UInt32
  let offset: Int

  init(segment: UInt32, offset: Int) {
    self.segment = segment
    self.offset = offset
  }

  /// Decodes a position: the segment in the upper 32 bits, the offset below; nil for zero, which means none.
  init?(rawValue: UInt64) {
    let number = rawValue >> 32
    guard number != 0, number <= Format.segmentNumberLimit else { return nil }
    segment = UInt32(truncatingIfNeeded: number)
    offset = Int(truncatingIfNeeded: rawValue & 0xFFFF_FFFF)
  }

  var rawValue: UInt64 { UInt64(segment) << 32 | UInt64(truncatingIfNeeded: offset) }

  var description: String { "\(SegmentName.log(segment)) at byte \(offset)" }
}

/// A place between two frames, with what the next frame must state to belong there.
struct LogPoint: Hashable, Sendable {
  /// Position of the next frame.
  var position: LogPosition
  /// Sequence number of the next frame.
  var sequence: UInt64
  /// Checksum of the previous frame.
  var chain: UInt64
  /// The generation that the frames up to here make.
  var generation: UInt64
}

extension LogPoint {
  /// Decodes the four fields of a point; nil for none.
  init?(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard let position = LogPosition(rawValue: bytes.field64(offset)) else { return nil }
    self.init(
      position: position, sequence: bytes.field64(offset + 8), chain: bytes.field64(offset + 16),
      generation: bytes.field64(offset + 24))
  }

  func encode(to bytes: inout [UInt8], at offset: Int) {
    bytes.setField(offset, position.rawValue)
    bytes.setField(offset + 8, sequence)
    bytes.setField(offset + 16, chain)
    bytes.setField(offset + 24, generation)
  }
}

/// The file names of segments.
enum SegmentName {
  static func log(_ number: UInt32) -> String { FileName.digits(UInt64(number)) + ".log" }
  static func pages(_ number: UInt32) -> String { FileName.digits(UInt64(number)) + ".pages" }

  /// The segment number and kind that a file name states; nil for any other name.
  static func parse(_ name: String) -> (number: UInt32, isLog: Bool)? {
    guard let (number, suffix) = FileName.numbered(name), suffix == "log" || suffix == "pages", number > 0,
      number <= Format.segmentNumberLimit
    else { return nil }
    return (UInt32(number), suffix == "log")
  }
}
