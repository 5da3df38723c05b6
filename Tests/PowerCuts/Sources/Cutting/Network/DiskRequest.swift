/// A request of a client of a network block device.
public struct DiskRequest: Equatable, Sendable {
  /// The kinds of requests that the server supports.
  public enum Kind: Equatable, Sendable {
    /// Read this many bytes.
    case read(length: Int)
    /// Write these bytes.
    case write([UInt8])
    /// Write this many zeros. Also used for trims: a discarded range may have any contents, and has zeros
    /// here.
    case zero(length: Int)
    /// Make all answered writes durable.
    case flush
  }

  /// The operation.
  public var kind: Kind
  /// The offset on the disk in bytes; 0 for a flush.
  public var offset: Int
  /// Whether the reply may be sent only when the bytes are durable (FUA).
  public var isForced: Bool
  /// The client's identifier of the request, which the reply repeats.
  public var cookie: UInt64

  /// Creates a request.
  public init(kind: Kind, offset: Int, isForced: Bool, cookie: UInt64) {
    self.kind = kind
    self.offset = offset
    self.isForced = isForced
    self.cookie = cookie
  }

  /// The reply with the bytes that were read, if any.
  public func reply(_ bytes: [UInt8] = []) -> [UInt8] {
    BigEndian.bytes(UInt32(0x6744_6698)) + BigEndian.bytes(UInt32(0)) + BigEndian.bytes(cookie) + bytes
  }
}
