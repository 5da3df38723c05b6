/// Reading the indexes of several stores as one, in the order of their entries.
extension StoreUnionView {
  /// Those that every store has that has rows of their entity. Not those of relationships: their entries have keys without the number of the store.
  func indexes(of entity: EntityDescription) -> [StoreIndex] {
    guard let first = members.first(where: { $0.view.has(entity) }) else { return [] }
    return first.view.indexes(of: entity).filter { index in
      let having = members(with: index.entity)
      let isPlain = having.allSatisfy { $0.number == 0 } || !index.columns.contains { $0.kind == .toOne }
      return isPlain && having.allSatisfy { $0.index(like: index) != nil }
    }
  }

  /// The stores that have an index, with their own forms of it.
  private func owners(of index: StoreIndex) -> [(member: Member, index: StoreIndex)] {
    members(with: index.entity).compactMap { member in member.index(like: index).map { (member, $0) } }
  }

  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    var none = 0
    try scanEntries(index, range, reversed: reversed, skipping: &none, body)
  }

  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool, skipping count: inout Int,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    let owners = owners(of: index)
    guard owners.count > 1 else {
      guard let (member, index) = owners.first else { return }
      return try member.view.scanEntries(index, range, reversed: reversed, skipping: &count) {
        try body($0.numbered(member.number), $1)
      }
    }
    var merge = try EntryMerge(owners, range, reversed: reversed)
    var left = count
    defer { count = left }
    func take(_ key: UInt64, _ values: UnsafeRawBufferPointer?) throws -> Bool {
      guard left == 0 else {
        left -= 1
        return true
      }
      return try body(key, values)
    }
    while try merge.next(take) {}
  }

  func forEachIndexRun(
    _ index: StoreIndex, _ range: IndexRange, elements: Int, _ body: (UInt64, Int) throws -> Bool
  ) throws -> Bool {
    var sources: [(member: Member, index: StoreIndex, runs: RunReading, run: IndexRun?)] = []
    for (member, index) in owners(of: index) {
      guard var runs = RunReading(index, range) else { return false }
      let run = try member.view.next(of: &runs, index, elements: elements)
      sources.append((member, index, runs, run))
    }
    while true {
      guard !sources.contains(where: \.runs.isUncertain) else { return false }
      let least = sources.compactMap(\.run?.values).min { $0.lexicographicallyPrecedes($1) }
      guard let least else { return true }
      var (key, count) = (UInt64?.none, 0)
      for place in sources.indices {
        guard let run = sources[place].run, run.values == least else { continue }
        if key == nil { key = run.key.numbered(sources[place].member.number) }
        count += run.count
        sources[place].run = try sources[place].member.view.next(
          of: &sources[place].runs, sources[place].index, elements: elements)
      }
      guard let key, try body(key, count) else { return true }
    }
  }

  func indexCount(_ index: StoreIndex, _ range: IndexRange) throws -> Int? {
    var all = 0
    for (member, index) in owners(of: index) {
      guard let count = try member.view.indexCount(index, range) else { return nil }
      all += count
    }
    return all
  }

  /// The number of entries that the stores have at the same part of the range, together.
  func indexRunLength(
    _ index: StoreIndex, _ range: IndexRange, elements: Int, atRank rank: Int
  ) throws -> Int {
    let owners = owners(of: index)
    guard owners.count > 1 else {
      return try owners.first.map {
        try $0.member.view.indexRunLength($0.index, range, elements: elements, atRank: rank)
      } ?? 0
    }
    let counts = try owners.map { try $0.member.view.indexCount($0.index, range) ?? 0 }
    let all = max(counts.reduce(0, +), 1)
    var length = 0
    for ((member, index), count) in zip(owners, counts) where count > 0 {
      let place = min(count - 1, Int(Double(rank) / Double(all) * Double(count)))
      length += try member.view.indexRunLength(index, range, elements: elements, atRank: place)
    }
    return length
  }
}

extension StoreUnionView.Member {
  /// The store's form of an index of another store.
  func index(like other: StoreIndex) -> StoreIndex? {
    view.indexes(of: other.entity).first { index in
      index === other
        || index.entity === other.entity && index.name == other.name && index.kind == other.kind
          && index.slots == other.slots && index.condition?.text == other.condition?.text
    }
  }
}

/// The entries of an index in several stores, in one order.
private struct EntryMerge {
  private struct Source {
    let member: StoreUnionView.Member
    let index: StoreIndex
    var reading: EntryReading
    var place = 0
    var size = EntryMerge.firstSize

    var entry: EntryReading.Entry? {
      place < reading.entries.count ? reading.entries[place] : nil
    }

    /// Reads the next entries if the last ones are used up.
    mutating func fill() throws {
      guard place == reading.entries.count else { return }
      place = 0
      try member.view.readEntries(&reading, index, atMost: size)
      size = min(size * 4, EntryMerge.largestSize)
    }
  }

  /// The first entries of each store are few: a fetch may have a limit.
  private static let firstSize = 16
  private static let largestSize = 1024

  private var sources: [Source] = []
  private let isReversed: Bool

  init(
    _ owners: [(member: StoreUnionView.Member, index: StoreIndex)], _ range: IndexRange, reversed: Bool
  ) throws {
    isReversed = reversed
    for (member, index) in owners {
      var source = Source(
        member: member, index: index, reading: EntryReading(index, range, reversed: reversed))
      try source.fill()
      sources.append(source)
    }
  }

  /// Calls `body` with the next entry.
  ///
  /// - Returns: Whether there may be more, and `body` wants them.
  mutating func next(_ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool) throws -> Bool {
    var first: Int?
    for place in sources.indices where sources[place].entry != nil {
      if let found = first, !isBefore(place, found) { continue }
      first = place
    }
    guard let first, let entry = sources[first].entry else { return false }
    let number = sources[first].member.number
    let continues = try sources[first].reading.bytes.withUnsafeBytes { bytes in
      try body(
        entry.key.numbered(number),
        entry.isWhole ? UnsafeRawBufferPointer(rebasing: bytes[entry.values]) : nil)
    }
    sources[first].place += 1
    try sources[first].fill()
    return continues
  }

  /// Whether the entry of one store comes before that of another one, which is of a store with a lower number.
  private func isBefore(_ place: Int, _ other: Int) -> Bool {
    guard let left = sources[place].entry, let right = sources[other].entry else { return false }
    let order = sources[place].reading.bytes.withUnsafeBytes { leftBytes in
      sources[other].reading.bytes.withUnsafeBytes { rightBytes in
        Self.compare(
          UnsafeRawBufferPointer(rebasing: leftBytes[left.values]),
          UnsafeRawBufferPointer(rebasing: rightBytes[right.values]))
      }
    }
    // Equal values are in the order of keys, which is that of the stores' numbers.
    return isReversed ? order >= 0 : order < 0
  }

  private static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    for (left, right) in zip(left, right) where left != right { return left < right ? -1 : 1 }
    return left.count - right.count
  }
}
