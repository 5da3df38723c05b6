import HeartwoodFiles

/// Changes that land whole or not at all. Reads see the transaction's own changes.
///
/// A transaction lives inside the closure given to `Engine.write`, on its thread; used later, it throws
/// `.closed`. Buffers that reading hands out are valid until the next change.
public final class WriteTransaction: KeyValueReader {
  /// Not counted, as it is there for as long as the transaction goes on; later it is not looked at.
  private unowned(unsafe) let store: OpenStore
  private let log: Log
  private let tree: TreeWriter
  private let builder: FrameBuilder
  private var base: UInt64 = 0
  /// The number of the transaction, and of the generation that it makes.
  var number: UInt64 { base + 1 }
  /// Where the log ended before it.
  private(set) var start: LogPoint
  /// What had been appended to the log before it, in bytes.
  private(set) var bytesBefore = 0
  /// Not a user's: the store's own.
  private(set) var isInternal = false

  private(set) var puts: UInt64 = 0
  private(set) var deletes: UInt64 = 0
  /// Why it can only be rolled back.
  private var failure: EngineError?
  private var hasEnded = true
  private var validity: ReadValidity?

  /// A transaction that has ended.
  init(_ store: OpenStore) {
    self.store = store
    log = store.log
    tree = store.tree
    builder = store.log.builder
    start = log.end
  }

  /// Begins, behind a generation. One that nobody holds any more since it has ended can begin again.
  func begin(from base: UInt64, isInternal: Bool) {
    self.base = base
    self.isInternal = isInternal
    start = log.end
    bytesBefore = log.appendedBytes
    (puts, deletes) = (0, 0)
    failure = nil
    hasEnded = false
    log.beginFrame()
  }

  /// The generation that the transaction began from.
  public var generation: Generation { Generation(rawValue: base) }

  /// The time now by the store's clock, in nanoseconds since 1970.
  package var time: Int64 { store.options.clock.nanosecondsSince1970 }

  /// True where nothing has been put or deleted.
  var isEmpty: Bool { puts == 0 && deletes == 0 && builder.isEmpty && log.end == start }

  // MARK: Changing

  /// Gives a key a value, in place of the one that it may have.
  ///
  /// - Parameters:
  ///   - key: 1 to 1024 bytes.
  ///   - value: Up to 1 GiB.
  /// - Throws: `.invalidKey` or `.tooLarge`, after which the transaction can go on; `.damaged`, and errors of the file
  ///   system, after which it cannot commit.
  public func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
    try check(key, valueBytes: value.count)
    guard value.count < builder.fullBytes else { return try putLarge(key, value) }
    try change { () throws(EngineError) in
      let reference = append(Format.putOperation, key, value)
      let isShort = value.count <= TreeEntry.inlineLimit
      _ = try tree.put(key, isShort ? .inline(value) : .position(reference))
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
    // What comes now goes behind the end of the log: nothing else may until it is there.
    failure = EngineError(.nestedWrite, "the transaction is used while a value comes from its source")
    do {
      let reference = try store.appendLargeValue(of: self, key, bytes: bytes, nextPiece)
      _ = try tree.put(key, .position(reference))
      puts &+= 1
      failure = nil
    } catch {
      failure = (error as? EngineError) ?? Self.truncatedSource
      throw error
    }
  }

  /// Gives a key a value that comes piece by piece, so that no more of it than a MiB is ever in memory.
  ///
  /// - Parameters:
  ///   - key: 1 to 1024 bytes.
  ///   - count: How many bytes the value has, 0 to 1 GiB.
  ///   - source: Puts the next bytes of the value to the beginning of the buffer and returns how many they are, at least
  ///     one. Called until there are `count`; the transaction can't be used meanwhile.
  /// - Throws: as `put` with bytes does, `.truncatedSource` where the source has no more bytes than it gave, or says that it gave more than the buffer holds, and
  ///   what the source throws. After the last two the transaction can't commit.
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

  /// Gives a key a value that comes piece by piece; see `put(_:count:from:)` with a buffer.
  public func put(
    _ key: [UInt8], count: Int, from source: (_ buffer: UnsafeMutableRawBufferPointer) throws -> Int
  ) throws {
    try key.withUnsafeBytes { try put($0, count: count, from: source) }
  }

  private static var truncatedSource: EngineError {
    EngineError(.truncatedSource, "the source of a value has ended before all of the value has come")
  }

  private static func overrun(_ given: Int, of room: Int) -> EngineError {
    EngineError(
      .truncatedSource,
      "the source of a value says that it gave \(given) bytes, but its buffer has room for \(room); return how many were put there"
    )
  }

