import HeartwoodBytes
import HeartwoodFiles

/// What goes wrong at a file system, and when: a value, without any chance in it.
///
/// Plans are written as lists of faults, added to one another, printed, and read back from what was
/// printed: `FaultPlan(parsing: plan.description) == plan`.
public struct FaultPlan: Hashable, Sendable {
  /// The faults, each counting its calls by itself; where several are due at one call, the first is
  /// met and the others are used up.
  public var faults: [Fault]
  /// By how many bytes all files together may still grow, counted from the moment when the plan is put
  /// to use; what is cut off or unlinked is given back. Nil for no limit.
  public var spaceLimit: Int64?
  /// The most bytes that one read returns, or nil.
  public var largestRead: Int?
  /// The most bytes that one write takes, or nil.
  public var largestWrite: Int?
  /// Whether ``Report/check()`` accepts limits that were never met.
  public var limitsMayStayUnused = false

  /// A plan in which nothing goes wrong.
  public init() { faults = [] }

  /// A plan of these parts.
  public init(
    _ faults: [Fault] = [], spaceLimit: Int64? = nil, largestRead: Int? = nil, largestWrite: Int? = nil
  ) {
    require(largestRead ?? 1 > 0 && largestWrite ?? 1 > 0, "A transfer has at least one byte.")
    self.faults = faults
    self.spaceLimit = spaceLimit
    self.largestRead = largestRead
    self.largestWrite = largestWrite
  }

  /// A full disk after `bytes` more bytes.
  public static func fullDisk(after bytes: Int64) -> FaultPlan { FaultPlan(spaceLimit: bytes) }

  /// All faults of both, those of the first before those of the second, and the smaller of their limits.
  public static func + (first: FaultPlan, second: FaultPlan) -> FaultPlan {
    var sum = FaultPlan(
      first.faults + second.faults, spaceLimit: smaller(first.spaceLimit, second.spaceLimit),
      largestRead: smaller(first.largestRead, second.largestRead),
      largestWrite: smaller(first.largestWrite, second.largestWrite))
    sum.limitsMayStayUnused = first.limitsMayStayUnused || second.limitsMayStayUnused
    return sum
  }

  private static func smaller<Number: Comparable>(_ first: Number?, _ second: Number?) -> Number? {
    guard let first, let second else { return first ?? second }
    return min(first, second)
  }

  /// Whether nothing goes wrong.
  public var isEmpty: Bool { self == FaultPlan() }
}

extension FaultPlan: ExpressibleByArrayLiteral {
  /// A plan of these faults.
  public init(arrayLiteral faults: Fault...) { self.init(faults) }
}

extension FaultPlan {
  /// The calls among which a fault picks its own.
  public enum Calls: Hashable, Sendable {
    /// Those of one operation.
    case of(FileSystemError.Operation)
    /// All that change something, or make it durable: those before which the hook is called.
    case mutations
    /// All.
    case any
  }

  /// Which of its calls a fault meets.
  public enum Occurrence: Hashable, Sendable {
    /// One of them, from 1 on.
    case nth(Int)
    /// Each whose number can be divided by this one.
    case every(Int)
    /// One of them and all that follow.
    case from(Int)

    /// The first.
    public static let once = Occurrence.nth(1)
    /// All of them.
    public static let forever = Occurrence.from(1)

    func includes(_ number: Int) -> Bool {
      switch self {
      case .nth(let only): number == only
      case .every(let period): number % period == 0
      case .from(let first): number >= first
      }
    }

    var number: Int {
      switch self {
      case .nth(let number), .every(let number), .from(let number): number
      }
    }
  }

  /// How often an error is met.
  public enum Duration: Hashable, Sendable {
    /// At its call only.
    case once
    /// At its call and at all that follow.
    case forever
  }

  /// What a failing call does all the same.
  public enum Effect: String, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none
    /// Of a write the first half; of others nothing.
    case half
    /// Everything: only the answer is wrong.
    case whole
  }

  /// What happens to a call in the place of what should.
  public enum Action: Hashable, Sendable {
    /// It fails with an error of this kind. A failing `close` always closes.
    case fail(FileSystemError.Code, Effect = .none)
    /// A read or write transfers no more than so many bytes; with 0, none.
    case shorten(to: Int)
    /// A write says that all is well; its first bytes are written, the rest is this.
    case tear(keeping: Int, rest: TornContent)
    /// A read or write goes so many bytes further, or back where the number is negative; not before the
    /// beginning of the file.
    case misdirect(by: Int64)
    /// A read returns its bytes with so many bits turned over; the seed says which.
    case flipBits(Int, seed: UInt64)
    /// The sync of a file or directory does this.
    case sync(SyncBehavior)
    /// The clock of the simulated disk jumps by so many nanoseconds, and the call is made.
    case jumpClock(by: Int64)

    /// Whether calls of this operation can be met so.
    func applies(to operation: FileSystemError.Operation) -> Bool {
      switch self {
      case .fail, .jumpClock: true
      case .shorten, .misdirect: operation == .read || operation == .write
      case .tear: operation == .write
      case .flipBits: operation == .read
      case .sync: operation == .sync || operation == .syncDirectory
      }
    }

    /// Whether the caller sees an error.
    var isError: Bool {
      switch self {
      case .fail, .sync(.failsKeepingData), .sync(.failsRevertingData): true
      default: false
      }
    }
  }
}

extension FaultPlan.Calls {
  /// The calls of `FileSystem.openDirectory`.
  public static let openDirectory = Self.of(.openDirectory)
  /// The calls of `FileSystem.createDirectory`.
  public static let createDirectory = Self.of(.createDirectory)
  /// The calls of `Directory.open`.
  public static let open = Self.of(.open)
  /// The calls of `Directory.entries`.
  public static let entries = Self.of(.entries)
  /// The calls of `Directory.rename`.
  public static let rename = Self.of(.rename)
  /// The calls of `Directory.unlink`.
  public static let unlink = Self.of(.unlink)
  /// The calls of `Directory.sync`.
  public static let syncDirectory = Self.of(.syncDirectory)
  /// The calls of `File.read`.
  public static let read = Self.of(.read)
  /// The calls of `File.write`.
  public static let write = Self.of(.write)
  /// The calls of `File.sync`.
  public static let sync = Self.of(.sync)
  /// The calls of `File.size`.
  public static let size = Self.of(.size)
  /// The calls of `File.truncate`.
  public static let truncate = Self.of(.truncate)
  /// The calls of `File.tryLock`, `File.unlock` and `File.isLocked`.
  public static let lock = Self.of(.lock)
  /// The calls of `File.map`.
  public static let map = Self.of(.map)
  /// The calls of `File.close`.
  public static let close = Self.of(.close)
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
