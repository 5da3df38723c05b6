/// Keeps the result of a request as a context changes.
///
/// The result is that of the last fetch with all changes applied that the context has heard of since: its own events, merges,
/// saves and refreshes. What others save shows when it is merged.
final class ResultTracker: ContextTracker {
  let context: ManagedObjectContext
  /// Called at the start of each fetch.
  private let begin: () -> Void
  /// Compiles the request; again after keys have changed, as it may contain some.
  private let compile: (ManagedObjectContext) throws -> ResultReader
  var check: (ManagedObject) throws -> Void
  /// Called with each change, after the result has changed.
  var changed: (ResultChange) -> Void = { _ in }
  /// Called before `changed`, while the result is still the former one.
  var willChange: () -> Void = {}
  /// Whether `changed` is also called if only identifiers have changed.
  var followsIdentifiers: () -> Bool = { false }
  /// Called with an error that kept a change from being applied. The next one fetches again.
  var failed: (any Error) -> Void = { _ in }
  /// Whether changes are wanted now. Those that are not are found by the next one that is.
  var isWanted: () -> Bool = { true }
  /// Called after a reset of the context, which ends the tracking until the next fetch.
  var wasReset: () -> Void = {}

  /// Nil before the first fetch.
  private(set) var result: TrackedResult?
  private var reader: ResultReader?
  private var isTracking = false
  /// Whether the result may not be that of the last event.
  private var missedEvents = false
  private var isUpdating = false
  private var fetchCount = 0
  /// The objects that were touched while a change was being delivered.
  private var waiting: TouchedObjects?

  /// - Parameters:
  ///   - check: Throws if an object does not have the class of the request.
  ///   - begin: Called at the start of each fetch, so that `compile` takes the request as it is then.
  ///   - compile: Compiles the request.
  init(
    _ context: ManagedObjectContext, check: @escaping (ManagedObject) throws -> Void,
    begin: @escaping () -> Void = {}, compile: @escaping (ManagedObjectContext) throws -> ResultReader
  ) {
    self.context = context
    self.check = check
    self.begin = begin
    self.compile = compile
  }

  /// A tracker of objects of a class.
  ///
  /// - Parameters:
  ///   - type: The class of the request.
  ///   - begin: Called at the start of each fetch, so that `compile` takes the request as it is then.
  ///   - compile: Compiles the request.
  convenience init<Object: ManagedObject>(
    _ context: ManagedObjectContext, of type: Object.Type, begin: @escaping () -> Void = {},
    compile: @escaping (ManagedObjectContext) throws -> ResultReader
  ) {
    self.init(
      context,
      check: { object in if !(object is Object) { throw HeartwoodError.wrongClass(object, type) } },
      begin: begin, compile: compile)
  }

  /// Fetches, without calling `changed`, and begins to track.
  ///
  /// - Throws: As a fetch; `.coreData` if the objects of a section are not together.
  func fetch() throws {
    try context.beginReading()
    begin()
    reader = try compile(context)
    let fetched = try fetchResult()
    try context.throwIfUnreadable()
    result = fetched
    fetchCount += 1
    (isTracking, missedEvents, waiting) = (true, false, nil)
    context.trackers.add(self)
  }

  /// The index of an object of the result.
  func index(of object: ManagedObject) -> Int? {
    guard let result, let tracked = result[object] else { return nil }
    return reader?.order.index(of: tracked, in: result.tracked)
  }

  /// Applies changes of the context.
  func apply(_ touched: TouchedObjects) {
    guard isTracking else { return }
    guard isWanted() else {
      missedEvents = true
      return
    }
    guard !isUpdating else {
      if waiting == nil { waiting = touched } else { waiting?.add(touched) }
      return
    }
    isUpdating = true
    defer { isUpdating = false }
    var next: TouchedObjects? = touched
    while let touched = next, isTracking {
      update(touched)
      next = waiting
      waiting = nil
    }
  }

