/// What went wrong in the engine, where, and what to do about it.
public struct EngineError: Error, Sendable, CustomStringConvertible {
  /// What kind of trouble; open for kinds that later versions add.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind.
    public let rawValue: String

    /// A kind by name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name.
    public var description: String { rawValue }

    /// The path holds something, but no store.
    public static let notAStore = Code(rawValue: "notAStore")
    /// The store was written by a newer version, in a format that this one cannot read.
    public static let newerFormat = Code(rawValue: "newerFormat")
    /// Bytes are not what was written.
    public static let damaged = Code(rawValue: "damaged")
    /// Somebody has the store to themselves, or another process has written for longer than `busyTimeout`.
    public static let locked = Code(rawValue: "locked")
    /// A write on a store that is open for reading only, or in a folder that cannot be written.
    public static let readOnly = Code(rawValue: "readOnly")
    /// The store, snapshot or transaction is closed.
    public static let closed = Code(rawValue: "closed")
    /// A sync failed earlier: nothing is written until the store is opened again.
    public static let stopped = Code(rawValue: "stopped")
    /// The sync of this very commit failed, or writing it did and what was written could not be taken away:
    /// after reopening it is there whole, or not at all.
    public static let outcomeUnknown = Code(rawValue: "outcomeUnknown")
    /// The disk or the quota is full, or a file would pass the process's limit of file sizes.
    public static let noSpace = Code(rawValue: "noSpace")
    /// The file system failed.
    public static let inputOutput = Code(rawValue: "inputOutput")
    /// A key is empty or too long.
    public static let invalidKey = Code(rawValue: "invalidKey")
    /// A value, a transaction or a segment passes its limit.
    public static let tooLarge = Code(rawValue: "tooLarge")
    /// A value that comes piece by piece has ended too early.
    public static let truncatedSource = Code(rawValue: "cutShort")
    /// The generation is not in the log, or is newer than the newest.
    public static let generationUnavailable = Code(rawValue: "generationUnavailable")
    /// A write, checkpoint, reclamation, verification, backup or close was begun inside a write of the same thread.
    public static let nestedWrite = Code(rawValue: "nestedWrite")
    /// Nothing is at the path.
    public static let notFound = Code(rawValue: "notFound")
    /// The folder of an open store was deleted, moved or replaced.
    public static let replaced = Code(rawValue: "replaced")
    /// The store is marked to hold something else than what it was opened to hold.
    public static let otherContent = Code(rawValue: "otherContent")
    /// Something is at the path already.
    public static let exists = Code(rawValue: "exists")
  }

  /// What kind of trouble.
  public let code: Code
  /// What happened and what to do.
  public let message: String
  /// The file, where one is concerned.
  public let file: String?
  /// The byte offset in the file, where one is concerned.
  public let offset: Int64?
  /// The error below, where there is one.
  public let underlying: (any Error)?

  /// An error of a kind, with its message and its place.
  public init(
    _ code: Code, _ message: String, file: String? = nil, offset: Int64? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.file = file
    self.offset = offset
    self.underlying = underlying
  }

  /// True when the transaction may or may not be there after reopening.
  public var isOutcomeUnknown: Bool { code == .outcomeUnknown }

  /// One line: message, file, offset, cause.
  public var description: String {
    var text = message
    if let file { text += " (\(file)" + (offset.map { " at byte \($0)" } ?? "") + ")" }
    if let underlying { text += ": \(underlying)" }
    return text
  }
}
