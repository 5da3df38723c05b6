import HeartwoodBytes
import HeartwoodFiles

/// The faults to inject into a file system, and when. A plan is a value and contains no randomness.
///
/// Plans are written as lists of faults, can be added, and can be printed and parsed: `FaultPlan(parsing:
/// plan.description) == plan`.
public struct FaultPlan: Hashable, Sendable {
  /// The faults, each with its own call counter. If several apply to one call, the first is injected and the
  /// others count the call without effect.
  public var faults: [Fault]
  /// The number of bytes by which all files together may still grow, counted from the installation of the
  /// plan. Truncating and unlinking files frees bytes. Nil for no limit.
  public var spaceLimit: Int64?
  /// The maximum number of bytes that one read returns, or nil.
  public var largestRead: Int?
  /// The maximum number of bytes that one write accepts, or nil.
  public var largestWrite: Int?
  /// Whether ``Report/check()`` accepts limits that were never reached.
  public var limitsMayStayUnused = false

  /// Creates a plan without faults.
  public init() { faults = [] }

  /// Creates a plan from its parts.
  public init(
    _ faults: [Fault] = [], spaceLimit: Int64? = nil, largestRead: Int? = nil, largestWrite: Int? = nil
  ) {
    require(largestRead ?? 1 > 0 && largestWrite ?? 1 > 0, "A transfer has at least one byte.")
    self.faults = faults
    self.spaceLimit = spaceLimit
    self.largestRead = largestRead
    self.largestWrite = largestWrite
  }

  /// A plan under which the disk is full after `bytes` more bytes.
  public static func fullDisk(after bytes: Int64) -> FaultPlan { FaultPlan(spaceLimit: bytes) }

  /// The faults of both plans, those of the first before those of the second, and the smaller of their
  /// limits.
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

  /// Whether the plan has neither faults nor limits.
  public var isEmpty: Bool { self == FaultPlan() }
}

extension FaultPlan: ExpressibleByArrayLiteral {
  /// Creates a plan with these faults.
  public init(arrayLiteral faults: Fault...) { self.init(faults) }
}

extension FaultPlan {
  /// The calls that a fault counts.
  public enum Calls: Hashable, Sendable {
    /// The calls of one operation.
    case of(FileSystemError.Operation)
    /// All calls that change something or make it durable: those before which the hook is called.
    case mutations
    /// All calls.
    case any
  }

  /// Which of the counted calls get the fault.
  public enum Occurrence: Hashable, Sendable {
    /// One call, numbered from 1.
    case nth(Int)
    /// Each call whose number is a multiple of this one.
    case every(Int)
    /// One call and all later ones.
    case from(Int)

    /// The first call.
    public static let once = Occurrence.nth(1)
    /// All calls.
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

  /// How often an error occurs.
  public enum Duration: Hashable, Sendable {
    /// At one call only.
    case once
    /// At one call and at all later ones.
    case forever
  }

  /// The part of a failing call that is performed nevertheless.
  public enum Effect: String, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none
    /// The first half of a write; nothing of other calls.
    case half
    /// The whole call: only the result is wrong.
    case whole
  }

  /// The effect on a call in place of its normal execution.
  public enum Action: Hashable, Sendable {
    /// Fails with this error code. A failing `close` always closes the file.
    case fail(FileSystemError.Code, Effect = .none)
    /// Transfers at most this many bytes; with 0, none.
    case shorten(to: Int)
    /// Reports success of a write, although only the first bytes are written. `rest` is the content of the
    /// remainder.
    case tear(keeping: Int, rest: TornContent)
    /// Reads or writes at an offset shifted by this many bytes, negative for towards the start, but not
    /// before offset 0.
    case misdirect(by: Int64)
    /// Flips this many bits in the bytes that a read returns. The seed selects the bits.
    case flipBits(Int, seed: UInt64)
    /// Changes the behavior of the sync of a file or directory.
    case sync(SyncBehavior)
    /// Moves the clock of the simulated disk by this many nanoseconds, then makes the call.
    case jumpClock(by: Int64)

    /// Whether the action can apply to calls of this operation.
    func applies(to operation: FileSystemError.Operation) -> Bool {
      switch self {
      case .fail, .jumpClock: true
      case .shorten, .misdirect: operation == .read || operation == .write
      case .tear: operation == .write
      case .flipBits: operation == .read
      case .sync: operation == .sync || operation == .syncDirectory
      }
    }

    /// Whether the caller gets an error.
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

/// A call that changes something or makes it durable, described just before it is made.
public struct Mutation: Hashable, Sendable, CustomStringConvertible {
  /// The number of the call in its file system, counted from 1.
  public let number: Int
  /// The operation.
  public let operation: FileSystemError.Operation
  /// The file or directory.
  public let path: String

  /// The call as a phrase.
  public var description: String { "call \(number), \(operation.rawValue) of \(path)" }
}
