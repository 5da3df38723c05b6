/// Pairs of keys, found by either key, in the order in which they were added.
///
/// Pairs whose keys both follow those of the pair before make up a run, which takes as much memory as one pair does. While keys never
/// decrease from one pair to the next, they are found without any further memory.
struct KeyPairs {
  private struct Run {
    let source: UInt64
    let destination: UInt64
    /// The place of the first pair among all.
    let place: Int
    var count = 1

    var lastSource: UInt64 { source + UInt64(count - 1) }
    var lastDestination: UInt64 { destination + UInt64(count - 1) }
  }

  private(set) var count = 0
  private var runs: [Run] = []
  /// Where the pairs with a key are; nil while keys never decrease.
  private var bySource: KeyPlaces?
  private var byDestination: KeyPlaces?

  mutating func add(_ source: UInt64, _ destination: UInt64) {
    if let last = runs.last {
      if bySource == nil, source < last.lastSource { bySource = places { $0.source } }
      if byDestination == nil, destination < last.lastDestination {
        byDestination = places { $0.destination }
      }
    }
    bySource?.add(count, of: source)
    byDestination?.add(count, of: destination)
    if let last = runs.last, source == last.lastSource + 1, destination == last.lastDestination + 1 {
      runs[runs.count - 1].count += 1
    } else {
      runs.append(Run(source: source, destination: destination, place: count))
    }
    count += 1
  }

  /// The destination of the pair with this number.
  func destination(at place: Int) -> UInt64? { pair(at: place)?.destination }

  func destinations(of source: UInt64) -> [UInt64] {
    if let bySource { return bySource[source].compactMap { pair(at: $0)?.destination } }
    return runs(from: { $0.lastSource >= source }, while: { $0.source <= source }).map {
      $0.destination + (source - $0.source)
    }
  }

  func sources(of destination: UInt64) -> [UInt64] {
    if let byDestination { return byDestination[destination].compactMap { pair(at: $0)?.source } }
    return runs(from: { $0.lastDestination >= destination }, while: { $0.destination <= destination }).map {
      $0.source + (destination - $0.destination)
    }
  }

  private func pair(at place: Int) -> (source: UInt64, destination: UInt64)? {
    guard
      let run = runs(from: { $0.place + $0.count > place }, while: { $0.place <= place }).first
    else { return nil }
    let offset = UInt64(place - run.place)
    return (run.source + offset, run.destination + offset)
  }

  private func places(_ key: ((source: UInt64, destination: UInt64)) -> UInt64) -> KeyPlaces {
    var places = KeyPlaces()
    for run in runs {
      for offset in 0..<run.count {
        places.add(
          run.place + offset, of: key((run.source + UInt64(offset), run.destination + UInt64(offset))))
      }
    }
    return places
  }

  /// The runs from the first that satisfies a condition, which all after it do too, and as long as they satisfy another one.
  private func runs(from isThere: (Run) -> Bool, while isWanted: (Run) -> Bool) -> ArraySlice<Run> {
    runs[runs.partitioningIndex(where: isThere)...].prefix(while: isWanted)
  }
}

/// The places of pairs, by a key. Nearly always it is one.
private struct KeyPlaces {
  private var first: [UInt64: Int] = [:]
  private var others: [UInt64: [Int]] = [:]

  mutating func add(_ place: Int, of key: UInt64) {
    if first[key] == nil { first[key] = place } else { others[key, default: []].append(place) }
  }

  subscript(key: UInt64) -> [Int] {
    guard let place = first[key] else { return [] }
    return [place] + (others[key] ?? [])
  }
}
