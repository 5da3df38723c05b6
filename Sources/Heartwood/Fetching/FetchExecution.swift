/// The execution of one fetch: delivers rows one after the other, in the order of the request, merged with unsaved
/// changes.
///
/// Collects only rows that must be sorted by comparison; it keeps references to them, and no more than the window needs. Of rows that
/// are converted it keeps copies.
///
/// - Precondition: `view` is for one reader: this execution releases its rows.
struct FetchExecution {
  let request: ResolvedRequest
  let plan: ChosenPlan
  let view: any StoreView
  /// Reads related objects: the view, or an overlay of the context's changes.
  var source: any RowSource
  let pending: PendingMatches
  /// The numbers of the root entities with unsaved changes.
  let changedRoots: Set<UInt16>
  /// The figures that are counted; nil unless the execution is analysed or told.
  var figures: FetchFigures?
  /// Ends the scan from outside; nil if it cannot be.
  var control: ScanControl?
  /// The log of fetches; nil if none is wanted.
  var log: FetchLog?

  /// Calls `body` for each result until it returns false.
  func forEach(_ body: (FoundRow) throws -> Bool) throws {
    guard request.limit != 0 else { return }
    guard let log else { return try request.memos.whileActive { try deliver(body) } }
    let (counted, figures) = counted(by: log)
    try log.note(.fetch, request.entity, figures, plan: counted.explain) {
      try counted.forEach { found in
        figures.results += 1
        return try body(found)
      }
    }
  }

  /// The same with figures of its own, and without a log.
  private func counted(by log: FetchLog) -> (FetchExecution, FetchFigures) {
    var execution = self
    let figures = log.makeFigures()
    (execution.figures, execution.log) = (figures, nil)
    return (execution, figures)
  }

  private func deliver(_ body: (FoundRow) throws -> Bool) throws {
    var window = ResultWindow(offset: request.offset, limit: request.limit)
    if case .sorted(let count) = plan.order {
      var first = FirstRows(count, DeliveryOrder(request, in: source), copies: copies)
      defer { withExtendedLifetime(first) {} }
      try gather(&first)
      let sorted = try figures.map { try $0.time(\.sorting) { try first.sorted() } } ?? first.sorted()
      for found in sorted {
        let continuesAfter = try window.take(found) { try readsResults ? readWhole($0, body) : body($0) }
        guard continuesAfter else { return }
      }
    } else {
      try merge(&window, body)
    }
  }

  /// The maximum number of results, if every row of the plan is a result; nil if that is unknown without reading rows.
  var mostResults: Int? {
    guard plan.isExact, let count = plan.exactCount else { return nil }
    return min(count + pending.matchCount, request.limit ?? .max)
  }

  /// The number of results.
  func count() throws -> Int {
    if let log {
      let (counted, figures) = counted(by: log)
      return try log.note(.count, request.entity, figures, plan: counted.explainCount) {
        figures.results = try counted.count()
        return figures.results
      }
    }
    let all = try plan.isExact ? countInTree() ?? countKeys() : request.memos.whileActive { try countRows() }
    let behindOffset = max(0, all - request.offset)
    return min(behindOffset, request.limit ?? .max)
  }

  /// Whether the results can be determined from keys alone.
  var needsNoRows: Bool {
    guard plan.isExact, pending.isEmpty, request.entity.rootEntity.subentities.isEmpty else { return false }
    switch plan.order {
    case .sorted, .indexRuns: return false
    default: return true
    }
  }

  /// Calls `body` for the key of each result until it returns false; reads no row.
  ///
  /// - Precondition: `needsNoRows`.
  func forEachKey(_ body: (UInt64) throws -> Bool) throws {
    guard request.limit != 0 else { return }
    if let log {
      let (counted, figures) = counted(by: log)
      return try log.note(.fetch, request.entity, figures, plan: counted.explain) {
        try counted.forEachKey { key in
          figures.results += 1
          return try body(key)
        }
      }
    }
    var window = ResultWindow(offset: 0, limit: request.limit)
    try plan.access.forEachKey(in: view, request.entity, skipping: request.offset) { key in
      if let control {
        try control.check()
        control.noteFound()
      }
      figures?.read += 1
      return try window.take(key, body)
    }
  }