  /// Makes the next event fetch: the context has other stores.
  func noteStores() { missedEvents = true }

  /// Ends tracking until the next fetch.
  func reset() {
    guard isTracking else { return }
    (isTracking, waiting) = (false, nil)
    wasReset()
  }

  private func update(_ touched: TouchedObjects) {
    do {
      if try needsFetch(touched) { try refetch(touched.told) } else { try reevaluate(touched) }
    } catch {
      missedEvents = true
      failed(error)
    }
  }

  /// Whether the objects that were touched do not suffice to find the new result.
  private func needsFetch(_ touched: TouchedObjects) throws -> Bool {
    // After a save the constants of a compiled predicate may have other keys.
    if touched.mayChangeKeys || reader == nil { reader = try compile(context) }
    guard let reader else { return true }
    return missedEvents || touched.includesAll || reader.mayDecideAboutOthers(touched)
      || reader.request.offset > 0 || context.parent != nil || reader.request.stores != nil
      || reader.request.hasFetchedValues
  }

  private func isTold(_ change: ResultChange) -> Bool {
    !change.isEmpty || !change.renamed.isEmpty && followsIdentifiers()
  }

  // MARK: Single objects

  /// Evaluates the objects that were touched, and moves those whose places have changed.
  private func reevaluate(_ touched: TouchedObjects) throws {
    guard let reader else { return }
    guard var (leaving, entering) = try evaluate(touched, reader) else { return try refetch(touched.told) }
    if let limit = reader.request.limit {
      guard let within = result?.exchange(leaving, for: entering, within: limit, order: reader.order) else {
        return try refetch(touched.told)
      }
      (leaving, entering) = within
    }
    guard !leaving.isEmpty || !entering.isEmpty else { return }
    let isVisible =
      leaving.count != entering.count
      || entering.contains { result?[$0.object] == nil || touched.told.contains(ObjectIdentifier($0.object)) }
    if !isVisible || reader.hasSections {
      // Whether a save moves anything, and whether sections stay together, is known after the exchange only.
      guard let change = try exchange(leaving, entering, touched.told, reader), isTold(change) else {
        return
      }
      _ = try exchange(entering, leaving, [], reader)
    }
    let number = fetchCount
    willChange()
    guard number == fetchCount, let change = try exchange(leaving, entering, touched.told, reader) else {
      return
    }
    changed(change)
  }

  private func exchange(
    _ leaving: [TrackedObject], _ entering: [TrackedObject], _ told: Set<ObjectIdentifier>,
    _ reader: ResultReader
  ) throws -> ResultChange? {
    guard let oldSections = result?.sections,
      let (left, entered) = try result?.exchange(leaving, for: entering, order: reader.order)
    else { return nil }
    return ResultChange(
      from: oldSections, to: result?.sections ?? [], leaving: left, entering: entered, told: told)
  }

  /// The objects of the result that were touched, themselves or by what they are related to, and those that belong to it now. Nil if
  /// they are so many that a fetch is faster.
  private func evaluate(_ touched: TouchedObjects, _ reader: ResultReader) throws -> (
    leaving: [TrackedObject], entering: [TrackedObject]
  )? {
    let root = reader.request.entity.rootEntity
    var leaving: [TrackedObject] = []
    var keys: [UInt64] = []
    var seen: Set<UInt64> = []
    func add(_ object: ManagedObject?, _ key: UInt64) {
      guard seen.insert(key).inserted else { return }
      keys.append(key)
      if let object, let tracked = result?[object] { leaving.append(tracked) }
    }
    for object in touched.objects where object.entity.rootEntity === root {
      add(object, object.identifier.key)
    }
    for identifier in touched.identifiers where identifier.entity.rootEntity === root {
      add(context.registered(root, identifier.key), context.permanentKeys.permanent(identifier.key))
    }
    let relatives = reader.routes?.relatives(in: touched, context) ?? RelationshipRoutes.Keys()
    guard !keys.isEmpty || !relatives.isEmpty else { return ([], []) }
    let view = try context.readingView().forOneReader()
    let showsChanges = reader.request.includesPendingChanges && !context.changes.isEmptyForFetches
    let source: any RowSource = showsChanges ? PendingOverlay(view, context) : view
    defer { withExtendedLifetime(source) {} }
    if let routes = reader.routes, !relatives.isEmpty {
      let most = 100 + (result?.tracked.count ?? 0) / 4
      guard let owners = try routes.owners(of: relatives, in: source, atMost: most) else { return nil }
      for owner in owners { add(context.registered(root, owner), owner) }
    }
    var entering: [TrackedObject] = []
    for key in keys {
      guard let row = try source.row(root, key) else { continue }
      let found = FoundRow(key: key, row: row)
      guard try reader.matches(found, in: source) else { continue }
      guard let object = try ObjectFetch(context).object(for: found, root) else { continue }
      if result?[object] == nil { try check(object) }
      if reader.request.delivery.realises { object.willRead() }
      entering.append(try reader.tracked(object, found, in: source))
    }
    return (leaving, entering)
  }

