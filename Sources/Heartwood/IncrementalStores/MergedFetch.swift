/// A view of a store that may be one of several, and may execute fetches itself.
protocol RequestingMember: MemberView {
  /// The fetch of a request; nil if the store does not execute it.
  ///
  /// - Parameters:
  ///   - hidden: How many of the objects may be left out afterwards.
  ///   - number: The number of the store.
  func fetch(_ request: ResolvedRequest, hidden: Int, _ number: MemberNumber) -> IncrementalFetch?
}

/// The parts of a fetch that is executed by several stores, at least one of them by its class: the rows of each come one store after another,
/// those that come first in the order of the request.
final class MergedFetch: RequestedFetch {
  private let fetches: [IncrementalFetch]
  /// The part of the other stores; nil if there are none.
  private let rest: FetchExecution?

  init(_ fetches: [IncrementalFetch], _ rest: FetchExecution?) {
    (self.fetches, self.rest) = (fetches, rest)
  }

  func forEachRow(_ root: EntityDescription, skipping count: Int, _ body: (FoundRow) throws -> Bool) throws {
    var (waiting, continues) = (count, true)
    func take(_ found: FoundRow) throws -> Bool {
      guard waiting == 0 else {
        waiting -= 1
        return true
      }
      continues = try body(found)
      return continues
    }
    try rest?.forEach(take)
    for fetch in fetches where continues { try fetch.forEachRow(root, skipping: 0, take) }
  }

  func identifiers() throws -> [ManagedObjectID] {
    var found: [ManagedObjectID] = []
    try rest?.forEach { row in
      let root = rest?.request.entity.rootEntity
      if let entity = try root?.entity(numbered: row.row.entityNumber) {
        found.append(ManagedObjectID(entity: entity, key: row.key, store: .none))
      }
      return true
    }
    return try found + fetches.flatMap { try $0.identifiers() }
  }

  func count() throws -> Int { try fetches.reduce(rest?.count() ?? 0) { try $0 + $1.count() } }
}

extension StoreUnionView: RequestingView {
  func plan(
    _ request: ResolvedRequest, hidden: Int, isCount: Bool, _ source: any RowSource,
    _ changedRoots: Set<UInt16>
  ) throws -> ChosenPlan? {
    guard members.contains(where: \.view.asksProgram) else { return nil }
    let owners = members(with: request.entity)
    var fetches: [Int: IncrementalFetch] = [:]
    for member in owners {
      let number = MemberNumber(number: member.number, references: references)
      fetches[member.number] = (member.view as? any RequestingMember)?.fetch(request, hidden: hidden, number)
    }
    guard let only = fetches.first?.value else { return nil }
    if owners.count == 1 { return try only.plan(request, isCount: isCount) }
    let others = of { fetches[$0.number] == nil && $0.view.has(request.entity) }
    // A row that is left out afterwards takes the place of none.
    var first = request
    (first.limit, first.offset) = (isCount ? nil : only.most, 0)
    let rest =
      try others.members.isEmpty
      ? nil
      : FetchExecution(
        first, others, source: source, pending: .none, changedRoots: changedRoots, isCount: isCount)
    let fetch = MergedFetch(owners.compactMap { fetches[$0.number] }, rest)
    // Where some are left out afterwards they are counted one by one: related objects may have unsaved changes, too.
    return try ChosenPlan(
      fetch, request.sort == nil ? .any : .sorted(keeping: request.window),
      count: isCount && hidden == 0 ? fetch.count() : nil)
  }
}
