/// Checks the consistency of a history. The lists that reads returned give the dependencies between
/// transactions, and isolation forbids certain cycles of these. The check does not use the generations, so a
/// wrong generation hides nothing.
///
/// Based on Adya's definitions, and on the observation of Kingsbury and Alvaro that an append-only list
/// contains its own version history.
struct DependencyCheck {
  private let history: History
  private let transactions: [History.Transaction]
  /// The transaction that appended each element, and whether it was its last append to the list.
  private var writers: [Int: (index: Int, isLast: Bool)] = [:]
  private var lists = ListReads()
  private var graph: DependencyGraph
  private var findings: [IsolationFinding] = []

  static func findings(of history: History) -> [IsolationFinding] {
    var check = DependencyCheck(history)
    check.collectReads()
    check.checkElements()
    check.findLostUpdates()
    check.addDependencies()
    check.addSessions()
    var circles = CircleSearch(graph: check.graph, transactions: check.transactions)
    circles.run()
    return check.findings + circles.findings
  }

  private init(_ history: History) {
    self.history = history
    transactions = history.transactions
    graph = DependencyGraph(count: transactions.count)
    for (index, transaction) in transactions.enumerated() {
      var last: [Int: Int] = [:]
      for case .append(let key, let element) in transaction.operations {
        if let before = last[key] { writers[before]?.isLast = false }
        last[key] = element
        writers[element] = (index, true)
      }
    }
  }

  private mutating func report(_ anomaly: Anomaly, _ text: String) {
    findings.append(IsolationFinding(anomaly: anomaly, text: text))
  }

  // MARK: Reads

  private mutating func collectReads() {
    for (index, transaction) in transactions.enumerated() {
      var own: [Int: [Int]] = [:]
      for operation in transaction.operations {
        switch operation {
        case .append(let key, let element): own[key, default: []].append(element)
        case .read(let key, let seen) where History.isList(key):
          let ofOwn = own[key] ?? []
          if !seen.suffix(ofOwn.count).elementsEqual(ofOwn) {
            report(.ownWriteNotSeen, "key \(key) was \(seen.suffix(8)) for \(transaction)")
          } else {
            lists.add(Array(seen.dropLast(ofOwn.count)), of: key, by: index)
            if transaction.isAcknowledged { lists.addVersion(seen, of: key) }
          }
        default: break
        }
      }
    }
    for read in lists.reads where !lists.isVersion(read.value, of: read.key) {
      report(
        .incompatibleOrder, "key \(read.key) was \(read.value.suffix(8)) for \(transactions[read.reader])")
    }
  }

  private mutating func checkElements() {
    for read in lists.reads {
      let reader = transactions[read.reader]
      if Set(read.value).count < read.value.count {
        report(.duplicateCommit, "key \(read.key) for \(reader)")
      }
      for element in read.value {
        guard let writer = writers[element] else {
          report(.ghostCommit, "no transaction appended \(element), which was read by \(reader)")
          continue
        }
        if transactions[writer.index].isAborted, writer.index != read.reader {
          report(.abortedRead, "\(transactions[writer.index]) was seen by \(reader)")
        }
      }
      if let last = read.value.last, let writer = writers[last], !writer.isLast, writer.index != read.reader {
        report(.intermediateRead, "\(transactions[writer.index]) was seen half way by \(reader)")
      }
    }
  }

  /// Finds pairs of committed transactions that appended to the same version of a list.
  private mutating func findLostUpdates() {
    struct Version: Hashable {
      let key: Int
      let count: Int
      let last: Int?
    }
    var changedBy: [Version: Int] = [:]
    for read in lists.reads where transactions[read.reader].isAcknowledged {
      let reader = transactions[read.reader]
      guard reader.writtenKeys.contains(read.key) else { continue }
      let version = Version(key: read.key, count: read.value.count, last: read.value.last)
      if let other = changedBy[version], other != read.reader {
        report(.lostUpdate, "key \(read.key) was changed alike by \(transactions[other]) and \(reader)")
      }
      changedBy[version] = read.reader
    }
  }

  // MARK: Dependencies

  private mutating func addDependencies() {
    for (key, order) in lists.orders {
      for (former, latter) in zip(order, order.dropFirst()) {
        if let first = writers[former]?.index, let second = writers[latter]?.index {
          graph.add(first, second, .write, key: key)
        }
      }
    }
    for read in lists.reads where lists.isVersion(read.value, of: read.key) {
      if let last = read.value.last, let writer = writers[last]?.index {
        graph.add(writer, read.reader, .read, key: read.key)
      }
      if let next = lists.successor(of: read.value, of: read.key), let writer = writers[next]?.index {
        graph.add(read.reader, writer, .missed, key: read.key)
      }
    }
  }

  private mutating func addSessions() {
    let live = transactions.indices.filter { !transactions[$0].isPast }
    for session in Dictionary(grouping: live, by: { transactions[$0].session }).values {
      let inOrder = session.sorted { transactions[$0].begin < transactions[$1].begin }
      for (place, latter) in inOrder.enumerated() {
        let begin = transactions[latter].begin
        let before = inOrder[..<place].suffix(6)
        for former in before where transactions[former].end < begin {
          graph.add(former, latter, .session, key: -1)
        }
      }
    }
  }
}
