/// The guarantees of a store on a failing machine, derived from the results of its commits.
///
/// The rules:
/// - A commit that was acknowledged as durable survives everything except lying syncs.
/// - A commit that was acknowledged otherwise survives the end of the process. It is lost only by a crash of
///   the machine, or by a sync that fails and drops its bytes from the cache.
/// - A commit whose outcome is unknown, or during which the process ended, may or may not be found.
/// - A commit that was refused is never found.
/// - After a lying sync and a crash, any complete generation may be found, or the store may be refused as
///   damaged.
struct PromiseLedger<State: Equatable> {
  /// The contents of every generation, starting with the empty one.
  private(set) var generations: [State]
  /// The newest generation that survives a crash of the machine.
  private(set) var durable = 0
  /// The oldest generation that the next opening may find.
  private(set) var floor = 0
  /// The number of most recent generations that may or may not have been made.
  private var openCount = 0

  init(_ empty: State) { generations = [empty] }

  /// The number of the generation that readers see.
  var newest: Int { generations.count - 1 - openCount }

  /// Whether the outcome of the last generation is unknown.
  var isLastOpen: Bool { openCount > 0 }

  /// The contents that readers see.
  var state: State { generations[newest] }

  mutating func commit(_ state: State, isDurable: Bool) {
    generations.append(state)
    floor = generations.count - 1
    if isDurable { settle() }
  }

  /// Records a commit with an unknown outcome.
  mutating func leaveOpen(_ state: State) {
    generations.append(state)
    openCount += 1
  }

  /// Records that everything that readers see is durable.
  mutating func settle() { durable = newest }

  /// Records that the machine, or a failed sync, has dropped everything that was not durable from the cache.
  mutating func loseCache() { floor = min(floor, durable) }

  /// Records that syncs lied before a crash.
  mutating func doubt() { (durable, floor) = (0, 0) }

  /// Whether a store that was opened may be at this generation.
  func allows(_ generation: Int, _ state: State) -> Bool {
    generation >= floor && generation < generations.count && generations[generation] == state
  }

  /// Records that the store was opened for writing at this generation. No newer one may be found from now on.
  ///
  /// - Parameter hasMoved: Whether opening may have made the last generations, which have the same contents
  ///   as the one before them, and may have failed before they were durable.
  mutating func resume(at generation: Int, hasMoved: Bool = false) {
    generations.removeSubrange((generation + 1)...)
    openCount = 0
    var first = generation
    while hasMoved, first > floor, generations[first - 1] == generations[generation] { first -= 1 }
    (durable, floor) = (first, first)
  }
}

extension PromiseLedger where State == Rows {
  init() { self.init([:]) }

  var rows: Rows { state }

  /// The states that the next opening may find.
  var promise: ReferenceModel.Promise { ReferenceModel.Promise(generations: generations, durable: floor) }
}
