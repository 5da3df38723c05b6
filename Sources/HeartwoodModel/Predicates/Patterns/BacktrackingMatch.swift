/// Whether a program matches a whole text, for patterns in which it matters which way was taken: with references to groups, and with looking
/// ahead or behind. The ways are tried one after the other, up to a number of steps.
struct BacktrackingMatch {
  /// How many steps a text may take.
  static let mostSteps = 1_000_000

  struct TooManySteps: Error {}

  private enum Saved {
    case way(step: Int, position: Int)
    case group(Int, Range<Int>?)
    case round(Int, Int)
  }

  private let program: PatternProgram
  private let text: [UInt32]
  private var saved: [Saved] = []
  private var groups: [Range<Int>?]
  private var starts: [Int]
  private var rounds: [Int]
  private var stepsLeft = mostSteps

  init(_ program: PatternProgram, _ text: [UInt32]) {
    self.program = program
    self.text = text
    groups = Array(repeating: nil, count: program.groups + 1)
    starts = Array(repeating: 0, count: program.groups + 1)
    rounds = Array(repeating: -1, count: program.rounds)
  }

  /// - Parameter check: Called after each 65,536 steps; may throw.
  /// - Throws: `TooManySteps`.
  mutating func run(_ check: () throws -> Void) throws -> Bool {
    try run(from: 0, at: 0, until: text.count, check) != nil
  }

  /// Runs from a step to the `done` of its part.
  ///
  /// - Parameter end: Where the match has to end; nil for anywhere.
  /// - Returns: Where it ends; nil if there is no match.
  private mutating func run(
    from first: Int, at start: Int, until end: Int?, _ check: () throws -> Void
  ) throws -> Int? {
    let base = saved.count
    var (step, position) = (first, start)
    while true {
      stepsLeft -= 1
      if stepsLeft & 0xFFFF == 0 { try check() }
      guard stepsLeft > 0 else { throw TooManySteps() }
      var isGood = true
      switch program.steps[step] {
      case .one(let set):
        isGood = position < text.count && program.sets[set].contains(text[position])
        position += 1
        step += 1
      case .either(let first, let second):
        saved.append(.way(step: second, position: position))
        step = first
      case .jump(let other): step = other
      case .place(let place):
        isGood = place.holds(text, at: position)
        step += 1
      case .beginGroup(let number):
        // Of a group that is inside of itself, the innermost begins last.
        saved.append(.group(-number, starts[number]..<starts[number]))
        starts[number] = position
        step += 1
      case .endGroup(let number):
        saved.append(.group(number, groups[number]))
        groups[number] = starts[number]..<max(starts[number], position)
        step += 1
      case .same(let number, let ignoresCase):
        if let length = repeated(number, at: position, ignoresCase) {
          position += length
        } else {
          isGood = false
        }
        step += 1
      case .look(let isBehind, let isNegated, let next):
        let isFound = try look(from: step + 1, at: position, isBehind: isBehind, isNegated: isNegated, check)
        isGood = isFound != isNegated
        step = next
      case .atomic(let next):
        let height = saved.count
        if let end = try run(from: step + 1, at: position, until: nil, check) {
          forgetWays(above: height)
          position = end
        } else {
          isGood = false
        }
        step = next
      case .beginRound(let round):
        saved.append(.round(round, rounds[round]))
        rounds[round] = position
        step += 1
      case .endRound(let round):
        isGood = rounds[round] != position
        step += 1
      case .done:
        if end == nil || end == position { return position }
        isGood = false
      }
      if !isGood {
        guard let way = back(to: base) else { return nil }
        (step, position) = way
      }
    }
  }

  private mutating func look(
    from step: Int, at position: Int, isBehind: Bool, isNegated: Bool, _ check: () throws -> Void
  ) throws -> Bool {
    let height = saved.count
    var isFound = false
    if isBehind {
      for start in stride(from: position, through: 0, by: -1) where !isFound {
        isFound = try run(from: step, at: start, until: position, check) != nil
      }
    } else {
      isFound = try run(from: step, at: position, until: nil, check) != nil
    }
    // The groups that it has matched stay, unless it was not to be found.
    if isFound { if isNegated { undo(to: height) } else { forgetWays(above: height) } }
    return isFound
  }

  /// The length of what a group has matched, if it is at a position too.
  private func repeated(_ number: Int, at position: Int, _ ignoresCase: Bool) -> Int? {
    guard let range = groups[number], position + range.count <= text.count else { return nil }
    for (offset, place) in range.enumerated() {
      let (left, right) = (text[place], text[position + offset])
      guard left == right || ignoresCase && ScalarSet.folded(left) == ScalarSet.folded(right) else {
        return nil
      }
    }
    return range.count
  }

  // MARK: Going back

  private mutating func back(to base: Int) -> (step: Int, position: Int)? {
    while saved.count > base, let last = saved.popLast() {
      if case .way(let step, let position) = last { return (step, position) }
      restore(last)
    }
    return nil
  }

  private mutating func undo(to height: Int) {
    while saved.count > height, let last = saved.popLast() { restore(last) }
  }

  private mutating func forgetWays(above height: Int) {
    let kept = saved[height...].filter { if case .way = $0 { false } else { true } }
    saved.replaceSubrange(height..., with: kept)
  }

  private mutating func restore(_ change: Saved) {
    switch change {
    case .way: break
    case .group(let number, let range):
      if number > 0 { groups[number] = range } else { starts[-number] = range?.lowerBound ?? 0 }
    case .round(let round, let position): rounds[round] = position
    }
  }
}
