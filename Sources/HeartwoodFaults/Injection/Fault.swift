import HeartwoodBytes
import HeartwoodFiles

extension FaultPlan {
  /// A fault that is injected at one call or at many.
  public struct Fault: Hashable, Sendable {
    /// The calls that are counted, if the action applies to them.
    public var calls: Calls
    /// The files and directories whose calls are counted. In the pattern, `*` matches any characters and `?`
    /// matches one; an empty pattern matches all. A pattern with a slash is matched against the whole path,
    /// any other against its last component.
    public var file: String
    /// Which of the counted calls get the fault.
    public var occurrence: Occurrence
    /// The effect on these calls.
    public var action: Action
    /// Whether ``Report/check()`` accepts that the fault was never injected.
    public var mayStayUnused = false

    /// Creates a fault that applies `action` to the calls of `calls` on `file` that `occurrence` selects.
    public init(_ action: Action, on calls: Calls, file: String = "", _ occurrence: Occurrence = .once) {
      require(occurrence.number > 0, "Calls are counted from 1 on.")
      self.action = action
      self.calls = calls
      self.file = file
      self.occurrence = occurrence
    }

    /// Creates a fault that fails call number `occurrence` among `calls`, and with `forever` all later ones.
    ///
    /// - Parameters:
    ///   - calls: The calls that are counted.
    ///   - occurrence: The number of the call, from 1 on.
    ///   - suffix: The suffix of the names of the files and directories whose calls are counted; empty for
    ///     all.
    ///   - code: The code of the error.
    ///   - duration: Whether only this call fails, or all later ones as well.
    ///   - effect: The part of the failing call that is performed nevertheless.
    public init(
      _ calls: Calls, occurrence: Int = 1, suffix: String = "", code: FileSystemError.Code = .inputOutput,
      duration: Duration = .once, effect: Effect = .none
    ) {
      self.init(
        .fail(code, effect), on: calls, file: suffix.isEmpty ? "" : "*" + suffix,
        duration == .once ? .nth(occurrence) : .from(occurrence))
    }

    /// The same fault, for which ``Report/check()`` accepts that it was never injected.
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
  /// A fault that fails calls with an error.
  public static func fail(
    _ calls: FaultPlan.Calls, file: String = "", _ occurrence: FaultPlan.Occurrence = .once,
    with code: FileSystemError.Code = .inputOutput, effect: FaultPlan.Effect = .none
  ) -> Self {
    Self(.fail(code, effect), on: calls, file: file, occurrence)
  }

  /// A fault that limits reads or writes to `count` bytes.
  public static func shorten(
    _ calls: FaultPlan.Calls, file: String = "", _ occurrence: FaultPlan.Occurrence = .once, to count: Int
  ) -> Self {
    require(count >= 0, "The length of a transfer is not negative.")
    return Self(.shorten(to: count), on: calls, file: file, occurrence)
  }

  /// A fault that lets writes succeed although only the first `count` bytes are written.
  public static func tear(
    file: String = "", _ occurrence: FaultPlan.Occurrence = .once, keeping count: Int,
    rest: TornContent = .old
  ) -> Self {
    require(count >= 0, "The length of a transfer is not negative.")
    return Self(.tear(keeping: count, rest: rest), on: .write, file: file, occurrence)
  }

  /// A fault that redirects reads or writes to another offset of the file.
  public static func misdirect(
    _ calls: FaultPlan.Calls, file: String = "", _ occurrence: FaultPlan.Occurrence = .once,
    by distance: Int64
  ) -> Self {
    Self(.misdirect(by: distance), on: calls, file: file, occurrence)
  }

  /// A fault that flips bits in the bytes that are read.
  public static func flipBits(
    _ count: Int = 1, file: String = "", _ occurrence: FaultPlan.Occurrence = .once, seed: UInt64 = 0
  ) -> Self {
    require(count > 0, "At least one bit is flipped.")
    return Self(.flipBits(count, seed: seed), on: .read, file: file, occurrence)
  }

  /// A fault that changes the behavior of file syncs.
  public static func sync(
    _ behavior: SyncBehavior, file: String = "", _ occurrence: FaultPlan.Occurrence = .once
  ) -> Self {
    Self(.sync(behavior), on: .sync, file: file, occurrence)
  }

  /// A fault that changes the behavior of directory syncs.
  public static func syncDirectory(
    _ behavior: SyncBehavior, file: String = "", _ occurrence: FaultPlan.Occurrence = .once
  ) -> Self {
    Self(.sync(behavior), on: .syncDirectory, file: file, occurrence)
  }

  /// A fault that moves the clock just before a call.
  public static func jumpClock(
    by nanoseconds: Int64, at calls: FaultPlan.Calls, file: String = "",
    _ occurrence: FaultPlan.Occurrence = .once
  ) -> Self {
    Self(.jumpClock(by: nanoseconds), on: calls, file: file, occurrence)
  }
}

/// Matches file names against patterns.
enum FilePattern {
  static func matches(_ pattern: String, _ path: String) -> Bool {
    guard !pattern.isEmpty, pattern != "*" else { return true }
    let name = pattern.contains("/") ? path[...] : path.split(separator: "/").last ?? ""
    return matches(Array(pattern.utf8), Array(name.utf8))
  }

  /// Backtracks only to the last star: it can match everything that an earlier star could.
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
