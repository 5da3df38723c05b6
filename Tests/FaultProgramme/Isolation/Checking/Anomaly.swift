/// What a history may show that it must not.
enum Anomaly: String, Sendable, CaseIterable {
  // MARK: Seen in what depends on what

  /// G0: of two transactions, each wrote before the other.
  case dirtyWrite
  /// G1a: what a transaction wrote that was given up was read.
  case abortedRead
  /// G1b: what a transaction wrote and overwrote itself was read.
  case intermediateRead
  /// G1c: transactions that read and overwrite one another in a circle.
  case circularInformation
  /// G-single: a transaction saw another one in part.
  case readSkew
  /// Two transactions changed the same version of a list.
  case lostUpdate
  /// Two transactions saw two others in opposite orders: a circle in which no two missed writes follow
  /// one another.
  case longFork
  /// G2-item: transactions that each missed what the other wrote elsewhere.
  case writeSkew
  /// Two reads saw the elements of a list in different orders.
  case incompatibleOrder
  /// A transaction did not see what it wrote itself.
  case ownWriteNotSeen
  /// A session saw an older state than it had seen before.
  case sessionGoesBack

  // MARK: Seen with the generations

  /// A snapshot is older than what had been acknowledged before.
  case staleSnapshot
  /// A read saw more than its generation has.
  case futureRead
  /// A snapshot shows some of a transaction's changes and lacks others.
  case splitGeneration
  /// A transaction was applied twice.
  case duplicateCommit
  /// An acknowledged transaction is not there.
  case lostCommit
  /// There is something that nobody has committed.
  case ghostCommit
  /// A read saw something else than its generation has.
  case wrongRead
  /// Two transactions made the same generation.
  case sharedGeneration
  /// Nobody made a generation.
  case generationGap
  /// A transaction's generation is not behind the one that it saw.
  case commitBeforeSnapshot
  /// A change of an object that had been changed meanwhile was not refused.
  case secondCommitter
  /// What became of a transaction was found to be now this, now that.
  case outcomeFlips

  // MARK: Seen in the store's own history

  case historyGap
  case historyDuplicate
  case historyOrder
  case historyChanges
}

extension History.Promise {
  /// What this promise leaves open.
  var allowed: Set<Anomaly> {
    switch self {
    case .serial: []
    case .snapshot: [.writeSkew]
    case .newest: [.writeSkew, .readSkew, .longFork]
    }
  }
}

/// An anomaly, and where it is.
struct IsolationFinding: Sendable, CustomStringConvertible {
  let anomaly: Anomaly
  let text: String

  var description: String { "\(anomaly): \(text)" }
}

/// What a history shows.
struct IsolationReport: Sendable {
  /// What must not be.
  let findings: [IsolationFinding]
  /// What the promise leaves open.
  let allowed: [IsolationFinding]

  init(of history: History) {
    let all = SnapshotCheck.findings(of: history) + DependencyCheck.findings(of: history)
    findings = all.filter { !history.promise.allowed.contains($0.anomaly) }
    allowed = all.filter { history.promise.allowed.contains($0.anomaly) }
  }
}
