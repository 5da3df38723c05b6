import Foundation

/// Whether tests that try many cases may take minutes: set HEARTWOOD_LONG for it.
enum LongRun {
  static let isWanted = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil
}
