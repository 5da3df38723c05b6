/// Whether a program matches a whole text. All ways of matching are followed at the same time: the time is the length of the text times that of
/// the program, whatever the pattern.
struct PatternMatch {
  private let program: PatternProgram
  private let text: [UInt32]
  private var current: StepSet
  private var following: StepSet
  private var waiting: [Int] = []

  /// A set of steps, in the order in which they were added.
  private struct StepSet {
    private(set) var members: [Int] = []
    private var places: [Int]

    init(count: Int) { places = [Int](repeating: 0, count: count) }

    func contains(_ step: Int) -> Bool {
      let place = places[step]
      return place < members.count && members[place] == step
    }

    mutating func add(_ step: Int) {
      places[step] = members.count
      members.append(step)
    }

    mutating func removeAll() { members.removeAll(keepingCapacity: true) }
  }

  /// - Precondition: The program is regular.
  init(_ program: PatternProgram, _ text: [UInt32]) {
    self.program = program
    self.text = text
    current = StepSet(count: program.steps.count)
    following = current
  }

  /// - Parameter check: Called after each 65,536 steps or so; may throw.
  mutating func run(_ check: () throws -> Void) throws -> Bool {
    add(0, at: 0)
    swap(&current, &following)
    var work = 0
    for position in text.indices {
      guard !current.members.isEmpty else { return false }
      following.removeAll()
      for step in current.members {
        if case .one(let set) = program.steps[step], program.sets[set].contains(text[position]) {
          add(step + 1, at: position + 1)
        }
      }
      work += current.members.count
      if work > 1 << 16 {
        work = 0
        try check()
      }
      swap(&current, &following)
    }
    return current.contains(program.steps.count - 1)
  }

  /// Adds a step to `following`, and those that lead on from it without taking a scalar.
  private mutating func add(_ step: Int, at position: Int) {
    waiting.append(step)
    while let step = waiting.popLast() {
      guard !following.contains(step) else { continue }
      following.add(step)
      switch program.steps[step] {
      case .jump(let other): waiting.append(other)
      case .either(let first, let second):
        waiting.append(second)
        waiting.append(first)
      case .place(let place): if place.holds(text, at: position) { waiting.append(step + 1) }
      default: break
      }
    }
  }
}
