/// A record in the trace of a victim's file system calls: the beginning of a call, or the result of the last
/// one.
///
/// Calls are traced one at a time: the next one begins after the result of the previous one was written. A
/// record is a whole number of sectors, so that it can be written to a raw disk:
///
///     offset  bytes  field
///          0      4  magic number
///          4      1  kind
///          5      1  bytes of the name
///          6      1  bytes of the other name
///          8      8  handle of the file
///         16      8  offset, length or count
///         24      4  bytes of the payload
///         32      …  name, then the other name
///        512      …  payload, filled up to a sector with zeros
public struct TraceRecord: Equatable, Sendable {
  /// The kind of a record.
  public enum Kind: UInt8, Sendable {
    /// A folder is created.
    case makeFolder = 1
    /// An existing file is opened.
    case open
    /// A file is created.
    case create
    /// The payload is written at offset `number`.
    case write
    /// A file is truncated or extended to `number` bytes.
    case truncate
    /// A file is synced.
    case sync
    /// The folder is synced.
    case syncFolder
    /// `name` is renamed to `otherName`.
    case rename
    /// `name` is removed.
    case unlink
    /// The last call has returned after writing `number` bytes.
    case done
    /// The last call has thrown an error.
    case failed
  }

  /// The kind of the record.
  public var kind: Kind
  /// The open file. Each opening has its own handle.
  public var handle: UInt64
  /// An offset, a length or a count.
  public var number: Int64
  /// The name of the file.
  public var name: String
  /// The new name.
  public var otherName: String
  /// The bytes that are written.
  public var payload: [UInt8]

  /// Creates a record.
  public init(
    _ kind: Kind, handle: UInt64 = 0, number: Int64 = 0, name: String = "", otherName: String = "",
    payload: [UInt8] = []
  ) {
    (self.kind, self.handle, self.number) = (kind, handle, number)
    (self.name, self.otherName, self.payload) = (name, otherName, payload)
  }

  /// The size of a sector in bytes.
  public static let sectorSize = 512
  private static let namesStart = 32
  private static let magic: UInt32 = 0x4543_5254

  /// The record as bytes, a whole number of sectors.
  public var bytes: [UInt8] {
    let names = Array(name.utf8) + Array(otherName.utf8)
    precondition(
      names.count <= Self.sectorSize - Self.namesStart, "The names of a traced call fit in a sector.")
    var header: [UInt8] = []
    Self.append(Self.magic, to: &header)
    header += [kind.rawValue, UInt8(name.utf8.count), UInt8(otherName.utf8.count), 0]
    Self.append(handle, to: &header)
    Self.append(UInt64(bitPattern: number), to: &header)
    Self.append(UInt32(payload.count), to: &header)
    Self.append(UInt32(0), to: &header)
    return Self.filled(header + names) + Self.filled(payload)
  }

  /// The record at the start of some bytes, and its length in bytes; nil if there is none.
  public static func first(in bytes: ArraySlice<UInt8>) -> (record: TraceRecord, length: Int)? {
    guard bytes.count >= sectorSize, number(bytes, 0, 4) == UInt64(magic),
      let kind = Kind(rawValue: bytes[bytes.startIndex + 4])
    else { return nil }
    let payloadLength = Int(number(bytes, 24, 4))
    let length = sectorSize + (payloadLength + sectorSize - 1) / sectorSize * sectorSize
    guard bytes.count >= length else { return nil }
    let names = bytes.dropFirst(namesStart)
    let nameLength = Int(bytes[bytes.startIndex + 5])
    let record = TraceRecord(
      kind, handle: number(bytes, 8, 8), number: Int64(bitPattern: number(bytes, 16, 8)),
      name: String(decoding: names.prefix(nameLength), as: UTF8.self),
      otherName: String(
        decoding: names.dropFirst(nameLength).prefix(Int(bytes[bytes.startIndex + 6])), as: UTF8.self),
      payload: Array(bytes.dropFirst(sectorSize).prefix(payloadLength)))
    return (record, length)
  }

  private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { bytes += Array($0) }
  }

  private static func filled(_ bytes: [UInt8]) -> [UInt8] {
    let rest = bytes.count % sectorSize
    return rest == 0 ? bytes : bytes + [UInt8](repeating: 0, count: sectorSize - rest)
  }

  private static func number(_ bytes: ArraySlice<UInt8>, _ offset: Int, _ count: Int) -> UInt64 {
    let start = bytes.startIndex + offset
    return bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
