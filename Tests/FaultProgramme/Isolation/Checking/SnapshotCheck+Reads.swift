extension SnapshotCheck {
  mutating func checkReads() {
    for transaction in history.transactions {
      var own: [Int: [History.Operation]] = [:]
      for operation in transaction.operations {
        if case .read(let key, let seen) = operation {
          check(seen, of: key, own[key] ?? [], transaction)
        } else {
          own[operation.key, default: []].append(operation)
        }
      }
    }
  }

  private mutating func check(
    _ seen: [Int], of key: Int, _ own: [History.Operation], _ transaction: History.Transaction
  ) {
    let last = transaction.lastSnapshot ?? transaction.snapshot
    let bases = versions.values(of: key, from: transaction.snapshot, through: max(last, transaction.snapshot))
    let possible = bases.map { base in own.reduce(base) { $1.applied(to: $0) } }
    guard !possible.contains(seen), let base = bases.last, let expected = possible.last else { return }
    let anomaly =
      bases.contains(seen)
      ? .ownWriteNotSeen : anomaly(of: seen, expected: expected, base: base, key, transaction, last)
    report(anomaly, "key \(key) is \(expected.suffix(8)) and was \(seen.suffix(8)) for \(transaction)")
    let missing = expected.filter { !seen.contains($0) && isLost($0, key) }
    for element in missing { report(.lostCommit, "\(element) is nowhere, of \(describe(element))") }
  }

  /// The anomaly of a read with an unexpected value.
  private func anomaly(
    of seen: [Int], expected: [Int], base: [Int], _ key: Int, _ transaction: History.Transaction, _ last: Int
  ) -> Anomaly {
    if Set(seen).count < seen.count { return .duplicateCommit }
    for element in seen where !expected.contains(element) {
      guard let writer = writers[element] else { return .ghostCommit }
      if writer.id == transaction.id { continue }
      if writer.isAborted { return .abortedRead }
      guard let generation = generations[writer.id] else { return .ghostCommit }
      if generation > last { return .futureRead }
    }
    let missing = Set(expected.filter { !seen.contains($0) }.compactMap { writers[$0]?.id })
    if missing.contains(where: { shows($0, in: seen) }) { return .intermediateRead }
    let shown = shownWriters(in: transaction)
    return missing.isDisjoint(with: shown) ? .wrongRead : .splitGeneration
  }

  private func shows(_ writer: Int, in seen: [Int]) -> Bool { seen.contains { writers[$0]?.id == writer } }

  /// The transactions whose elements a transaction has read.
  private func shownWriters(in transaction: History.Transaction) -> Set<Int> {
    var shown: Set<Int> = []
    for case .read(_, let value) in transaction.operations {
      shown.formUnion(value.compactMap { writers[$0]?.id })
    }
    return shown
  }

  /// Whether an acknowledged element of a list is missing in every read at or after its generation.
  private func isLost(_ element: Int, _ key: Int) -> Bool {
    guard History.isList(key), let writer = writers[element], writer.isAcknowledged,
      let generation = generations[writer.id]
    else { return false }
    return !history.transactions.contains { transaction in
      transaction.id != writer.id && transaction.snapshot >= generation
        && transaction.operations.contains { operation in
          if case .read(key, let value) = operation { value.contains(element) } else { false }
        }
    }
  }

  private func describe(_ element: Int) -> String { writers[element].map { "\($0)" } ?? "no transaction" }
}
