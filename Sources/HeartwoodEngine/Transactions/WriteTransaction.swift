import HeartwoodFiles

/// An atomic set of changes. Reads see the transaction's own changes.
///
/// A transaction is valid inside the closure passed to `Engine.write`, on its thread; afterwards its methods throw
/// `.closed`. Buffers returned by reads are valid until the next change.
public final class WriteTransaction: KeyValueReader {
  /// Unretained for speed: the store outlives the transaction, and is not accessed after its end. The thread holds the writer
  /// lock until then.
  private unowned(unsafe) let writer: WriterState
  private let log: Log
  private let tree: TreeWriter
  private let builder: FrameBuilder
  private let compressor: ValueCompressor?
  private var base: UInt64 = 0
  /// The number of the transaction, and of the generation that it creates.
  var number: UInt64 { base + 1 }
  /// The end of the log before the transaction.
  private(set) var start: LogPoint
  /// `log.appendedBytes` before the transaction.
  private(set) var bytesBefore = 0
  /// Whether the store runs the transaction itself, and not a caller of `write`.
  private(set) var isInternal = false

  private(set) var puts: UInt64 = 0
  private(set) var deletes: UInt64 = 0
  /// The time of the commit, in nanoseconds since 1970; nil while it is not fixed.
  private var fixedTime: Int64?
  /// The error after which the transaction can only be rolled back.
  private var failure: EngineError?
  private var hasEnded = true
  private var validity: ReadValidity?
  /// Compressed values that were read since the last change.
  private var decompressed: DecompressedValues?

  /// Creates a transaction that is ended until `begin`.
  init(_ writer: WriterState) {
    self.writer = writer
    log = writer.log
    tree = writer.tree
    builder = writer.log.builder
    compressor = writer.compressor
    start = log.end
  }

  /// Begins the transaction from a generation. An ended one that no other code refers to can begin again.
  func begin(from base: UInt64, isInternal: Bool) {
    self.base = base
    self.isInternal = isInternal
    start = log.end
    bytesBefore = log.appendedBytes
    (puts, deletes) = (0, 0)
    (fixedTime, failure) = (nil, nil)
    hasEnded = false
    log.beginFrame()
  }

  /// The generation that the transaction began from.
  public var generation: Generation { Generation(rawValue: base) }

  /// The current time of the store's clock, in nanoseconds since 1970.
  package var time: Int64 { writer.options.clock.nanosecondsSince1970 }

  /// The time that the log has for the commit, in nanoseconds since 1970: the time of the first call. A record of the transaction that has this
  /// time is found by it, wherever times are compared.
  package var commitTime: Int64 {
    let time = fixedTime ?? time
    fixedTime = time
    return time
  }

  /// Whether nothing has been put or deleted.
  var isEmpty: Bool { puts == 0 && deletes == 0 && builder.isEmpty && log.end == start }

  // MARK: Changing

