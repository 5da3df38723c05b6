/// A record of the diary as the processes of a run have reported it, kept outside of them.
struct DiaryLedger {
  /// By the places of writers: the last entry that was acknowledged, and how many processes may have saved one more.
  private var entries: [Int: Int] = [:]
  private var lives: [Int: Int] = [:]
  /// By the places of consumers, the last position.
  private var positions: [Int: UInt64] = [:]
  /// The digests of holds by name; nil for those of which only the beginning is known.
  private var holds: [String: UInt64?] = [:]
  /// Those of which only the beginning of the release is known.
  private var ending: Set<String> = []
  private(set) var followed: UInt64 = 0
  /// The acknowledgements so far.
  private(set) var count = 0

  /// Records that a process is started.
  mutating func begin(_ role: DiaryRole) { if let writer = role.writer { lives[writer, default: 0] += 1 } }

  /// - Throws: A finding if a process has failed, or has said something that cannot be.
  mutating func take(_ text: String) throws {
    guard let line = DiaryLine(text) else { throw Finding("a process has printed \"\(text)\"") }
    count += 1
    switch line {
    case .entry(let writer, let number):
      let known = entries[writer] ?? 0
      try require(
        number > known && number <= known + 1 + (lives[writer] ?? 0),
        "writer \(writer) has saved entry \(number) after \(known)")
      entries[writer] = number
    case .position(let reader, let number):
      let known = positions[reader] ?? 0
      try require(number > known, "reader \(reader) is at \(number) after \(known)")
      positions[reader] = number
    case .holding(let name): holds.updateValue(nil, forKey: name)
    case .held(let name, let digest): holds.updateValue(digest, forKey: name)
    case .releasing(let name): ending.insert(name)
    case .released(let name):
      holds[name] = nil
      ending.remove(name)
    case .shipped: break
    case .followed(let generation):
      try require(generation >= followed, "the follower is at \(generation) after \(followed)")
      followed = generation
    case .failed(let text): throw Finding(text)
    }
  }

  /// Compares the ledger with a diary that no process uses, and goes on from what is there.
  mutating func settle(_ facts: DiaryFacts) throws {
    try facts.check()
    for (writer, name) in Diary.writers.enumerated() {
      let (found, known) = (facts.objects.counts[name] ?? 0, entries[writer] ?? 0)
      try require(
        (known...known + (lives[writer] ?? 0)).contains(found),
        "\(name) has \(found) entries, and \(known) were acknowledged")
      entries[writer] = found
    }
    lives = [:]
    for consumer in facts.consumers {
      guard let reader = Diary.readers.firstIndex(of: consumer.name) else { continue }
      let (found, known) = (consumer.position.transactionNumber, positions[reader] ?? 0)
      try require(found >= known, "\(consumer.name) is at \(found), and \(known) was acknowledged")
      positions[reader] = found
    }
    try settleHolds(facts.holds.mapValues(\.digest))
  }

  private mutating func settleHolds(_ found: [String: UInt64]) throws {
    for (name, digest) in found {
      guard let expected = holds[name] else { throw Finding("there is a hold \(name), which was released") }
      try require(digest == expected ?? digest, "the hold \(name) shows other objects than before")
    }
    for (name, digest) in holds where digest != nil && !ending.contains(name) {
      try require(found[name] != nil, "the hold \(name) is gone")
    }
    holds = found.mapValues(Optional.some)
    ending = []
  }
}