  // MARK: Rows in the store

  /// Calls `body` for the matching rows in the store that the context has not changed.
  private func forEachStored(skipping count: Int, _ body: (FoundRow) throws -> Bool) throws {
    // Loaded once, not for each row.
    let (hidden, checksEntity) = (pending.hidden, plan.checksEntity)
    let filter = plan.filter.map { UnownedReference($0) }
    let anywhere = Place(in: source)
    let (convertsRows, readsMatches, control) = (view.convertsRows, readsMatches, control)
    if let figures { return try forEachStored(skipping: count, counting: figures, body) }
    try plan.access.forEachRow(
      in: view, request.entity, skipping: count, covering: plan.entryRows, reading: plan.scannedSlots
    ) { found in
      if let control { try control.check() }
      if !hidden.isEmpty && hidden.contains(found.key) { return true }
      if checksEntity && !request.accepts(found.row.entityNumber) { return true }
      defer { if convertsRows { view.releaseRows() } }
      if let filter {
        let isMatch = try filter.with { try $0.matches(anywhere.moved(to: found)) }
        guard isMatch else { return true }
      }
      control?.noteFound()
      return try body(readsMatches ? wholeRow(of: found) : found)
    }
  }

  /// Whether the condition was checked on rows that have some values only, and the results need those of the store.
  private var readsMatches: Bool {
    !plan.isCovering && (plan.entryRows != nil || plan.scannedSlots != nil && !readsResults)
  }

  /// Whether the order was found by rows that have some values only, and the results need those of the store.
  private var readsResults: Bool { plan.readsResults && pending.isEmpty }

  private func readWhole(_ found: FoundRow, _ body: (FoundRow) throws -> Bool) throws -> Bool {
    defer { view.releaseRows() }
    return try body(wholeRow(of: found))
  }

  private func wholeRow(of found: FoundRow) throws -> FoundRow {
    let root = request.entity.rootEntity
    guard let row = try view.row(root, found.key) else {
      throw plan.access.index.map { HeartwoodError.missingRow(found.key, $0, root) }
        ?? HeartwoodError.damagedStore("the row \(found.key) is not there")
    }
    return FoundRow(key: found.key, row: row)
  }

  /// The same for an execution that is analysed.
  private func forEachStored(
    skipping count: Int, counting figures: FetchFigures, _ body: (FoundRow) throws -> Bool
  ) throws {
    let anywhere = Place(in: source)
    try plan.access.forEachRow(
      in: view, request.entity, skipping: count, covering: plan.entryRows, reading: plan.scannedSlots
    ) { found in
      figures.read += 1
      try control?.check()
      defer { view.releaseRows() }
      if pending.hidden.contains(found.key) || plan.checksEntity && !request.accepts(found.row.entityNumber) {
        return true
      }
      figures.ofEntity += 1
      if let filter = plan.filter {
        let isMatch = try figures.time(\.filtering) { try filter.matches(anywhere.moved(to: found)) }
        guard isMatch else { return true }
      }
      figures.matching += 1
      control?.noteFound()
      return try body(readsMatches ? wholeRow(of: found) : found)
    }
  }

  /// As `forEachStored`, with the rows of each run sorted if an index gives only the first keys of the order.
  private func forEachStoredInOrder(
    skipping count: Int, _ body: (FoundRow) throws -> Bool
  ) throws {
    guard case .indexRuns(let keys, let kept) = plan.order else {
      return try forEachStored(skipping: count, body)
    }
    var run = FetchRun(request, source, keys: keys, keeping: kept, copies: copies)
    var continuesAfter = true
    try forEachStored(skipping: 0) { found in
      if try run.take(found) { return true }
      continuesAfter = try run.deliver(body)
      guard continuesAfter else { return false }
      return try run.take(found)
    }
    if continuesAfter { _ = try run.deliver(body) }
  }

  /// Copies of rows that are kept longer than they are valid; nil if they stay valid.
  private var copies: RowCopies? { view.convertsRows || plan.isCovering ? RowCopies(of: view) : nil }

