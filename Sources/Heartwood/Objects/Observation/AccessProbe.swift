import Observation
import Synchronization

/// Tells whether the current thread collects accesses for `withObservationTracking`.
///
/// The Observation framework has no such question. It puts an accessed key path into a set if it collects, and does nothing
/// otherwise. So a key path whose argument counts how often it is hashed answers it. Without the answer, each read would need
/// a registrar for its object, which takes memory and time although nothing observes.
package enum AccessProbe {
  /// Whether the current thread collects accesses. May also be true while another thread begins to, which makes no difference
  /// but time.
  @inline(__always)
  package static func isCollecting() -> Bool {
    let parts = parts
    let before = parts.count.load(ordering: .relaxed)
    parts.registrar.access(parts.probe, keyPath: parts.keyPath)
    return parts.count.load(ordering: .relaxed) != before
  }

  /// All that a question needs, so that it looks once whether they are made.
  private static let parts = Parts()

  private final class Parts: @unchecked Sendable {
    /// Relaxed: a thread sees its own additions, and no other memory depends on them.
    let count = Atomic<Int>(0)
    let registrar = ObservationRegistrar()
    let probe = Probe()
    let keyPath = \Probe.[Argument()]
  }

  /// - Invariant: Nothing ever changes the property, so nothing is notified of it.
  private final class Probe: Observable, @unchecked Sendable {
    subscript(argument: Argument) -> Int { 0 }
  }

  private struct Argument: Hashable {
    static func == (left: Argument, right: Argument) -> Bool { true }
    func hash(into hasher: inout Hasher) { AccessProbe.parts.count.add(1, ordering: .relaxed) }
  }
}
