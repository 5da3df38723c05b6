import HeartwoodBytes

/// A position among the entries of a snapshot or a transaction that moves in the order of the keys.
///
/// A cursor is invalid until it is moved. `key` is valid until the cursor moves or is released, `value()`
/// while the snapshot is held. In a write transaction both are valid until its next change. That change also
/// ends its cursors: moving them and `value()` throw `.closed`. A cursor is used by one thread at a time.
public final class Cursor {
  private let reader: AnyObject
  private let view: ReadView
  private let tree: TreeCursor
  private let validity: ReadValidity?

  init(of reader: AnyObject, _ view: ReadView, validity: ReadValidity? = nil) {
    self.reader = reader
    self.view = view
    self.validity = validity
    tree = TreeCursor(view.view)
  }

  /// Whether the cursor is on an entry.
  public var isValid: Bool { tree.isValid && validity?.hasEnded != true }

  /// Moves to the first entry; returns whether there is one.
  public func moveToFirst() throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.moveToFirst()
  }

  /// Moves to the last entry; returns whether there is one.
  public func moveToLast() throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.moveToLast()
  }

  /// Moves to the first entry at or after a key; returns whether there is one.
  ///
  /// - Complexity: O(log n).
  public func seek(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.seek(key)
  }

  /// Moves to the first entry at or after a key; returns whether there is one.
  public func seek(_ key: [UInt8]) throws(EngineError) -> Bool {
    try key.withBytes { (bytes) throws(EngineError) in try seek(bytes) }
  }

  /// Moves to the last entry before a key; returns whether there is one.
  ///
  /// - Complexity: O(log n).
  public func seekBefore(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.seekBefore(key)
  }

  /// Moves to the last entry before a key; returns whether there is one.
  public func seekBefore(_ key: [UInt8]) throws(EngineError) -> Bool {
    try key.withBytes { (bytes) throws(EngineError) in try seekBefore(bytes) }
  }

  /// Moves to the entry with `rank` entries before it; returns whether there is one.
  ///
  /// - Complexity: O(log n).
  public func seek(rank: UInt64) throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.seek(rank: rank)
  }

  /// Moves to the next entry; returns whether there is one.
  ///
  /// After the last entry the cursor is invalid. An invalid cursor does not move: seek, or move to the first
  /// or last entry.
  public func next() throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.next()
  }

  /// Moves to the previous entry; returns whether there is one. Before the first entry the cursor is invalid.
  public func previous() throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.previous()
  }

  /// The key of the entry that the cursor is on.
  ///
  /// - Precondition: `isValid`, which is false for a cursor of a write transaction after its next change.
  public var key: UnsafeRawBufferPointer {
    require(isValid, "A cursor has a key only where it stands on an entry.")
    return tree.key
  }

  /// The value of the entry that the cursor is on.
  ///
  /// - Throws: `.damaged` if its bytes are not what was written; `.closed` if the transaction has changed or
  ///   ended.
  public func value() throws(EngineError) -> UnsafeRawBufferPointer {
    try validity?.check()
    require(tree.isValid, "A cursor has a value only where it stands on an entry.")
    return try view.value(of: tree)
  }
}

/// Invalidates the cursors and scans of a write transaction when it changes or ends.
final class ReadValidity {
  private(set) var hasEnded = false

  func end() { hasEnded = true }

  @inline(__always)
  func check() throws(EngineError) {
    if hasEnded { throw Self.ended }
  }

  private static var ended: EngineError {
    EngineError(
      .closed, "the transaction has changed or ended since the cursor or scan was begun; begin another")
  }
}
