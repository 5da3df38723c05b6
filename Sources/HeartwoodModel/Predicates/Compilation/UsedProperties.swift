/// Collects which properties of the fetched object's own row are read.
package final class UsedProperties {
  private(set) var slots: Set<Int> = []
  /// Whether the row itself is needed, for its entity.
  private(set) var needsRow = false
  /// The name of a composite attribute that is asked for as a whole; nil for none.
  private(set) var composite: String?
  /// The root entities whose rows are reached by key, from any object.
  private(set) var reached: Set<ObjectIdentifier> = []
  package private(set) var reachedRoots: [EntityDescription] = []
  /// The to-one relationships over which paths reach other rows, from the fetched object; nil if other rows are reached otherwise, too.
  package private(set) var toOneRoutes: [[RelationshipDescription]]? = []
  /// Whether rows are read that no path reaches.
  private var readsOtherRows = false
  /// The root entities of all other rows that are read; nil if these may be any.
  package var readRoots: [EntityDescription]? { readsOtherRows ? nil : reachedRoots }
  /// The level of the outermost scope from which a path started; 0 is that of the fetched object.
  private(set) var outermostLevel = Int.max

  /// Calls `body` and returns the level of the outermost scope from which a path started in it.
  func outermostLevel(in body: () throws(HeartwoodError) -> Void) throws(HeartwoodError) -> Int {
    let before = outermostLevel
    outermostLevel = .max
    try body()
    defer { outermostLevel = min(before, outermostLevel) }
    return outermostLevel
  }

  func addStart(level: Int) { outermostLevel = min(outermostLevel, level) }

  /// Adds the entities whose rows a path leads to.
  ///
  /// A path from an inner scope comes after one to the to-many relationship of that scope.
  func addReached(_ path: ResolvedPath) {
    if case .toMany = path.end { toOneRoutes = nil }
    let hops = path.hops.filter { !$0.isCast }
    if path.relationships.count != hops.count { toOneRoutes = nil }
    if !hops.isEmpty { toOneRoutes?.append(path.relationships) }
    for hop in hops { addReached(hop.root) }
    if case .toMany(_, let destination, _) = path.end { addReached(destination.rootEntity) }
  }

  /// Notes that other rows are read than those that paths reach.
  func noteOtherRoutes() {
    toOneRoutes = nil
    readsOtherRows = true
  }

  private func addReached(_ root: EntityDescription) {
    if reached.insert(ObjectIdentifier(root)).inserted { reachedRoots.append(root) }
  }

  /// Adds what a path from the fetched object reads of it.
  func add(_ path: ResolvedPath) {
    if let hop = path.hops.first {
      // A place in an ordered relationship is found by the object's key.
      if hop.isToOne { slots.insert(Int(hop.column.slot)) }
      if hop.isCast { needsRow = true }
      return
    }
    switch path.end {
    case .object, .toMany: return
    case .toOne(_, let column, _): slots.insert(Int(column.slot))
    case .attribute(let attribute, let column):
      slots.insert(Int(column.slot))
      if column.kind == .composite {
        needsRow = true
        composite = attribute.name
      }
    case .entity: needsRow = true
    }
  }

  /// The slots; nil if the row is needed.
  package var ofRow: Set<Int>? { needsRow ? nil : slots }
}
