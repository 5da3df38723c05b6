/// The value of every key in every generation.
struct Versions {
  private var versions: [Int: [(generation: Int, value: [Int])]] = [:]

  mutating func apply(_ writes: [History.Operation], generation: Int) {
    for write in writes {
      var ofKey = versions[write.key] ?? []
      let value = write.applied(to: ofKey.last?.value ?? [])
      if ofKey.last?.generation == generation { ofKey.removeLast() }
      ofKey.append((generation, value))
      versions[write.key] = ofKey
    }
  }

  func value(of key: Int, at generation: Int) -> [Int] {
    let ofKey = versions[key] ?? []
    let index = Self.index(ofKey, generation)
    return index == 0 ? [] : ofKey[index - 1].value
  }

  /// All values that a key had in a range of generations.
  func values(of key: Int, from first: Int, through last: Int) -> [[Int]] {
    let ofKey = versions[key] ?? []
    let begin = Self.index(ofKey, first)
    let end = Self.index(ofKey, last)
    return [value(of: key, at: first)] + ofKey[begin..<max(begin, end)].map(\.value)
  }

  /// The number of versions up to and including a generation.
  private static func index(_ versions: [(generation: Int, value: [Int])], _ generation: Int) -> Int {
    var low = 0
    var high = versions.count
    while low < high {
      let middle = (low + high) / 2
      if versions[middle].generation <= generation { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
