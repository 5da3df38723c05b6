/// A violation of isolation that a history can show.
enum Anomaly: String, Sendable, CaseIterable {
  // MARK: Found in the dependencies

  /// G0: two transactions each wrote before the other.
  case dirtyWrite
  /// G1a: a read returned a write of a transaction that was rolled back.
  case abortedRead
  /// G1b: a read returned a value that its transaction itself overwrote later.
  case intermediateRead
  /// G1c: transactions read and overwrite one another in a cycle.
  case circularInformation
  /// G-single: a transaction saw only a part of another one.
  case readSkew
  /// Two transactions changed the same version of a list.
  case lostUpdate
  /// Two transactions saw two others in opposite orders: a cycle without two adjacent anti-dependencies.
  case longFork
  /// G2-item: two transactions each missed a write of the other to different objects.
  case writeSkew
  /// Two reads saw the elements of a list in different orders.
  case incompatibleOrder
  /// A transaction did not see its own write.
  case ownWriteNotSeen
  /// A session saw an older state than before.
  case sessionGoesBack

  // MARK: Found with the generations

  /// A snapshot is older than a commit that had been acknowledged before.
  case staleSnapshot
  /// A read returned a write of a later generation.
  case futureRead
  /// A snapshot shows some of a transaction's changes and lacks others.
  case splitGeneration
  /// A transaction was applied twice.
  case duplicateCommit
  /// An acknowledged transaction is missing.
  case lostCommit
  /// The store contains a write that no transaction committed.
  case ghostCommit
  /// A read returned a value that its generation does not have.
  case wrongRead
  /// Two transactions made the same generation.
  case sharedGeneration
  /// No transaction made a generation.
  case generationGap
  /// A transaction's generation does not follow the one that it read.
  case commitBeforeSnapshot
  /// A change of an object that another transaction had changed concurrently was not refused.
  case secondCommitter
  /// The outcome of a transaction was observed differently at different times.
  case outcomeFlips

  // MARK: Found in the store's history

  case historyGap
  case historyDuplicate
  case historyOrder
  case historyChanges
}

extension History.Promise {
  /// The anomalies that this isolation level allows.
  var allowed: Set<Anomaly> {
    switch self {
    case .serial: []
    case .snapshot: [.writeSkew]
    case .newest: [.writeSkew, .readSkew, .longFork]
    }
  }
}

/// An anomaly and its place.
struct IsolationFinding: Sendable, CustomStringConvertible {
  let anomaly: Anomaly
  let text: String

  var description: String { "\(anomaly): \(text)" }
}

/// The anomalies in a history.
struct IsolationReport: Sendable {
  /// The anomalies that the isolation level forbids.
  let findings: [IsolationFinding]
  /// The anomalies that it allows.
  let allowed: [IsolationFinding]

  init(of history: History) {
    let all = SnapshotCheck.findings(of: history) + DependencyCheck.findings(of: history)
    findings = all.filter { !history.promise.allowed.contains($0.anomaly) }
    allowed = all.filter { history.promise.allowed.contains($0.anomaly) }
  }
}
