/// The check of the store's history: each committed transaction once, no others, in order, with its changes.
extension SnapshotCheck {
  mutating func checkAccount() {
    let transactions = Dictionary(history.transactions.map { ($0.id, $0) }) { first, _ in first }
    var seen: Set<Int> = []
    var newest = history.base
    for entry in history.account {
      if entry.generation <= newest { report(.historyOrder, "\(entry) after generation \(newest)") }
      newest = entry.generation
      guard seen.insert(entry.transaction).inserted else {
        report(.historyDuplicate, "\(entry)")
        continue
      }
      guard let transaction = transactions[entry.transaction], let generation = generations[transaction.id]
      else {
        report(.ghostCommit, "no transaction has committed \(entry)")
        continue
      }
      if generation != entry.generation { report(.historyOrder, "\(entry) is of \(transaction)") }
      if !isRight(entry.changes, generation, transaction) {
        report(.historyChanges, "\(entry) is of \(transaction)")
      }
    }
    reportMissing(seen)
  }

  private mutating func reportMissing(_ seen: Set<Int>) {
    for transaction in history.transactions where !seen.contains(transaction.id) {
      let isCommitted = generations[transaction.id] != nil || transaction.isAcknowledged
      if isCommitted, !transaction.writes.isEmpty { report(.historyGap, "without \(transaction)") }
    }
  }

  /// Whether the history lists every changed value and only written ones. A write of an unchanged value may
  /// or may not be listed.
  private func isRight(
    _ changes: History.Entry.Changes, _ generation: Int, _ transaction: History.Transaction
  ) -> Bool {
    switch changes {
    case .count(let count): return count == transaction.writes.count
    case .keys(let keys):
      let written = transaction.writtenKeys
      let changed = written.filter {
        versions.value(of: $0, at: generation) != versions.value(of: $0, at: generation - 1)
      }
      return Set(keys).count == keys.count && changed.isSubset(of: keys) && written.isSuperset(of: keys)
    }
  }
}
