import Foundation
import HeartwoodBytes
import HeartwoodFiles
import Synchronization

/// Tracks which thread is using a context: entered before each use of the context or of one of its objects, left after
/// it.
///
/// Two threads use a context of the main queue rightly where no thread runs that queue: the main thread, which needs no `perform`, and the
/// one that runs its blocks meanwhile. They wait for each other here, whether uses are checked or not.
///
/// - Invariant: Only the thread in `occupant` accesses `depth`.
@usableFromInline
final class ContextOccupancy: @unchecked Sendable {
  /// One use of a context, for the message of a failed check.
  struct Use {
    let verb: StaticString
    var object: ManagedObject?
    var slot: Int?
  }

  /// The identifier of the thread that uses the context; 0 for none. Entering acquires and leaving releases, so the
  /// next thread sees what the previous one did in the context.
  private let occupant = Atomic<UInt>(0)
  /// How many uses the occupant has entered and not left.
  private var depth = 0
  /// Whether uses outside `perform` and `performAndWait` are errors.
  private let belongsToQueue: Atomic<Bool>
  /// Whether misuse ends the process.
  let checks: Bool
  /// Whether the main thread and the one that runs blocks of the main queue may both use the context.
  private let isShared: Bool

  /// - Returns: nil if there is nothing to track.
  init?(_ checking: ConcurrencyChecking, of type: ManagedObjectContext.ConcurrencyType) {
    checks = checking != .off
    isShared = type == .mainQueue && MainQueue.hasSubstitute
    belongsToQueue = Atomic(checking == .strict)
    guard checks || isShared else { return nil }
  }

  /// Enters for one use.
  func enter(_ context: ManagedObjectContext, _ use: @autoclosure () -> Use) {
    if occupy() { return }
    if occupant.load(ordering: .relaxed) != CurrentThread.identifier, !waitIfShared() {
      guard checks else { return }
      stop(context, use(), "while another thread was using the context")
    }
    guard checks, belongsToQueue.load(ordering: .relaxed), !isOnMainQueue(context) else { return }
    stop(context, use(), "outside perform and performAndWait")
  }

  /// Enters for a block on the context's queue.
  ///
  /// - Parameter claims: Whether uses outside such blocks are errors from now on.
  func enterQueue(_ context: ManagedObjectContext, claims: Bool) {
    if claims { belongsToQueue.store(true, ordering: .relaxed) }
    if occupy() || occupant.load(ordering: .relaxed) == CurrentThread.identifier || waitIfShared() { return }
    guard checks else { return }
    stop(context, Use(verb: "perform began"), "while another thread was using the context outside of it")
  }

  /// Waits until another thread's use ends, and enters, if both may use the context.
  private func waitIfShared() -> Bool {
    guard isShared, MainQueue.shared.isHere else { return false }
    var backoff = Backoff(seconds: .infinity)
    repeat {
      if occupy() || occupant.load(ordering: .relaxed) == CurrentThread.identifier { return true }
    } while backoff.wait()
    return true
  }

  /// - Returns: true if the thread was already inside, so no check is needed. False if it has just entered, or if
  ///   another thread is inside; `occupant` tells which.
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
    // Another thread's use that was neither checked nor entered.
    guard occupant.load(ordering: .relaxed) == CurrentThread.identifier else { return }
    depth -= 1
    if depth == 0 { occupant.store(0, ordering: .releasing) }
  }

  private func isOnMainQueue(_ context: ManagedObjectContext) -> Bool {
    context.concurrencyType == .mainQueue && MainQueue.shared.isHere
  }

  /// A context's name in messages about threads.
  private static func name(of context: ManagedObjectContext) -> String {
    let kind =
      context.concurrencyType == .mainQueue
      ? "the context of the main queue" : "a context of a private queue"
    return context.name.map { "\(kind) called \"\($0)\"" } ?? kind
  }

  private func stop(_ context: ManagedObjectContext, _ use: Use, _ circumstance: String) -> Never {
    programError(
      "\(use.text) \(circumstance): \(Self.name(of: context)). Use a context and its objects inside its perform or "
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

extension ManagedObject {
  /// Begins a use of the object.
  ///
  /// - Returns: The occupancy to leave after the use; nil if the object has no context or its context checks nothing.
  @inline(__always)
  final func beginUse(_ verb: StaticString, _ slot: @autoclosure () -> Int?) -> ContextOccupancy? {
    guard let contextReference else { return nil }
    return contextReference.with { context in
      guard let occupancy = context.occupancy else { return nil }
      occupancy.enter(context, ContextOccupancy.Use(verb: verb, object: self, slot: slot()))
      return occupancy
    }
  }

  /// As `beginUse`, for reading the property at an offset, which observers are notified of.
  @usableFromInline
  final func _beginRead(_ offset: Int) -> ContextOccupancy? {
    let use = beginUse("reading", modelledSlot(offset))
    noteAccess(modelledSlot(offset))
    return use
  }

  /// Whether accessors may read the row without a check, and without telling observers.
  final var mayExposeRow: Bool {
    #if DEBUG
      // In debug builds the accessors always check.
      true
    #else
      contextReference?.with { $0.occupancy?.checks != true && !$0.isObservable } ?? true
    #endif
  }
}
