import Foundation
import HeartwoodBytes
import HeartwoodFiles
import Synchronization

/// Which thread is inside a context: entered before each use of the context or of one of its objects, left after it.
///
/// - Invariant: `depth` is touched by the thread in `occupant` alone.
@usableFromInline
final class ContextOccupancy: @unchecked Sendable {
  /// What a thread is about to do.
  struct Use {
    let verb: StaticString
    var object: ManagedObject?
    var slot: Int?
  }

  /// The number of the thread that is inside; 0 for none. Acquired by entering and released by leaving, so that what
  /// one thread did in the context is seen by the next.
  private let occupant = Atomic<UInt>(0)
  /// How often the occupant has entered without leaving.
  private var depth = 0
  /// Whether uses belong inside `perform` and `performAndWait`.
  private let belongsToQueue: Atomic<Bool>

  /// - Returns: nil where nothing is to be checked.
  init?(_ checking: ConcurrencyChecking) {
    guard checking != .off else { return nil }
    belongsToQueue = Atomic(checking == .strict)
  }

  /// Enters for one use.
  func enter(_ context: ManagedObjectContext, _ use: @autoclosure () -> Use) {
    if occupy() { return }
    guard occupant.load(ordering: .relaxed) == CurrentThread.identifier else {
      stop(context, use(), "while another thread was using the context")
    }
    guard belongsToQueue.load(ordering: .relaxed), !context.isOnMainQueue else { return }
    stop(context, use(), "outside perform and performAndWait, inside of which the context is used elsewhere")
  }

  /// Enters for a block of `perform` or `performAndWait`; uses outside of such blocks are errors from now on.
  func enterQueue(_ context: ManagedObjectContext) {
    belongsToQueue.store(true, ordering: .relaxed)
    if occupy() || occupant.load(ordering: .relaxed) == CurrentThread.identifier { return }
    stop(context, Use(verb: "perform was begun"), "while another thread was using the context outside of it")
  }

  /// - Returns: true where the thread was inside already, so that there is nothing to check.
  private func occupy() -> Bool {
    let me = CurrentThread.identifier
    if occupant.load(ordering: .relaxed) == me {
      depth += 1
      return true
    }
    let (isMine, _) = occupant.compareExchange(
      expected: 0, desired: me, successOrdering: .acquiring, failureOrdering: .relaxed)
    if isMine { depth = 1 }
    return false
  }

  /// Ends one use.
  @usableFromInline
  func leave() {
    depth -= 1
    if depth == 0 { occupant.store(0, ordering: .releasing) }
  }

  private func stop(_ context: ManagedObjectContext, _ use: Use, _ circumstance: String) -> Never {
    programError(
      "\(use.text) \(circumstance): \(context.concurrencyName). Use a context and its objects inside its perform or "
        + "performAndWait; pass object identifiers to other threads, not objects")
  }
}

extension ContextOccupancy.Use {
  fileprivate var text: String {
    guard let object else { return "\(verb)" }
    let property = slot.map { object.entity.property(at: $0).displayName + " of " } ?? ""
    return "\(verb) \(property)\(object.entity.displayName) \(object.identifier)"
  }
}

extension ManagedObjectContext {
  /// The context as messages about threads call it.
  fileprivate var concurrencyName: String {
    let kind =
      concurrencyType == .mainQueue ? "the context of the main queue" : "a context of a private queue"
    return name.map { "\(kind) called \"\($0)\"" } ?? kind
  }

  fileprivate var isOnMainQueue: Bool { concurrencyType == .mainQueue && Thread.isMainThread }

  /// Begins a use of the context; `endUse` must follow.
  @inline(__always)
  func beginUse(_ verb: StaticString, _ object: ManagedObject? = nil, _ slot: Int? = nil) {
    guard let occupancy else { return }
    occupancy.enter(self, ContextOccupancy.Use(verb: verb, object: object, slot: slot))
  }

  @inline(__always)
  func endUse() { occupancy?.leave() }
}

extension ManagedObject {
  /// Begins a use of the object.
  ///
  /// - Returns: what has to be left after it; nil where the context checks nothing, or there is none.
  @inline(__always)
  final func beginUse(_ verb: StaticString, _ slot: @autoclosure () -> Int?) -> ContextOccupancy? {
    guard let contextReference else { return nil }
    return contextReference._withUnsafeGuaranteedRef { context in
      guard let occupancy = context.occupancy else { return nil }
      occupancy.enter(context, ContextOccupancy.Use(verb: verb, object: self, slot: slot()))
      return occupancy
    }
  }

  /// As `beginUse`, for reading the property at an offset.
  @usableFromInline
  final func _beginRead(_ offset: Int) -> ContextOccupancy? { beginUse("reading", modelledSlot(offset)) }

  /// Whether the accessors may read the row without a check.
  final var mayExposeRow: Bool {
    #if DEBUG
      // They check in any case.
      true
    #else
      contextReference?._withUnsafeGuaranteedRef { $0.occupancy == nil } ?? true
    #endif
  }
}
