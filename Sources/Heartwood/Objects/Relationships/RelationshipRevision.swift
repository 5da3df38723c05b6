/// Which destinations a relationship has at one time: equal ones have the same, in the same order.
package struct RelationshipRevision: Equatable {
  private let state: RelationshipState
  private var version: Int

  init(_ state: RelationshipState) {
    self.state = state
    version = state.version
  }

  /// That after a number of additions, removals and moves, if nothing else has changed.
  package func after(_ changes: Int) -> RelationshipRevision {
    var later = self
    later.version &+= changes
    return later
  }

  package static func == (left: RelationshipRevision, right: RelationshipRevision) -> Bool {
    left.state === right.state && left.version == right.version
  }
}
