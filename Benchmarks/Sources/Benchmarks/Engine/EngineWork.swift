/// The work of one round, drawn once and done by every peer alike.
final class EngineWork {
  let records: Records
  /// Seconds that rows that read go on for at least.
  let least: Double
  /// All ranks, shuffled.
  let shuffled: KeyList
  /// All ranks, shuffled otherwise.
  let overwrites: KeyList
  let lookUps: KeyList
  let scanStarts: KeyList
  let updates: KeyList
  let singleUpdates: KeyList
  let durableSingles: KeyList
  let durableHundreds: KeyList
  /// Different ranks, so that the order of the threads does not matter.
  let threadSingles: KeyList
  let zipfian: KeyList
  /// Different ranks, a tenth of all.
  let deletes: KeyList
  /// The first `scannedQuestions` of these and of the ranks are for all, the others for peers that need not scan.
  let countBounds: [(lower: Int, upper: Int)]
  let ranks: [Int]

  static let threads = 8
  static let scannedQuestions = 20

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
    overwrites = KeyList(records, ranks: Array(0..<count).shuffled(using: &random))
    lookUps = draw(count)
    scanStarts = draw(count / 25)
    updates = draw(count / 4)
    singleUpdates = draw(count / 10)
    durableSingles = draw(min(2000, count / 50))
    durableHundreds = draw(min(50_000, count / 5))
    threadSingles = KeyList(records, ranks: Array(order.suffix(min(Self.threads * 1000, count / 10))))
    zipfian = KeyList(records, ranks: Self.zipfian(count, below: count, &random))
    deletes = KeyList(records, ranks: Array(order.prefix(count / 10)))
    countBounds = (0..<count).map { _ in
      let (one, other) = (random.next(below: count), random.next(below: count))
      return (min(one, other), max(one, other))
    }
    ranks = (0..<count).map { _ in random.next(below: count) }
  }

  /// Ranks of which a few are drawn often, spread over all keys.
  private static func zipfian(_ wanted: Int, below count: Int, _ random: inout SplitMix64) -> [Int] {
    let zipfian = Zipfian(count: count)
    return (0..<wanted).map { _ in
      let popularity = zipfian.draw(&random)
      return Int(SplitMix64.mixed(UInt64(popularity)) % UInt64(count))
    }
  }
}
