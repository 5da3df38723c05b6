/// Reads one state of the store: what snapshots and write transactions have in common.
///
/// Bytes of a value point into the store. They are valid while the snapshot is held; in a write transaction
/// until its next change. Bytes of a key passed by `scan` are valid until its closure returns.
public protocol KeyValueReader: AnyObject {
  /// The generation that is read; in a write transaction the one it began from.
  var generation: Generation { get }

  /// The number of keys.
  var count: UInt64 { get }

  /// The value of a key; nil if the store does not contain it.
  ///
  /// - Throws: `.damaged` if the value's bytes are not what was written, and errors of the file system.
  /// - Complexity: O(log n).
  func get(_ key: [UInt8]) throws(EngineError) -> [UInt8]?

  /// The value's bytes in place; nil if the store does not contain the key.
  ///
  /// - Complexity: O(log n).
  func pointer(of key: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer?

  /// Calls `body` with the bytes of a value piece by piece, in order, until it returns false.
  ///
  /// The whole value is verified before the first piece is passed. If files are not mapped, each byte is read
  /// from the file twice, and only one piece is in memory.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - pieceBytes: Length of every piece but the last; at least 1.
  ///   - body: Called at least once, with no bytes for an empty value. A piece is valid until it returns.
  /// - Returns: Whether the store contains the key.
  /// - Throws: `.damaged`, errors of the file system, and what `body` throws.
  func readValue(
    of key: UnsafeRawBufferPointer, pieceBytes: Int, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool

  /// Whether the store contains a key.
  ///
  /// - Complexity: O(log n).
  func contains(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool

  /// The number of keys in a range.
  ///
  /// - Complexity: O(log n).
  func count(in range: KeyRange) throws(EngineError) -> UInt64

  /// The number of keys before `key`.
  ///
  /// - Complexity: O(log n).
  func rank(of key: UnsafeRawBufferPointer) throws(EngineError) -> UInt64

  /// The entry with `rank` entries before it; nil after the last.
  ///
  /// - Complexity: O(log n).
  func entry(at rank: UInt64) throws(EngineError) -> (key: [UInt8], value: [UInt8])?

  /// A cursor, which is invalid until it is moved.
  func cursor() throws(EngineError) -> Cursor

  /// Calls `body` with each key of a range and its value, in order, until it returns false.
  ///
  /// The fastest way to read many entries: records are prefetched into the processor's cache.
  func scan(
    _ range: KeyRange, reversed: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws
}

extension KeyValueReader {
  /// Calls `body` with the value's bytes in place; nil if the store does not contain the key.
  public func withValue<Result>(
    of key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result? {
    guard let value = try pointer(of: key) else { return nil }
    return try body(value)
  }

  /// Calls `body` with the bytes of a value, 1 MiB at a time; see `readValue(of:pieceBytes:_:)`.
  @discardableResult
  public func readValue(
    of key: [UInt8], pieceBytes: Int = 1 << 20, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    try key.withBytes { try readValue(of: $0, pieceBytes: pieceBytes, body) }
  }

  /// Calls `body` with every key and its value, in order, until it returns false.
  public func scan(
    _ range: KeyRange = .all,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    try scan(range, reversed: false, body)
  }

  /// The value of a key given as text in UTF-8.
  public func get(_ key: String) throws(EngineError) -> [UInt8]? { try get(Array(key.utf8)) }

  /// Whether the store contains a key.
  public func contains(_ key: [UInt8]) throws(EngineError) -> Bool {
    try key.withBytes { (bytes) throws(EngineError) in try contains(bytes) }
  }

  /// The number of keys before `key`.
  public func rank(of key: [UInt8]) throws(EngineError) -> UInt64 {
    try key.withBytes { (bytes) throws(EngineError) in try rank(of: bytes) }
  }
}
