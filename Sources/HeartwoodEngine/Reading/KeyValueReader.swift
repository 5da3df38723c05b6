/// What snapshots and write transactions have in common: reading one state of the store.
///
/// Bytes of a value point into the store, and are valid as long as the snapshot is held, in a write transaction until its next
/// change is made. Bytes of a key that `scan` hands out are valid until its closure returns.
public protocol KeyValueReader: AnyObject {
  /// The generation that is read; in a write transaction the one it began from.
  var generation: Generation { get }

  /// How many keys there are.
  var count: UInt64 { get }

  /// The value of a key, nil where there is none.
  ///
  /// - Complexity: O(log n).
  func get(_ key: [UInt8]) throws(EngineError) -> [UInt8]?

  /// The value's bytes in place, nil where there is none.
  func pointer(of key: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer?

  /// Calls `body` with the bytes of a value piece by piece, in order, until it returns false.
  ///
  /// All of the value is checked before the first piece is handed out. Where the file system can't map files, or the store
  /// is read without maps, each byte is read from the file twice, and no more than one piece is in memory.
  ///
  /// - Parameters:
  ///   - pieceBytes: How long a piece is, but for the last; at least 1.
  ///   - body: Is called at least once, with no bytes for an empty value. A piece is valid until it returns.
  /// - Returns: whether there is such a key.
  /// - Throws: `.damaged`, errors of the file system, and what `body` throws.
  func readValue(
    of key: UnsafeRawBufferPointer, pieceBytes: Int, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool

  /// Whether there is such a key. - Complexity: O(log n).
  func contains(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool

  /// How many keys lie in a range. - Complexity: O(log n).
  func count(in range: KeyRange) throws(EngineError) -> UInt64

  /// How many keys lie before `key`. - Complexity: O(log n).
  func rank(of key: UnsafeRawBufferPointer) throws(EngineError) -> UInt64

  /// The entry with `rank` keys before it, nil behind the last. - Complexity: O(log n).
  func entry(at rank: UInt64) throws(EngineError) -> (key: [UInt8], value: [UInt8])?

  /// A cursor that stands nowhere yet.
  func cursor() throws(EngineError) -> Cursor

  /// Calls `body` with each key of a range and its value, in order, until it returns false.
  ///
  /// This is the fastest way to read many: records are fetched into the cache ahead of their turn.
  func scan(
    _ range: KeyRange, reversed: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws
}

extension KeyValueReader {
  /// Calls `body` with the value's bytes in place; nil where there is none.
  public func withValue<Result>(
    of key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result? {
    guard let value = try pointer(of: key) else { return nil }
    return try body(value)
  }

  /// Calls `body` with the bytes of a value, a MiB at a time; see `readValue(of:pieceBytes:_:)`.
  @discardableResult
  public func readValue(
    of key: [UInt8], pieceBytes: Int = 1 << 20, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    try key.withUnsafeBytes { try readValue(of: $0, pieceBytes: pieceBytes, body) }
  }

  /// Calls `body` with every key and its value, in order, until it returns false.
  public func scan(
    _ range: KeyRange = .all,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    try scan(range, reversed: false, body)
  }

  /// The value of a key given as text, its bytes being UTF-8.
  public func get(_ key: String) throws(EngineError) -> [UInt8]? { try get(Array(key.utf8)) }

  /// Whether there is such a key.
  public func contains(_ key: [UInt8]) throws(EngineError) -> Bool {
    try key.withBytes { (bytes) throws(EngineError) in try contains(bytes) }
  }

  /// How many keys lie before `key`.
  public func rank(of key: [UInt8]) throws(EngineError) -> UInt64 {
    try key.withBytes { (bytes) throws(EngineError) in try rank(of: bytes) }
  }
}
