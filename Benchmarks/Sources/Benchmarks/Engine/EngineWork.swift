/// The work of one round, drawn once and done by every peer alike.
final class EngineWork {
  let records: Records
  /// Seconds that rows that read go on for at least.
  let least: Double
  /// All ranks, shuffled.
  let shuffled: KeyList
  let lookUps: KeyList
  let scanStarts: KeyList
  let updates: KeyList
  let singleUpdates: KeyList
  let durableSingles: KeyList
  let durableHundreds: KeyList
  /// Different ranks, a tenth of all.
  let deletes: KeyList
  let countBounds: [(lower: Int, upper: Int)]
  let ranks: [Int]

  init(_ records: Records, round: Int, least: Double) {
    var random = SplitMix64(seed: 1000 + UInt64(round))
    let count = records.count
    let order = Array(0..<count).shuffled(using: &random)
    func draw(_ wanted: Int) -> KeyList {
      KeyList(records, ranks: (0..<max(1, wanted)).map { _ in random.next(below: count) })
    }
    self.records = records
    self.least = least
    shuffled = KeyList(records, ranks: order)
    lookUps = draw(count)
    scanStarts = draw(count / 25)
    updates = draw(count / 4)
    singleUpdates = draw(count / 10)
    durableSingles = draw(min(2000, count / 50))
    durableHundreds = draw(min(50_000, count / 5))
    deletes = KeyList(records, ranks: Array(order.prefix(count / 10)))
    countBounds = (0..<20).map { _ in
      let (one, other) = (random.next(below: count), random.next(below: count))
      return (min(one, other), max(one, other))
    }
    ranks = (0..<20).map { _ in random.next(below: count) }
  }
}
