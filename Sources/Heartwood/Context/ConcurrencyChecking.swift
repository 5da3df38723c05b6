import Foundation
import Synchronization

/// How contexts detect use from the wrong thread, which would otherwise corrupt memory.
///
/// One thread at a time may use a context and its objects. Each use is checked before it touches anything; a failed
/// check ends the process with a message that names the object, the property and the context.
public enum ConcurrencyChecking: Int, Sendable {
  /// No checks. The default in release builds: reading a property has no added cost.
  case off
  /// Use by two threads at the same time is a program error. After the first call of `perform` or
  /// `performAndWait` on a context, so is any use outside them, except on the main thread for a context of the
  /// main queue. The default in debug builds.
  case standard
  /// As `standard`, but every use outside `perform` and `performAndWait` is an error from the start.
  case strict

  /// The initial mode: the environment variable `HEARTWOOD_CONCURRENCY_CHECKING` (`off`, `standard` or
  /// `strict`) if it is set to one of them, otherwise the build's default.
  static let initial: ConcurrencyChecking = {
    if let ofEnvironment { return ofEnvironment }
    #if DEBUG
      return .standard
    #else
      return .off
    #endif
  }()

  private static let ofEnvironment: ConcurrencyChecking? = {
    switch ProcessInfo.processInfo.environment["HEARTWOOD_CONCURRENCY_CHECKING"] {
    case "off": .off
    case "standard": .standard
    case "strict": .strict
    default: nil
    }
  }()

  /// The mode of contexts that are made by Core Data's initialiser: `strict` in a program with the arguments
  /// `-com.apple.CoreData.ConcurrencyDebug 1` or a user default of that name, otherwise `off`; unless the environment says what.
  static let ofCoreData: ConcurrencyChecking = {
    if let ofEnvironment { return ofEnvironment }
    let name = "com.apple.CoreData.ConcurrencyDebug"
    let arguments = CommandLine.arguments
    if let place = arguments.firstIndex(of: "-" + name), place + 1 < arguments.count {
      return (arguments[place + 1] as NSString).boolValue ? .strict : .off
    }
    return UserDefaults.standard.bool(forKey: name) ? .strict : .off
  }()
}
