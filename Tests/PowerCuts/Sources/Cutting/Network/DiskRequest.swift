/// What a client of a network block device asks for.
public struct DiskRequest: Equatable, Sendable {
  /// The kinds of requests that the server announces.
  public enum Kind: Equatable, Sendable {
    /// Read so many bytes.
    case read(length: Int)
    /// Write these bytes.
    case write([UInt8])
    /// Make zeros of so many bytes; a discarded range may be read as anything, and is made of zeros here.
    case zero(length: Int)
    /// Make durable what was answered before.
    case flush
  }

  /// What is asked for.
  public var kind: Kind
  /// The first byte of the disk that it is about; 0 for a flush.
  public var offset: Int
  /// Whether the answer may be sent only when the bytes are durable (FUA).
  public var isForced: Bool
  /// The client's name for the request, to be repeated in the answer.
  public var cookie: UInt64

  /// A request.
  public init(kind: Kind, offset: Int, isForced: Bool, cookie: UInt64) {
    self.kind = kind
    self.offset = offset
    self.isForced = isForced
    self.cookie = cookie
  }

  /// The answer to it: the bytes that were read, or nothing.
  public func reply(_ bytes: [UInt8] = []) -> [UInt8] {
    BigEndian.bytes(UInt32(0x6744_6698)) + BigEndian.bytes(UInt32(0)) + BigEndian.bytes(cookie) + bytes
  }
}
