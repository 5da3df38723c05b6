/// An anomaly that is added to a correct history, to prove that the checks find and classify it.
struct PlantedAnomaly: Sendable, CustomStringConvertible {
  /// The check that must find it on its own.
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

  /// A correct history with the anomaly added.
  func history(seed: UInt64, count: Int) -> History {
    var planter = Planter(HistoryGenerator.history(promise, count: count, seed: seed), seed: seed)
    plant(&planter)
    return planter.finish()
  }

  /// Throws if the anomaly is not found or is reported as allowed.
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

/// The proof of the checks: they find every planted anomaly and report no other.
enum IsolationProof {
  static func findEveryPlantedAnomaly(seeds: Range<UInt64>, count: Int) throws {
    for planted in PlantedAnomaly.all {
      for seed in seeds { try planted.prove(seed: seed, count: count) }
    }
  }

  /// Returns the number of cycles that snapshot isolation allows.
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
