/// What a store on a failing machine has to hold, by what it has said of every commit.
///
/// The rules:
/// - A commit that was acknowledged as durable survives everything but syncs that lie.
/// - One that was acknowledged otherwise survives the end of the process. It is lost only by a crash of the
///   machine, or by a sync that fails and takes its bytes out of the cache.
/// - One whose outcome is unknown, or during which the process ended, may be found or not.
/// - One that was refused is never found.
/// - After a lying sync and a crash any whole generation may be found, or the store may be refused.
struct PromiseLedger<State: Equatable> {
  /// What every generation shows, from the empty one on.
  private(set) var generations: [State]
  /// The newest that survives a crash of the machine.
  private(set) var durable = 0
  /// The oldest that the next opening may find.
  private(set) var floor = 0
  /// How many of the last generations may have been made or not.
  private var openCount = 0

  init(_ empty: State) { generations = [empty] }

  /// The number of the generation that readers see.
  var newest: Int { generations.count - 1 - openCount }

  /// Whether it is open what became of the last generation.
  var isLastOpen: Bool { openCount > 0 }

  /// What readers see.
  var state: State { generations[newest] }

  mutating func commit(_ state: State, isDurable: Bool) {
    generations.append(state)
    floor = generations.count - 1
    if isDurable { settle() }
  }

  /// A commit was tried, and may have happened.
  mutating func leaveOpen(_ state: State) {
    generations.append(state)
    openCount += 1
  }

  /// All that readers see is durable.
  mutating func settle() { durable = newest }

  /// The machine, or a failed sync, has taken what was not durable out of the cache.
  mutating func loseCache() { floor = min(floor, durable) }

  /// Syncs have lied before a crash.
  mutating func doubt() { (durable, floor) = (0, 0) }

  /// Whether a store that was opened may be at this generation.
  func allows(_ generation: Int, _ state: State) -> Bool {
    generation >= floor && generation < generations.count && generations[generation] == state
  }

  /// The store was opened for writing and is at this generation; nothing newer will ever be found.
  ///
  /// - Parameter hasMoved: Opening may have made the last generations, which hold what the one before them held, and may have
  ///   failed before they were durable.
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

  /// What may be found by whoever opens the store now.
  var promise: ReferenceModel.Promise { ReferenceModel.Promise(generations: generations, durable: floor) }
}
