/// An anomaly that is put into a correct history, to see that the checks find it and call it by its name.
struct PlantedAnomaly: Sendable, CustomStringConvertible {
  /// Which check has to find it without the other.
  enum Check: Sendable {
    case snapshots
    case dependencies
  }

  let description: String
  let anomaly: Anomaly
  let check: Check
  let promise: History.Promise
  let plant: @Sendable (inout Planter) -> Void

  init(
    _ description: String, _ anomaly: Anomaly, _ check: Check, _ promise: History.Promise = .snapshot,
    plant: @escaping @Sendable (inout Planter) -> Void
  ) {
    self.description = description
    self.anomaly = anomaly
    self.check = check
    self.promise = promise
    self.plant = plant
  }

  static let all = circles + reads + snapshots + commits + accounts

  /// A correct history, and the anomaly in it.
  func history(seed: UInt64, count: Int) -> History {
    var planter = Planter(HistoryGenerator.history(promise, count: count, seed: seed), seed: seed)
    plant(&planter)
    return planter.finish()
  }

  /// Throws where the anomaly is not found, or allowed.
  func prove(seed: UInt64, count: Int) throws {
    let history = history(seed: seed, count: count)
    let findings =
      switch check {
      case .snapshots: SnapshotCheck.findings(of: history)
      case .dependencies: DependencyCheck.findings(of: history)
      }
    let names = findings.map(\.anomaly)
    try require(names.contains(anomaly), "\(self) was not found as \(anomaly), but \(names), seed \(seed)")
    let report = IsolationReport(of: history)
    try require(report.findings.contains { $0.anomaly == anomaly }, "\(self) is allowed, seed \(seed)")
  }
}

/// The proof of the checks: what is wrong is found, and nothing else.
enum IsolationProof {
  static func findEveryPlantedAnomaly(seeds: Range<UInt64>, count: Int) throws {
    for planted in PlantedAnomaly.all {
      for seed in seeds { try planted.prove(seed: seed, count: count) }
    }
  }

  /// Returns how many circles there were that snapshots allow.
  @discardableResult
  static func findNothingInCorrectHistories(seeds: Range<UInt64>, count: Int) throws -> Int {
    var allowed = 0
    for seed in seeds {
      let promise = History.Promise.allCases[Int(seed % 3)]
      let report = IsolationReport(of: HistoryGenerator.history(promise, count: count, seed: seed))
      try require(
        report.findings.isEmpty, "a false alarm, seed \(seed): \(report.findings.map(\.description))")
      allowed += report.allowed.count
    }
    return allowed
  }
}
