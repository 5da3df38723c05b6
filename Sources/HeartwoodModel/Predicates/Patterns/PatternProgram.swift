/// A regular expression as steps.
struct PatternProgram: Sendable {
  enum Step: Sendable {
    /// A scalar of a set.
    case one(Int)
    /// The first is tried first.
    case either(Int, Int)
    case jump(Int)
    case place(PatternPlace)
    case beginGroup(Int)
    case endGroup(Int)
    case same(Int, ignoresCase: Bool)
    /// The pattern that is looked for follows, up to a `done`; then goes on at `next`.
    case look(isBehind: Bool, isNegated: Bool, next: Int)
    case atomic(next: Int)
    /// Notes where a round of a repetition begins, and ends a round that has taken nothing.
    case beginRound(Int)
    case endRound(Int)
    case done
  }

  private(set) var steps: [Step] = []
  private(set) var sets: [ScalarSet] = []
  private(set) var groups = 0
  private(set) var rounds = 0
  /// Whether the ways of matching can be followed at the same time: nothing depends on which one was taken.
  private(set) var isRegular = true

  /// The greatest number of steps. Repetitions with numbers are written out.
  static let mostSteps = 20_000

  struct TooLarge: Error {}

  /// - Throws: `TooLarge`.
  init(_ node: PatternNode) throws(TooLarge) {
    isRegular = node.isRegular
    try add(node)
    steps.append(.done)
  }

  private mutating func append(_ step: Step) throws(TooLarge) {
    guard steps.count < Self.mostSteps else { throw TooLarge() }
    steps.append(step)
  }

  private mutating func add(_ node: PatternNode) throws(TooLarge) {
    switch node {
    case .empty: return
    case .one(let set):
      try append(.one(sets.count))
      sets.append(ScalarSet(set))
    case .sequence(let parts): for part in parts { try add(part) }
    case .choice(let parts): try add(choice: parts)
    case .repeated(let part, let least, let most, let isLazy): try add(part, least, most, isLazy)
    case .group(let part, let number):
      groups = max(groups, number)
      guard !isRegular else { return try add(part) }
      try append(.beginGroup(number))
      try add(part)
      try append(.endGroup(number))
    case .same(let number, let ignoresCase):
      groups = max(groups, number)
      try append(.same(number, ignoresCase: ignoresCase))
    case .place(let place): try append(.place(place))
    case .look(let part, let isBehind, let isNegated):
      try add(inner: part) { .look(isBehind: isBehind, isNegated: isNegated, next: $0) }
    case .atomic(let part): try add(inner: part) { .atomic(next: $0) }
    }
  }

  private mutating func add(inner part: PatternNode, _ step: (Int) -> Step) throws(TooLarge) {
    let place = steps.count
    try append(.done)
    try add(part)
    try append(.done)
    steps[place] = step(steps.count)
  }

  private mutating func add(choice parts: [PatternNode]) throws(TooLarge) {
    var ends: [Int] = []
    for (index, part) in parts.enumerated() {
      guard index < parts.count - 1 else {
        try add(part)
        break
      }
      let fork = steps.count
      try append(.jump(0))
      try add(part)
      ends.append(steps.count)
      try append(.jump(0))
      steps[fork] = .either(fork + 1, steps.count)
    }
    for end in ends { steps[end] = .jump(steps.count) }
  }

  private mutating func add(
    _ part: PatternNode, _ least: Int, _ most: Int?, _ isLazy: Bool
  ) throws(TooLarge) {
    for _ in 0..<least {
      let before = steps.count
      try add(part)
      // Of nothing, any number is the same.
      if steps.count == before { return }
    }
    guard let most else { return try addLoop(part, isLazy) }
    var forks: [Int] = []
    for _ in least..<most {
      forks.append(steps.count)
      try append(.jump(0))
      let before = steps.count
      try add(part)
      if steps.count == before { break }
    }
    for fork in forks { steps[fork] = Self.fork(fork + 1, steps.count, isLazy) }
  }

  private mutating func addLoop(_ part: PatternNode, _ isLazy: Bool) throws(TooLarge) {
    let fork = steps.count
    try append(.jump(0))
    // Where the ways are followed at the same time, a round that takes nothing leads to where it was.
    let round: Int? = isRegular || !part.mayBeEmpty ? nil : rounds
    if let round {
      rounds += 1
      try append(.beginRound(round))
    }
    try add(part)
    if let round { try append(.endRound(round)) }
    try append(.jump(fork))
    steps[fork] = Self.fork(fork + 1, steps.count, isLazy)
  }

  private static func fork(_ more: Int, _ end: Int, _ isLazy: Bool) -> Step {
    isLazy ? .either(end, more) : .either(more, end)
  }
}

extension PatternNode {
  fileprivate var isRegular: Bool {
    switch self {
    case .empty, .one, .place: true
    case .sequence(let parts), .choice(let parts): parts.allSatisfy(\.isRegular)
    case .repeated(let part, _, _, _), .group(let part, _): part.isRegular
    case .same, .look, .atomic: false
    }
  }

  fileprivate var mayBeEmpty: Bool {
    switch self {
    case .one: false
    case .sequence(let parts): parts.allSatisfy(\.mayBeEmpty)
    case .choice(let parts): parts.contains(where: \.mayBeEmpty)
    case .repeated(let part, let least, _, _): least == 0 || part.mayBeEmpty
    case .group(let part, _), .atomic(let part): part.mayBeEmpty
    case .empty, .place, .same, .look: true
    }
  }
}
