/// The invariants of a context and its states, checked in debug builds when an event ends.
struct ContextInvariants {
  /// The most objects and differences that are all looked at: otherwise many events would take quadratic time.
  private static let most = 64

  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Checks the objects that an event has changed, and the whole context if it is small.
  func check(after event: ContextEvent) {
    for change in event.changes { check(change.object) }
    guard context.identities.count <= Self.most, context.changes.countForFetches <= Self.most else { return }
    context.identities.checkInvariants()
    context.changes.checkInvariants()
  }

  private func check(_ object: ManagedObject) {
    context.changes.checkInvariants(of: object)
    assert(
      object._row == nil || object.isRealised && object.pending?.hidesRow != true,
      "the row of \(object.identifier) is read directly beside pending values")
    object.forEachRelationshipState { state in
      if state.added.count + state.removed.count <= Self.most { state.checkInvariants() }
    }
  }
}