  /// Sets the value of a key; replaces an existing one.
  ///
  /// - Parameters:
  ///   - key: 1 to 1024 bytes.
  ///   - value: 0 bytes to 1 GiB.
  /// - Throws: `.invalidKey` or `.tooLarge`, after which the transaction can continue; `.damaged`, and errors of the file
  ///   system, after which it cannot commit.
  /// - Complexity: O(log n), plus the length of the value.
  public func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
    try check(key, valueBytes: value.count)
    if let compressed = compressor?.compressed(value) {
      return try put(key, stored: compressed, Format.putCompressedOperation)
    }
    guard value.count < builder.fullBytes else { return try putLarge(key, value) }
    try put(key, stored: value, Format.putOperation)
  }

  @inline(__always)
  private func put(
    _ key: UnsafeRawBufferPointer, stored value: UnsafeRawBufferPointer, _ operation: UInt64
  ) throws(EngineError) {
    try change { () throws(EngineError) in
      let reference = append(operation, key, value)
      // A page contains no compressed value, however short it is.
      let isInline = value.count <= TreeEntry.inlineLimit && operation == Format.putOperation
      _ = try tree.put(key, isInline ? .inline(value) : .position(reference))
      puts &+= 1
    }
  }

  private func putLarge(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
    do {
      try putLarge(key, bytes: value.count) { value }
    } catch {
      throw (error as? EngineError) ?? Self.truncatedSource
    }
  }

  private func putLarge(
    _ key: UnsafeRawBufferPointer, bytes: Int, _ nextPiece: () throws -> UnsafeRawBufferPointer
  ) throws {
    if let validity { endReading(validity) }
    // The pieces are written directly to the end of the log: no other change may be appended meanwhile.
    failure = EngineError(
      .nestedWrite, "the transaction was used inside the source of a value; return from the source first")
    do {
      let reference = try writer.appendLargeValue(of: self, key, bytes: bytes, nextPiece)
      _ = try tree.put(key, .position(reference))
      puts &+= 1
      failure = nil
    } catch {
      failure = (error as? EngineError) ?? Self.truncatedSource
      throw error
    }
  }

  /// Sets the value of a key from a source that supplies it piece by piece. At most 1 MiB of it is in memory at a time.
  ///
  /// - Parameters:
  ///   - key: 1 to 1024 bytes.
  ///   - count: Length of the value in bytes, 0 to 1 GiB.
  ///   - source: Writes the next bytes of the value to the start of the buffer and returns their number, at least 1. Called
  ///     until there are `count` bytes. The transaction must not be used inside it.
  /// - Throws: As `put` with bytes; `.truncatedSource` if the source returns 0 or more than the buffer's size; and what the
  ///   source throws. After the last two the transaction cannot commit.
  public func put(
    _ key: UnsafeRawBufferPointer, count: Int,
    from source: (_ buffer: UnsafeMutableRawBufferPointer) throws -> Int
  ) throws {
    try check(key, valueBytes: count)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(1, min(count, builder.fullBytes)), alignment: 16)
    defer { buffer.deallocate() }
    var left = count
    func nextPiece() throws -> UnsafeRawBufferPointer {
      let wanted = min(left, buffer.count)
      var filled = 0
      while filled < wanted {
        let given = try source(UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<wanted]))
        guard given <= wanted - filled else { throw Self.overrun(given, of: wanted - filled) }
        guard given > 0 else { throw Self.truncatedSource }
        filled += given
      }
      left -= wanted
      return UnsafeRawBufferPointer(rebasing: buffer[..<wanted])
    }
    if count >= builder.fullBytes { return try putLarge(key, bytes: count, nextPiece) }
    do {
      try put(key, try nextPiece())
    } catch {
      failure = failure ?? (error as? EngineError) ?? Self.truncatedSource
      throw error
    }
  }

  /// Sets the value of a key from a source; see `put(_:count:from:)` with a buffer.
  public func put(
    _ key: [UInt8], count: Int, from source: (_ buffer: UnsafeMutableRawBufferPointer) throws -> Int
  ) throws {
    try key.withBytes { try put($0, count: count, from: source) }
  }

  private static var truncatedSource: EngineError {
    EngineError(
      .truncatedSource,
      "the source of a value ended before the end of the value; return at least 1 byte for each call")
  }

  private static func overrun(_ given: Int, of room: Int) -> EngineError {
    EngineError(
      .truncatedSource,
      "the source of a value returned \(given) bytes for a buffer of \(room); return the number of bytes written to it"
    )
  }

  /// Writes the current value of a key again, so that it is stored at the end of the log.
  func move(_ key: [UInt8], _ record: Record) throws(EngineError) {
    try key.withBytes { (key) throws(EngineError) in
      guard record.isCompressed else { return try put(key, record.storedValue) }
      try check(key)
      try put(key, stored: record.storedValue, record.operation)
    }
  }

  /// Deletes a key and its value; returns whether the key existed.
  ///
  /// - Throws: As `put`.
  /// - Complexity: O(log n).
  public func delete(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    try check(key)
    guard try tree.view.find(key) != nil else { return false }
    try change { () throws(EngineError) in
      _ = append(Format.deleteOperation, key, UnsafeRawBufferPointer(start: nil, count: 0))
      _ = try tree.delete(key)
      deletes &+= 1
    }
    return true
  }

  /// Deletes all keys in a range; returns their number.
  ///
  /// - Throws: `.invalidKey` if a bound is longer than 1024 bytes; otherwise as `put`.
  public func deleteRange(_ range: KeyRange) throws(EngineError) -> UInt64 {
    try checkUsable()
    for bound in [range.lower, range.upper] where (bound?.key.count ?? 0) > Format.keyLimit {
      throw Self.invalidKey(bound?.key.count ?? 0)
    }
    guard try tree.view.count(in: range) > 0 else { return 0 }
    var count: UInt64 = 0
    try change { () throws(EngineError) in
      let bounds = RangeRecord.encode(range)
      try bounds.key.withBytes { (key) throws(EngineError) in
        try bounds.value.withBytes { (value) throws(EngineError) in
          _ = append(Format.deleteRangeOperation, key, value)
        }
      }
      count = try tree.deleteRange(range)
      deletes &+= count
    }
    return count
  }

  /// Sets the value of a key.
  public func put(_ key: [UInt8], _ value: [UInt8]) throws(EngineError) {
    try key.withBytes { (key) throws(EngineError) in
      try value.withBytes { (value) throws(EngineError) in try put(key, value) }
    }
  }

  /// Sets the value of a key that is the UTF-8 of a string.
  public func put(_ key: String, _ value: [UInt8]) throws(EngineError) { try put(Array(key.utf8), value) }

  /// Deletes a key and its value; returns whether the key existed.
  @discardableResult
  public func delete(_ key: [UInt8]) throws(EngineError) -> Bool {
    try key.withBytes { (bytes) throws(EngineError) in try delete(bytes) }
  }

  /// Deletes a key that is the UTF-8 of a string, and its value; returns whether the key existed.
  @discardableResult
  public func delete(_ key: String) throws(EngineError) -> Bool { try delete(Array(key.utf8)) }

  /// Runs one change. After an error inside it the transaction can only be rolled back.
  @inline(__always)
  private func change(_ body: () throws(EngineError) -> Void) throws(EngineError) {
    if let validity { endReading(validity) }
    do {
      try body()
      decompressed?.removeAll()
      if builder.isFull { try writer.appendFrame(of: self) }
    } catch {
      failure = error
      throw error
    }
  }

  @inline(__always)
  private func append(
    _ operation: UInt64, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> ValueReference {
    let offset = builder.append(operation: operation, key: key, value: value)
    return ValueReference(segment: log.last.number, offset: UInt32(truncatingIfNeeded: offset))
  }

  private func endReading(_ validity: ReadValidity) {
    validity.end()
    self.validity = nil
  }

  /// Throws if the transaction has ended or failed, or if a key or the length of a value is invalid.
  @inline(__always)
  private func check(_ key: UnsafeRawBufferPointer, valueBytes: Int = 0) throws(EngineError) {
    try checkUsable()
    guard key.count > 0, key.count <= Format.keyLimit else { throw Self.invalidKey(key.count) }
    guard 0...Format.valueLimit ~= valueBytes else { throw Self.tooLarge(valueBytes) }
  }

  @inline(__always)
  private func checkUsable() throws(EngineError) {
    if hasEnded { throw Self.ended }
    if let failure { throw failure }
  }

  private static var ended: EngineError {
    EngineError(.closed, "the transaction has ended; use it only inside the closure of `write`")
  }

  private static func tooLarge(_ count: Int) -> EngineError {
    EngineError(.tooLarge, "a value of \(count) bytes; values have 0 to \(Format.valueLimit) bytes")
  }

  private static func invalidKey(_ count: Int) -> EngineError {
    EngineError(.invalidKey, "a key of \(count) bytes; keys have 1 to \(Format.keyLimit) bytes")
  }

  // MARK: Ending

  /// Throws the error after which the transaction cannot commit.
  func checkCommittable() throws(EngineError) {
    if let failure { throw failure }
  }

  /// Ends the transaction: reads and changes throw `.closed` from now on.
  func end() {
    hasEnded = true
    if let validity { endReading(validity) }
    decompressed = nil
  }

  // MARK: Reading

  private var view: ReadView {
    ReadView(tree.view, pending: builder, pendingSegment: log.last.number, keeping: keptValues)
  }

  /// Where compressed values are kept; nil if the store has none.
  private var keptValues: DecompressedValues? {
    guard decompressed == nil, log.table.hasCompressedValues.load(ordering: .relaxed) else {
      return decompressed
    }
    let new = DecompressedValues()
    decompressed = new
    return new
  }

  private func usableView() throws(EngineError) -> ReadView {
    try checkUsable()
    return view
  }

  private func currentValidity() -> ReadValidity {
    if let validity { return validity }
    let new = ReadValidity()
    validity = new
    return new
  }

  /// The number of keys; 0 after the transaction has ended.
  public var count: UInt64 { hasEnded ? 0 : tree.view.count }

  /// The value of a key; nil if the store does not contain it.
  ///
  /// - Complexity: O(log n).
  public func get(_ key: [UInt8]) throws(EngineError) -> [UInt8]? {
    try key.withBytes { (bytes) throws(EngineError) in try usableView().copy(of: bytes) }
  }

  /// The value's bytes in place, valid until the next change; nil if the store does not contain the key.
  ///
  /// - Complexity: O(log n).
  public func pointer(of key: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer? {
    try usableView().value(of: key)
  }

  /// Calls `body` with the bytes of a value piece by piece, in order, until it returns false; see
  /// ``KeyValueReader/readValue(of:pieceBytes:_:)``.
  public func readValue(
    of key: UnsafeRawBufferPointer, pieceBytes: Int, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    try usableView().readValue(of: key, pieceBytes: max(1, pieceBytes), body)
  }

  /// Whether the store contains a key.
  ///
  /// - Complexity: O(log n).
  public func contains(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    try usableView().view.find(key) != nil
  }

  /// The number of keys in a range.
  ///
  /// - Complexity: O(log n).
  public func count(in range: KeyRange) throws(EngineError) -> UInt64 {
    try usableView().view.count(in: range)
  }

  /// The number of keys before `key`.
  ///
  /// - Complexity: O(log n).
  public func rank(of key: UnsafeRawBufferPointer) throws(EngineError) -> UInt64 {
    try usableView().view.rank(of: key)
  }

  /// The entry with `rank` entries before it; nil after the last.
  ///
  /// - Complexity: O(log n).
  public func entry(at rank: UInt64) throws(EngineError) -> (key: [UInt8], value: [UInt8])? {
    try usableView().entry(at: rank)
  }

  /// A cursor, which is invalid until it is moved. It cannot be used after the next change.
  public func cursor() throws(EngineError) -> Cursor {
    Cursor(of: self, try usableView(), validity: currentValidity())
  }

  /// Calls `body` with each key of a range and its value, in order, until it returns false. A change inside `body` ends the
  /// scan with an error.
  public func scan(
    _ range: KeyRange, reversed: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    try usableView().scan(range, reversed: reversed, validity: currentValidity(), body)
  }
}
