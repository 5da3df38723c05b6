/// Checks a history against the generations that its transactions name: each read against the state of its
/// generation, each snapshot against the earlier acknowledgements, and the store's history against the
/// commits.
///
/// The generations give the order of the commits, so one pass is sufficient.
struct SnapshotCheck {
  let history: History
  private(set) var findings: [IsolationFinding] = []
  /// The generation that each transaction made, by the number of the transaction.
  private(set) var generations: [Int: Int] = [:]
  private(set) var versions = Versions()
  /// The transaction that wrote each element.
  private(set) var writers: [Int: History.Transaction] = [:]

  static func findings(of history: History) -> [IsolationFinding] {
    var check = SnapshotCheck(history: history)
    check.resolveOutcomes()
    check.applyCommits()
    check.checkCommits()
    check.checkSnapshots()
    check.checkReads()
    check.checkAccount()
    return check.findings
  }

  private init(history: History) {
    self.history = history
    for transaction in history.transactions {
      for element in transaction.operations.flatMap(\.elements) { writers[element] = transaction }
    }
  }

  mutating func report(_ anomaly: Anomaly, _ text: String) {
    findings.append(IsolationFinding(anomaly: anomaly, text: text))
  }

  /// The committed transactions in order of their generations.
  var committed: [(generation: Int, transaction: History.Transaction)] {
    history.transactions.compactMap { transaction in
      generations[transaction.id].map { ($0, transaction) }
    }.sorted { $0.0 < $1.0 }
  }

  // MARK: Commits

  private mutating func resolveOutcomes() {
    let told = Dictionary(history.account.map { ($0.transaction, $0.generation) }) { first, _ in first }
    for transaction in history.transactions {
      switch transaction.outcome {
      case .committed(let generation):
        generations[transaction.id] = generation ?? told[transaction.id]
      case .unknown(let looks):
        if Set(looks).count > 1 { report(.outcomeFlips, "\(transaction)") }
        if let found = looks.first { generations[transaction.id] = found }
      case .aborted, .readOnly: break
      }
    }
  }

  private mutating func applyCommits() {
    var newest = history.base
    for (generation, transaction) in committed {
      if generation == newest {
        report(.sharedGeneration, "generation \(generation) by another and \(transaction)")
      } else if generation != newest + 1 {
        report(.generationGap, "between \(newest) and \(transaction)")
      }
      newest = generation
      versions.apply(transaction.writes, generation: generation)
    }
  }

  /// Checks that of concurrent transactions that change the same object only the first is committed.
  private mutating func checkCommits() {
    var lastChange: [Int: Int] = [:]
    for (generation, transaction) in committed {
      if generation <= transaction.snapshot
        || history.promise == .serial && generation != transaction.snapshot + 1
      {
        report(.commitBeforeSnapshot, "generation \(generation) by \(transaction)")
      }
      let objects = Set(transaction.writtenKeys.map(History.object))
      for object in objects {
        if history.promise != .newest, let last = lastChange[object], last > transaction.snapshot {
          report(.secondCommitter, "object \(object) was changed in \(last) and by \(transaction)")
        }
        lastChange[object] = generation
      }
      if history.promise == .newest { checkBases(of: transaction, generation) }
    }
  }

  /// Checks that a transaction changed the state that existed immediately before it.
  private mutating func checkBases(of transaction: History.Transaction, _ generation: Int) {
    var written: Set<Int> = []
    var bases: [Int: [Int]] = [:]
    for operation in transaction.operations {
      if operation.isWrite {
        written.insert(operation.key)
      } else if case .read(let key, let value) = operation, !written.contains(key) {
        bases[key] = value
      }
    }
    for key in written.sorted() {
      guard let base = bases[key], base != versions.value(of: key, at: generation - 1) else { continue }
      report(
        .secondCommitter, "key \(key) was changed meanwhile, in generation \(generation) by \(transaction)")
    }
  }

  // MARK: Snapshots

  private mutating func checkSnapshots() {
    let newest = committed.last?.generation ?? history.base
    let byBegin = history.transactions.filter { !$0.isPast }.sorted { $0.begin < $1.begin }
    let acknowledged = history.transactions.filter { generations[$0.id] != nil }.sorted { $0.end < $1.end }
    var next = acknowledged[...]
    var newestAcknowledged = history.base
    var seen: [Int: Int] = [:]
    for transaction in byBegin {
      while let first = next.first, first.end < transaction.begin {
        newestAcknowledged = max(newestAcknowledged, generations[first.id] ?? 0)
        next.removeFirst()
      }
      if transaction.snapshot < newestAcknowledged {
        report(.staleSnapshot, "\(newestAcknowledged) had been acknowledged before \(transaction)")
      }
      if transaction.snapshot > newest { report(.futureRead, "there are \(newest) for \(transaction)") }
      if let before = seen[transaction.session], transaction.snapshot < before {
        report(.sessionGoesBack, "generation \(before) had been seen before \(transaction)")
      }
      seen[transaction.session] = transaction.snapshot
    }
    checkBegins()
  }

  /// Checks that a snapshot does not show transactions that began after its use.
  private mutating func checkBegins() {
    let makers = Dictionary(committed.map { ($0.generation, $0.transaction) }) { first, _ in first }
    for transaction in history.transactions {
      guard let maker = makers[transaction.snapshot], maker.begin > transaction.end else { continue }
      report(.futureRead, "\(maker) had not begun before the end of \(transaction)")
    }
  }
}
