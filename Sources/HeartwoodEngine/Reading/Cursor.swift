import HeartwoodBytes

/// Stands on one entry of a snapshot or a transaction and moves in the order of the keys.
///
/// A cursor stands nowhere until it is moved. `key` is valid until the cursor moves or is released; `value()` as long as the
/// snapshot is held, in a write transaction until its next change. With that change, a cursor of a write transaction ends: moving
/// it and `value()` throw `.closed`. A cursor belongs to one thread at a time.
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

  /// Whether the cursor stands on an entry.
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

  /// Moves to the first entry at or after a key; returns whether there is one. - Complexity: O(log n).
  public func seek(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.seek(key)
  }

  /// Moves to the first entry at or after a key; returns whether there is one.
  public func seek(_ key: [UInt8]) throws(EngineError) -> Bool {
    try key.withBytes { (bytes) throws(EngineError) in try seek(bytes) }
  }

  /// Moves to the last entry before a key; returns whether there is one. - Complexity: O(log n).
  public func seekBefore(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.seekBefore(key)
  }

  /// Moves to the last entry before a key; returns whether there is one.
  public func seekBefore(_ key: [UInt8]) throws(EngineError) -> Bool {
    try key.withBytes { (bytes) throws(EngineError) in try seekBefore(bytes) }
  }

  /// Moves to the entry with this many keys before it; returns whether there is one.
  public func seek(rank: UInt64) throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.seek(rank: rank)
  }

  /// Moves on; returns whether there is another entry. Behind the last one the cursor stands nowhere, and one that stands
  /// nowhere does not move: seek, or go to the first or last entry.
  public func next() throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.next()
  }

  /// Moves back; returns whether there is an entry before. Before the first one the cursor stands nowhere, as behind the last.
  public func previous() throws(EngineError) -> Bool {
    try validity?.check()
    return try tree.previous()
  }

  /// The key of the entry that the cursor stands on.
  ///
  /// - Precondition: `isValid`, which a cursor of a write transaction is not behind its next change.
  public var key: UnsafeRawBufferPointer {
    require(isValid, "A cursor has a key only where it stands on an entry.")
    return tree.key
  }

  /// The value of the entry that the cursor stands on.
  ///
  /// - Throws: `.damaged` where its bytes are not what was written.
  public func value() throws(EngineError) -> UnsafeRawBufferPointer {
    try validity?.check()
    require(tree.isValid, "A cursor has a value only where it stands on an entry.")
    return try view.value(of: tree)
  }
}

/// Ends cursors and scans of a write transaction when it changes or ends.
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
