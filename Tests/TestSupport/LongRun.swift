import Foundation

/// Whether tests that try many cases may take minutes: set HEARTWOOD_LONG for it.
package enum LongRun {
  package static let isWanted = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil
}

extension Sequence {
  /// The first element and each `step`th one after it: what a usual run tries of many cases. A long run tries all.
  package func sampled(every step: Int) -> some Sequence<Element> {
    enumerated().lazy.filter { LongRun.isWanted || $0.offset.isMultiple(of: step) }.map(\.element)
  }
}
