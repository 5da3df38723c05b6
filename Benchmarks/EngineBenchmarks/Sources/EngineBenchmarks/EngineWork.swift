import BenchmarkHarness

/// The work of one round, drawn once and done by every peer alike.
public final class EngineWork {
  /// The records of all stores.
  public let records: Records
  /// Seconds that rows that read go on for at least.
  public let least: Double
  /// All ranks, shuffled.
  public let shuffled: KeyList
  /// All ranks, shuffled otherwise.
  public let overwrites: KeyList
  /// Keys to read, as many as there are records.
  public let lookUps: KeyList
  /// Keys at which scans begin.
  public let scanStarts: KeyList
  /// Keys to update, several in a commit: a quarter of the number of records.
  public let updates: KeyList
  /// Keys to update, one in a commit.
  public let singleUpdates: KeyList
  /// Keys to update durably, one in a commit.
  public let durableSingles: KeyList
  /// Keys to update durably, several in a commit.
  public let durableHundreds: KeyList
  /// Different ranks, so that the order of the threads does not matter.
  public let threadSingles: KeyList
  /// Keys of which a few come often, spread over all.
  public let zipfian: KeyList
  /// Different ranks, a tenth of all.
  public let deletes: KeyList
  /// Ranks between which keys are counted. The first `scannedQuestions` are for all, the others for peers that need not scan.
  public let countBounds: [(lower: Int, upper: Int)]
  /// Ranks of which the record is asked for, in the same way.
  public let ranks: [Int]

  /// How many threads commit at once.
  public static let threads = 8
  /// How many questions a peer answers that has to scan for the answer.
  public static let scannedQuestions = 20

  /// Draws the work of a round.
  /// - Parameters:
  ///   - records: The records of all stores.
  ///   - round: The number of the round, from 0: another one has other work.
  ///   - least: Seconds that rows that read go on for at least.
  public init(_ records: Records, round: Int, least: Double) {
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