  /// Puts the value that a key has once more, so that it lies at the end of the log.
  func move(_ key: [UInt8], _ value: UnsafeRawBufferPointer) throws(EngineError) {
    try key.withBytes { (key) throws(EngineError) in try put(key, value) }
  }

  /// Takes a key and its value away; returns whether there was one.
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

  /// Takes all keys of a range away; returns how many there were.
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

  /// Gives a key a value.
  public func put(_ key: [UInt8], _ value: [UInt8]) throws(EngineError) {
    try key.withBytes { (key) throws(EngineError) in
      try value.withBytes { (value) throws(EngineError) in try put(key, value) }
    }
  }

  /// Gives a key, its bytes being the text's UTF-8, a value.
  public func put(_ key: String, _ value: [UInt8]) throws(EngineError) { try put(Array(key.utf8), value) }

  /// Takes a key and its value away; returns whether there was one.
  @discardableResult
  public func delete(_ key: [UInt8]) throws(EngineError) -> Bool {
    try key.withBytes { (bytes) throws(EngineError) in try delete(bytes) }
  }

  /// Takes a key, its bytes being the text's UTF-8, and its value away; returns whether there was one.
  @discardableResult
  public func delete(_ key: String) throws(EngineError) -> Bool { try delete(Array(key.utf8)) }

  /// Runs one change; after an error in the middle of it nothing of the transaction can be kept.
  @inline(__always)
  private func change(_ body: () throws(EngineError) -> Void) throws(EngineError) {
    if let validity { endReading(validity) }
    do {
      try body()
      if builder.isFull { try store.appendFrame(of: self) }
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

  /// A key that can be put or deleted, in a transaction that goes on.
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
    EngineError(.closed, "the transaction has ended; it is used inside the closure of write only")
  }

  private static func tooLarge(_ count: Int) -> EngineError {
    EngineError(.tooLarge, "a value of \(count) bytes; values have 0 to \(Format.valueLimit) bytes")
  }

  private static func invalidKey(_ count: Int) -> EngineError {
    EngineError(.invalidKey, "a key of \(count) bytes; keys have 1 to \(Format.keyLimit) bytes")
  }

  // MARK: Ending

  /// Throws what made a commit impossible.
  func checkCommittable() throws(EngineError) {
    if let failure { throw failure }
  }

  /// Nothing can be read or changed through it any more.
  func end() {
    hasEnded = true
    if let validity { endReading(validity) }
  }

  // MARK: Reading

  private var view: ReadView {
    ReadView(tree.view, pending: builder, pendingSegment: log.last.number)
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

  /// How many keys there are; 0 when the transaction has ended.
  public var count: UInt64 { hasEnded ? 0 : tree.view.count }

  /// The value of a key, nil where there is none. - Complexity: O(log n).
  public func get(_ key: [UInt8]) throws(EngineError) -> [UInt8]? {
    try key.withBytes { (bytes) throws(EngineError) in try usableView().value(of: bytes) }.map { Array($0) }
  }

  /// The value's bytes in place, valid until the next change; nil where there is none.
  public func pointer(of key: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer? {
    try usableView().value(of: key)
  }

  /// Calls `body` with the bytes of a value piece by piece, in order, until it returns false.
  public func readValue(
    of key: UnsafeRawBufferPointer, pieceBytes: Int, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    try usableView().readValue(of: key, pieceBytes: max(1, pieceBytes), body)
  }

  /// Whether there is such a key. - Complexity: O(log n).
  public func contains(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    try usableView().view.find(key) != nil
  }

  /// How many keys lie in a range. - Complexity: O(log n).
  public func count(in range: KeyRange) throws(EngineError) -> UInt64 {
    try usableView().view.count(in: range)
  }

  /// How many keys lie before `key`. - Complexity: O(log n).
  public func rank(of key: UnsafeRawBufferPointer) throws(EngineError) -> UInt64 {
    try usableView().view.rank(of: key)
  }

  /// The entry with `rank` keys before it, nil behind the last. - Complexity: O(log n).
  public func entry(at rank: UInt64) throws(EngineError) -> (key: [UInt8], value: [UInt8])? {
    try usableView().entry(at: rank)
  }

  /// A cursor that stands nowhere yet; it ends with the next change.
  public func cursor() throws(EngineError) -> Cursor {
    Cursor(of: self, try usableView(), validity: currentValidity())
  }

  /// Calls `body` with each key of a range and its value, in order, until it returns false. A change in
  /// between ends the scan with an error.
  public func scan(
    _ range: KeyRange, reversed: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    try usableView().scan(range, reversed: reversed, validity: currentValidity(), body)
  }
}