  private func gather(_ first: inout FirstRows) throws {
    try forEachStored(skipping: 0) { found in
      if let figures {
        try figures.time(\.sorting) { try first.insert(found) }
      } else {
        try first.insert(found)
      }
      return true
    }
    for found in pending.matches { try first.insert(found) }
  }

  /// Delivers rows that the access returns in order, with the unsaved changes merged in.
  private func merge(_ window: inout ResultWindow, _ body: (FoundRow) throws -> Bool) throws {
    let order = DeliveryOrder(request, in: source)
    let isOrdered = if case .any = plan.order { false } else { true }
    var waiting = pending.matches[...]
    var continuesAfter = true
    try forEachStoredInOrder(skipping: skipWithoutReading(&window)) { found in
      while isOrdered, let first = waiting.first, try order.places(first, before: found) {
        waiting.removeFirst()
        continuesAfter = try window.take(first, body)
        if !continuesAfter { return false }
      }
      continuesAfter = try window.take(found, body)
      return continuesAfter
    }
    for found in waiting where continuesAfter { continuesAfter = try window.take(found, body) }
  }

  /// How many rows before the window the access can skip, because each of them is a result.
  private func skipWithoutReading(_ window: inout ResultWindow) -> Int {
    if case .indexRuns = plan.order { return 0 }
    guard plan.isExact, pending.isEmpty else { return 0 }
    defer { window.toSkip = 0 }
    return window.toSkip
  }

  // MARK: Counting

  /// The tree's count, without the changed rows that it includes, plus the unsaved matches; nil if the tree has no count.
  private func countInTree() throws -> Int? {
    guard var count = plan.exactCount else { return nil }
    for key in pending.hidden {
      guard let row = try view.row(request.entity.rootEntity, key), request.accepts(row.entityNumber) else {
        continue
      }
      if try request.predicate?.matches(row, key: key, in: view) ?? true { count -= 1 }
      view.releaseRows()
    }
    return count + pending.matchCount
  }

  /// Counts keys without their rows: every key is a result.
  private func countKeys() throws -> Int {
    var count = pending.matchCount
    let hidden = pending.hidden
    try plan.access.forEachKey(in: view, request.entity) { key in
      figures?.read += 1
      if hidden.isEmpty || !hidden.contains(key) { count += 1 }
      return true
    }
    return count
  }

  private func countRows() throws -> Int {
    var count = pending.matchCount
    try forEachStored(skipping: 0) { _ in
      count += 1
      return true
    }
    return count
  }
}

extension FetchExecution {
  /// Plans a request against a view.
  ///
  /// - Parameters:
  ///   - reader: The reader of the stored state, with the unsaved changes of parent contexts.
  ///   - source: The same with those of the own context.
  ///   - pending: The effect of those.
  ///   - changedRoots: The numbers of the root entities that they are of.
  init(
    _ request: ResolvedRequest, _ reader: any StoreView, source: any RowSource, pending: PendingMatches,
    changedRoots: Set<UInt16>, isCount: Bool = false
  ) throws {
    var (pending, changedRoots) = (pending, changedRoots)
    // A parent's unsaved changes are to a child what is saved.
    for layer in reader.layers {
      try pending.add(layer, request, source)
      changedRoots.formUnion(layer.changedRoots)
    }
    let view = reader.stored
    let requested = try (view as? any RequestingView)?.plan(
      request, hidden: pending.hidden.count, isCount: isCount, source, changedRoots)
    let planner = Planner(
      request: request, view: view, indexes: view.indexes(of:), changedRoots: changedRoots)
    let plan = try requested ?? (isCount ? planner.chooseForCount() : planner.choose())
    try pending.sort(by: DeliveryOrder(request, in: source))
    self.init(
      request: request, plan: plan, view: view, source: source, pending: pending, changedRoots: changedRoots)
    if requested == nil { self = try withHashedRows() }
  }
}

extension FetchExecution {
  /// The fetch of the store itself that finds all results, in their order; nil if there is none.
  var requested: (any RequestedObjects)? {
    guard case .requested(let fetch) = plan.access, pending.isEmpty, log == nil else { return nil }
    return fetch as? any RequestedObjects
  }
}
