import Foundation
import Synchronization

/// Whether contexts notice that a program uses them from the wrong thread, which else corrupts memory.
///
/// A context and its objects may be used by one thread at a time. What is checked at each use, before anything is
/// touched, ends the process with a message that names object, property and context.
public enum ConcurrencyChecking: Int, Sendable {
  /// Nothing is checked. The default in release builds: reading a property costs nothing more for it.
  case off
  /// Two threads at the same time are a program error. So is any use outside `perform` and `performAndWait` of a
  /// context for which one of them has been called before; on the main thread, the context of the main queue may
  /// be used without them. The default in debug builds.
  case standard
  /// As `standard`, but every use outside `perform` and `performAndWait` is an error from the beginning.
  case strict

  /// What a program starts with: the environment variable `HEARTWOOD_CONCURRENCY_CHECKING` (`off`, `standard` or
  /// `strict`) where it is set, else the build's default.
  static let initial: ConcurrencyChecking = {
    switch ProcessInfo.processInfo.environment["HEARTWOOD_CONCURRENCY_CHECKING"] {
    case "off": return .off
    case "standard": return .standard
    case "strict": return .strict
    default:
      #if DEBUG
        return .standard
      #else
        return .off
      #endif
    }
  }()
}

extension ManagedObjectContext {
  private static let checking = Atomic<Int>(ConcurrencyChecking.initial.rawValue)

  /// What contexts check that are made from now on.
  public static var concurrencyChecking: ConcurrencyChecking {
    get { ConcurrencyChecking(rawValue: checking.load(ordering: .relaxed)) ?? .off }
    set { checking.store(newValue.rawValue, ordering: .relaxed) }
  }
}
