/// An error of the engine: what failed, on which file, and what to do about it.
public struct EngineError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error. Later versions may add kinds.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind.
    public let rawValue: String

    /// Creates a kind with a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name.
    public var description: String { rawValue }

    /// The path contains something other than a store.
    public static let notAStore = Code(rawValue: "notAStore")
    /// A newer version wrote the store, in a format that this one cannot read.
    public static let newerFormat = Code(rawValue: "newerFormat")
    /// Bytes are not what was written.
    public static let damaged = Code(rawValue: "damaged")
    /// Another process or engine has the store open exclusively, or has written for longer than
    /// `busyTimeout`.
    public static let locked = Code(rawValue: "locked")
    /// A write on a store that is open for reading only, or in a folder that cannot be written.
    public static let readOnly = Code(rawValue: "readOnly")
    /// The store, snapshot or transaction is closed.
    public static let closed = Code(rawValue: "closed")
    /// A sync failed earlier: nothing can be written until the store is opened again.
    public static let stopped = Code(rawValue: "stopped")
    /// The sync of this commit failed, or its write failed and the written bytes could not be erased. After
    /// reopening, the transaction is there as a whole or not at all.
    public static let outcomeUnknown = Code(rawValue: "outcomeUnknown")
    /// The disk or the quota is full, or a file would exceed the process's limit of file sizes.
    public static let noSpace = Code(rawValue: "noSpace")
    /// A call of the file system failed.
    public static let inputOutput = Code(rawValue: "inputOutput")
    /// The store is encrypted with another key than the one that it is opened with. It is not damaged.
    public static let wrongKey = Code(rawValue: "wrongKey")
    /// A key is empty or too long.
    public static let invalidKey = Code(rawValue: "invalidKey")
    /// A value, a transaction, a segment, or an untrusted store exceeds its limit.
    public static let tooLarge = Code(rawValue: "tooLarge")
    /// A value that is read piece by piece has ended before its announced length.
    public static let truncatedSource = Code(rawValue: "cutShort")
    /// The generation is not available in the log any more, or is newer than the newest.
    public static let generationUnavailable = Code(rawValue: "generationUnavailable")
    /// A write, checkpoint, reclamation, verification, backup or close was begun inside a write of the same
    /// thread.
    public static let nestedWrite = Code(rawValue: "nestedWrite")
    /// Nothing is at the path.
    public static let notFound = Code(rawValue: "notFound")
    /// The folder of an open store was deleted, moved or replaced, or one of its files was deleted, replaced or overwritten, as by a backup
    /// that is copied over it. The commit that throws it is not safe. Reading goes on.
    public static let replaced = Code(rawValue: "replaced")
    /// The store is marked with another content than the engine was opened with.
    public static let otherContent = Code(rawValue: "otherContent")
    /// Something is at the path already.
    public static let exists = Code(rawValue: "exists")
    /// A shipped piece is missing, and a later one is there.
    public static let missingPiece = Code(rawValue: "missingPiece")
    /// A shipped piece, or a follower, is of another store.
    public static let otherStore = Code(rawValue: "otherStore")
    /// A shipped piece is of another copy of the store, such as a restored one, which has gone its own way.
    public static let otherLineage = Code(rawValue: "otherLineage")
    /// A store has lost, or has other transactions than, what it has shipped; or a follower's store was written to.
    public static let diverged = Code(rawValue: "diverged")
    /// The newest pieces of a destination are missing, which were there before, or its folder was moved.
    public static let wentBack = Code(rawValue: "wentBack")
  }

  /// The kind of the error.
  public let code: Code
  /// The failure, its reason, and what to do.
  public let message: String
  /// The file concerned, if any.
  public let file: String?
  /// The byte offset in the file, if any.
  public let offset: Int64?
  /// The cause, if any.
  public let underlying: (any Error)?
  /// Whether the damage is only apparent if another process has changed the store meanwhile: it removed a file, or wrote to
  /// it. The same read then succeeds if it begins again.
  private(set) var isStale = false
  /// Whether a process was seen that attached meanwhile: also if it has detached since, and left everything as it was.
  private(set) var isOvertaken = false

  /// Creates an error.
  public init(
    _ code: Code, _ message: String, file: String? = nil, offset: Int64? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.file = file
    self.offset = offset
    self.underlying = underlying
  }

  /// Damage that may be only apparent; see `isStale`.
  static func stale(_ message: String, file: String, offset: Int? = nil) -> EngineError {
    var error = EngineError.damaged(message, file: file, offset: offset)
    error.isStale = true
    return error
  }

  /// Another process attached while the store was read.
  static func overtaken(_ message: String, file: String) -> EngineError {
    var error = EngineError.stale(message, file: file)
    error.isOvertaken = true
    return error
  }

  /// Whether the transaction may or may not be there after reopening.
  public var isOutcomeUnknown: Bool { code == .outcomeUnknown }

  /// One line: message, file, offset, cause.
  public var description: String {
    var text = message
    if let file { text += " (\(file)" + (offset.map { " at byte \($0)" } ?? "") + ")" }
    if let underlying { text += ": \(underlying)" }
    return text
  }
}
