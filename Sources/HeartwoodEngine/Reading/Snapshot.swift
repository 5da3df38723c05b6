/// One generation of the store, readable while this object is held, whatever is written meanwhile. Any number
/// of threads may use it at once.
///
/// A snapshot keeps the memory and the files that only its generation needs; releasing it frees them.
public final class Snapshot: KeyValueReader, Sendable {
  /// Keeps the generation's pages and its log.
  private enum Hold {
    /// A pinned generation of the open store. Stored here without an object of its own, because programs may
    /// take a snapshot for every read.
    case pin(Generations.Pin)
    /// A past generation, which retains its own pages.
    case past(AnyObject & Sendable)
  }

  private let hold: Hold
  private let view: ReadView

  /// The generation that is read.
  public let generation: Generation

  /// The newest generation of an open store.
  init(_ generations: Generations, _ space: PageSpace) {
    let pin = generations.pin()
    hold = .pin(pin)
    // Most stores have no compressed values, and programs may take a snapshot for every read.
    let keepsValues = space.values.hasCompressedValues.load(ordering: .relaxed)
    view = ReadView(
      TreeView(space: space, root: pin.root), keeping: keepsValues ? DecompressedValues() : nil)
    generation = Generation(rawValue: pin.generation)
  }

  /// A past generation.
  ///
  /// - Parameter owner: Keeps what the view reads.
  init(_ view: ReadView, of generation: Generation, keeping owner: AnyObject & Sendable) {
    hold = .past(owner)
    self.view = view
    self.generation = generation
  }

  deinit {
    if case .pin(let pin) = hold { pin.release() }
  }

  /// The tree of the generation.
  var tree: TreeView { view.view }

  /// The value at a position of the log, after checking that its record has this key.
  func value(
    at reference: ValueReference, of key: UnsafeRawBufferPointer
  ) throws(EngineError) -> UnsafeRawBufferPointer { try view.value(at: reference, of: key) }

  /// The number of keys.
  public var count: UInt64 { view.view.count }

  /// The value of a key; nil if the store does not contain it.
  ///
  /// - Complexity: O(log n).
  public func get(_ key: [UInt8]) throws(EngineError) -> [UInt8]? {
    try key.withBytes { (bytes) throws(EngineError) in try view.copy(of: bytes) }
  }

  /// The value's bytes in place, valid while the snapshot is held; nil if the store does not contain the key. A
  /// compressed value stays in memory as long, see ``forgetDecompressedValues()``.
  public func pointer(of key: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer? {
    try view.value(of: key)
  }

  /// Frees the memory of compressed values that ``pointer(of:)``, cursors, scans and differences have returned. Their
  /// bytes are not valid any more.
  ///
  /// Programs that read much of a store with compressed values call it now and then, or take a new snapshot.
  public func forgetDecompressedValues() { view.decompressed?.removeAll() }

  /// Calls `body` with the bytes of a value piece by piece, in order, until it returns false.
  public func readValue(
    of key: UnsafeRawBufferPointer, pieceBytes: Int, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    try view.readValue(of: key, pieceBytes: max(1, pieceBytes), body)
  }

  /// Whether the store contains a key.
  ///
  /// - Complexity: O(log n).
  public func contains(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    try view.view.find(key) != nil
  }

  /// The number of keys in a range.
  ///
  /// - Complexity: O(log n).
  public func count(in range: KeyRange) throws(EngineError) -> UInt64 { try view.view.count(in: range) }

  /// The number of keys before `key`.
  ///
  /// - Complexity: O(log n).
  public func rank(of key: UnsafeRawBufferPointer) throws(EngineError) -> UInt64 {
    try view.view.rank(of: key)
  }

  /// The entry with `rank` entries before it; nil after the last.
  ///
  /// - Complexity: O(log n).
  public func entry(at rank: UInt64) throws(EngineError) -> (key: [UInt8], value: [UInt8])? {
    try view.entry(at: rank)
  }

  /// A cursor, which is invalid until it is moved. It keeps the snapshot.
  public func cursor() throws(EngineError) -> Cursor { Cursor(of: self, view) }

  /// Calls `body` with each key of a range and its value, in order, until it returns false.
  public func scan(
    _ range: KeyRange, reversed: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    try view.scan(range, reversed: reversed, body)
  }

  /// Calls `body` with each key that begins with some bytes and its value, in order, until it returns false.
  ///
  /// For few entries: it needs no range and no memory.
  package func scan(
    beginningWith bytes: UnsafeRawBufferPointer,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws { try view.scan(beginningWith: bytes, body) }
}