  // MARK: Fetching

  private func fetchResult() throws -> TrackedResult {
    guard let reader else { return try TrackedResult([], hasSections: false) }
    let view = try context.readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    var tracked: [TrackedObject] = []
    let execution = try ObjectFetch(context).execution(reader.request, in: view)
    try ObjectFetch(context).forEachFound(by: execution) { object, found in
      if result?[object] == nil { try check(object) }
      tracked.append(try reader.tracked(object, found, in: execution.source))
      return true
    }
    // Computed values may be others when they are read again.
    if reader.readsObjects || reader.request.sort?.isComputed == true {
      tracked.sort(by: reader.order.places)
    }
    return try TrackedResult(tracked, hasSections: reader.hasSections)
  }

  /// Fetches the whole result again.
  private func refetch(_ told: Set<ObjectIdentifier>) throws {
    guard let old = result else { return }
    reader = try compile(context)
    let new = try fetchResult()
    missedEvents = false
    let change = Self.change(from: old, to: new, told)
    guard isTold(change) else {
      result = new
      return
    }
    let number = fetchCount
    willChange()
    guard number == fetchCount else { return }
    result = new
    changed(change)
  }

  private static func change(
    from old: TrackedResult, to new: TrackedResult, _ told: Set<ObjectIdentifier>
  ) -> ResultChange {
    let former = Dictionary(
      old.objects.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
    let staying = ResultChange.namesInOrder(old.sections, new.sections)
    /// The objects that were not told and have the same section and identifier, with the former index and the new one.
    var common: [(from: Int, to: Int)] = []
    for (to, after) in new.tracked.enumerated() where !told.contains(ObjectIdentifier(after.object)) {
      guard let from = former[ObjectIdentifier(after.object)] else { continue }
      let before = old.tracked[from]
      if before.section == after.section, staying.contains(after.section),
        before.identifier == after.identifier
      {
        common.append((from, to))
      }
    }
    let kept = LongestAscent.indexes(in: common.map(\.from)).map { common[$0] }
    let (keptOld, keptNew) = (Set(kept.map(\.from)), Set(kept.map(\.to)))
    func others(_ result: TrackedResult, _ kept: Set<Int>) -> [TrackedResult.Placed] {
      result.tracked.enumerated().compactMap { index, tracked in
        kept.contains(index) ? nil : TrackedResult.Placed(tracked: tracked, index: index)
      }
    }
    return ResultChange(
      from: old.sections, to: new.sections, leaving: others(old, keptOld), entering: others(new, keptNew),
      told: told)
  }
}

extension FetchRequest {
  /// A copy with an order: that of creation if the request has none.
  func orderedCopy() -> FetchRequest {
    let copy = copy()
    if copy.sortDescriptors?.isEmpty ?? true { copy.sortDescriptors = [NamedSort("objectID")] }
    return copy
  }
}
