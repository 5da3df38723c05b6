import Foundation

/// How much a random test tries: more with `HEARTWOOD_LONG` in the environment.
enum Rounds {
  static func count(_ usual: Int, long: Int) -> Int {
    ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] == nil ? usual : long
  }
}
