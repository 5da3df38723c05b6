import HeartwoodBytes
import HeartwoodFiles

extension FaultPlan {
  /// One thing that goes wrong, at one call or at many.
  public struct Fault: Hashable, Sendable {
    /// The calls that are counted, as far as the action applies to them.
    public var calls: Calls
    /// The files and directories whose calls are counted, by a pattern in which `*` stands for any
    /// characters and `?` for one; empty for all. A pattern with a slash is held against the whole path,
    /// another one against its last part.
    public var file: String
    /// Which of the counted calls are met.
    public var occurrence: Occurrence
    /// What happens to them.
    public var action: Action
    /// Whether ``Report/check()`` accepts that the fault never met a call.
    public var mayStayUnused = false

    /// Does `action` to the calls of `calls` on `file` that `occurrence` picks.
    public init(_ action: Action, on calls: Calls, file: String = "", _ occurrence: Occurrence = .once) {
      require(occurrence.number > 0, "Calls are counted from 1 on.")
      self.action = action
      self.calls = calls
      self.file = file
      self.occurrence = occurrence
    }

    /// Fails the call with the number `occurrence` among `calls`, and with `forever` all after it.
    ///
    /// - Parameters:
    ///   - suffix: The end of the names of the files and directories whose calls are counted; empty for all.
    ///   - code: The kind of the error.
    ///   - effect: What the failing call does all the same.
    public init(
      _ calls: Calls, occurrence: Int = 1, suffix: String = "", code: FileSystemError.Code = .inputOutput,
      duration: Duration = .once, effect: Effect = .none
    ) {
      self.init(
        .fail(code, effect), on: calls, file: suffix.isEmpty ? "" : "*" + suffix,
        duration == .once ? .nth(occurrence) : .from(occurrence))
    }

    /// The same fault, of which ``Report/check()`` accepts that it never met a call.
    public var unlessUnused: Fault {
      var fault = self
      fault.mayStayUnused = true
      return fault
    }

    func counts(_ operation: FileSystemError.Operation, _ path: String, isMutation: Bool) -> Bool {
      guard action.applies(to: operation) else { return false }
      switch calls {
      case .of(let counted) where counted != operation: return false
      case .mutations where !isMutation: return false
      default: return FilePattern.matches(file, path)
      }
    }
  }
}

extension FaultPlan.Fault {
  /// Fails calls with an error of a kind.
  public static func fail(
    _ calls: FaultPlan.Calls, file: String = "", _ occurrence: FaultPlan.Occurrence = .once,
    with code: FileSystemError.Code = .inputOutput, effect: FaultPlan.Effect = .none
  ) -> Self {
    Self(.fail(code, effect), on: calls, file: file, occurrence)
  }

  /// Lets reads or writes transfer no more than `count` bytes.
  public static func shorten(
    _ calls: FaultPlan.Calls, file: String = "", _ occurrence: FaultPlan.Occurrence = .once, to count: Int
  ) -> Self {
    require(count >= 0, "The length of a transfer is not negative.")
    return Self(.shorten(to: count), on: calls, file: file, occurrence)
  }

  /// Lets writes succeed of which only the first `count` bytes are written.
  public static func tear(
    file: String = "", _ occurrence: FaultPlan.Occurrence = .once, keeping count: Int,
    rest: TornContent = .old
  ) -> Self {
    require(count >= 0, "The length of a transfer is not negative.")
    return Self(.tear(keeping: count, rest: rest), on: .write, file: file, occurrence)
  }

  /// Lets reads or writes go to another place in the file.
  public static func misdirect(
    _ calls: FaultPlan.Calls, file: String = "", _ occurrence: FaultPlan.Occurrence = .once,
    by distance: Int64
  ) -> Self {
    Self(.misdirect(by: distance), on: calls, file: file, occurrence)
  }

  /// Turns bits over in what is read.
  public static func flipBits(
    _ count: Int = 1, file: String = "", _ occurrence: FaultPlan.Occurrence = .once, seed: UInt64 = 0
  ) -> Self {
    require(count > 0, "At least one bit is turned over.")
    return Self(.flipBits(count, seed: seed), on: .read, file: file, occurrence)
  }

  /// Lets syncs of files behave in a way of their own.
  public static func sync(
    _ behavior: SyncBehavior, file: String = "", _ occurrence: FaultPlan.Occurrence = .once
  ) -> Self {
    Self(.sync(behavior), on: .sync, file: file, occurrence)
  }

  /// Lets syncs of directories behave in a way of their own.
  public static func syncDirectory(
    _ behavior: SyncBehavior, file: String = "", _ occurrence: FaultPlan.Occurrence = .once
  ) -> Self {
    Self(.sync(behavior), on: .syncDirectory, file: file, occurrence)
  }

  /// Lets the clock jump just before a call.
  public static func jumpClock(
    by nanoseconds: Int64, at calls: FaultPlan.Calls, file: String = "",
    _ occurrence: FaultPlan.Occurrence = .once
  ) -> Self {
    Self(.jumpClock(by: nanoseconds), on: calls, file: file, occurrence)
  }
}

/// Patterns for the names of files.
enum FilePattern {
  static func matches(_ pattern: String, _ path: String) -> Bool {
    guard !pattern.isEmpty, pattern != "*" else { return true }
    let name = pattern.contains("/") ? path[...] : path.split(separator: "/").last ?? ""
    return matches(Array(pattern.utf8), Array(name.utf8))
  }

  /// Goes back only to the last star: whatever an earlier one would take, the last one can.
  private static func matches(_ pattern: [UInt8], _ name: [UInt8]) -> Bool {
    var (place, position) = (0, 0)
    var star: (place: Int, position: Int)?
    while position < name.count {
      if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
        star = (place, position)
        place += 1
      } else if place < pattern.count, [UInt8(ascii: "?"), name[position]].contains(pattern[place]) {
        place += 1
        position += 1
      } else if let last = star {
        star = (last.place, last.position + 1)
        (place, position) = (last.place + 1, last.position + 1)
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
