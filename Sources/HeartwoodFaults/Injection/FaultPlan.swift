import HeartwoodFiles

/// What goes wrong at a file system, and when: a value, without any chance in it.
public struct FaultPlan: Hashable, Sendable {
  /// The errors, each counting its calls by itself; where several are due at one call, the first is
  /// thrown and the others are used up.
  public var faults: [Fault]
  /// By how many bytes all files together may still grow, counted from the moment when the plan is put
  /// to use; what is cut off or unlinked is given back. Nil for no limit.
  public var spaceLimit: Int64?
  /// The most bytes that one read returns, or nil.
  public var largestRead: Int?
  /// The most bytes that one write takes, or nil.
  public var largestWrite: Int?

  /// A plan of these parts; of none of them, nothing goes wrong.
  public init(
    _ faults: [Fault] = [], spaceLimit: Int64? = nil, largestRead: Int? = nil, largestWrite: Int? = nil
  ) {
    precondition(largestRead ?? 1 > 0 && largestWrite ?? 1 > 0, "A transfer has at least one byte.")
    self.faults = faults
    self.spaceLimit = spaceLimit
    self.largestRead = largestRead
    self.largestWrite = largestWrite
  }

  /// The calls among which a fault picks its own.
  public enum Calls: Hashable, Sendable {
    /// Those of one operation.
    case of(FileSystemError.Operation)
    /// All that change something, or make it durable: those before which the hook is called.
    case mutations
    /// All.
    case any
  }

  /// How often a fault is met.
  public enum Duration: Hashable, Sendable {
    /// At its call only.
    case once
    /// At its call and at all that follow.
    case forever
  }

  /// What a failing call does all the same.
  public enum Effect: Hashable, Sendable {
    /// Nothing.
    case none
    /// Of a write the first half; of others nothing.
    case half
    /// Everything: only the answer is wrong.
    case whole
  }

  /// One error at one call, or from one call on. A failing `close` always closes.
  public struct Fault: Hashable, Sendable, CustomStringConvertible {
    /// The calls that are counted.
    public var calls: Calls
    /// Which of them fails, from 1 on.
    public var occurrence: Int
    /// The end of the names of the files and directories whose calls are counted; empty for all.
    public var suffix: String
    /// The kind of the error.
    public var code: FileSystemError.Code
    /// Whether those that follow fail too.
    public var duration: Duration
    /// What the failing call does all the same.
    public var effect: Effect

    /// Fails the call with this number among `calls`.
    public init(
      _ calls: Calls, occurrence: Int = 1, suffix: String = "", code: FileSystemError.Code = .inputOutput,
      duration: Duration = .once, effect: Effect = .none
    ) {
      precondition(occurrence > 0, "Calls are counted from 1 on.")
      self.calls = calls
      self.occurrence = occurrence
      self.suffix = suffix
      self.code = code
      self.duration = duration
      self.effect = effect
    }

    /// The fault in one line.
    public var description: String {
      let end = suffix.isEmpty ? "" : " of …\(suffix)"
      return "\(calls) call \(occurrence)\(end): \(code), \(duration), effect \(effect)"
    }

    func counts(_ operation: FileSystemError.Operation, _ path: String, isMutation: Bool) -> Bool {
      guard path.hasSuffix(suffix) else { return false }
      switch calls {
      case .of(let counted): return counted == operation
      case .mutations: return isMutation
      case .any: return true
      }
    }
  }
}

/// A call that changes something or makes it durable, just before it is made.
public struct Mutation: Hashable, Sendable, CustomStringConvertible {
  /// Which one it is of its file system, from 1 on.
  public let number: Int
  /// The operation.
  public let operation: FileSystemError.Operation
  /// The file or directory.
  public let path: String

  /// The call in a few words.
  public var description: String { "call \(number), \(operation.rawValue) of \(path)" }
}
