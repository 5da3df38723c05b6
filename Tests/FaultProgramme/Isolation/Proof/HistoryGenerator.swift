import HeartwoodFaults

/// Generates correct histories of concurrent sessions on a minimal model of a store.
struct HistoryGenerator {
  private struct Running {
    var transaction: History.Transaction
    var stepsLeft: Int
    var writes: [History.Operation] = []
    /// The generation in which each object was first read.
    var readIn: [Int: Int] = [:]
    /// The generation of a transaction that is committed and not yet acknowledged.
    var made: Int?
  }

  static let sessions = 4
  static let objects = 8

  private var random: SplitMix64
  private let count: Int
  private(set) var history: History
  private var versions = Versions()
  private var newest: Int
  private var acknowledged: Int
  private var lastChange: [Int: Int] = [:]
  private var lastSeen: [Int: Int] = [:]
  private var running: [Int: Running] = [:]
  private var moment = 0

  /// The history for a seed.
  static func history(_ promise: History.Promise, count: Int, seed: UInt64) -> History {
    var generator = HistoryGenerator(promise, count: count, seed: seed)
    generator.run()
    return generator.history
  }

  private init(_ promise: History.Promise, count: Int, seed: UInt64) {
    random = SplitMix64(seed: seed)
    self.count = count
    newest = random.below(5)
    acknowledged = newest
    history = History(promise: promise, base: newest)
  }

  private mutating func run() {
    while history.transactions.count + running.count < count || !running.isEmpty {
      let session = random.below(Self.sessions)
      if let current = running[session] {
        running[session] = goOn(current)
      } else if history.transactions.count + running.count < count {
        running[session] = begin(session)
      }
    }
    readEverything()
  }

  private mutating func tick() -> Int {
    moment += 1
    return moment
  }

  private mutating func begin(_ session: Int) -> Running {
    let number = history.transactions.count + running.count
    let oldest = max(acknowledged, lastSeen[session] ?? 0)
    let isNewest = history.promise == .newest || random.below(3) > 0
    let snapshot = isNewest ? newest : oldest + random.below(newest - oldest + 1)
    lastSeen[session] = snapshot
    let transaction = History.Transaction(
      id: number, session: session, begin: tick(), end: 0, snapshot: snapshot)
    return Running(transaction: transaction, stepsLeft: 1 + random.below(5))
  }

  /// Advances a transaction by one step; nil at its end.
  private mutating func goOn(_ running: Running) -> Running? {
    var current = running
    if let made = current.made {
      acknowledged = max(acknowledged, made)
      return finish(current)
    }
    if current.stepsLeft > 0 {
      current.stepsLeft -= 1
      step(&current)
      return current
    }
    return end(current)
  }

  private mutating func step(_ current: inout Running) {
    let object = min(random.below(Self.objects), random.below(Self.objects))
    let mayWrite = history.promise != .serial || current.transaction.snapshot == newest
    let element = current.transaction.id * 100 + current.transaction.operations.count
    switch random.below(8) {
    case 0, 1, 2: read(History.list(of: object), &current)
    case 3: read(History.register(of: object), &current)
    case 4, 5,
      6 where mayWrite:
      read(History.list(of: object), &current)
      write(.append(History.list(of: object), element), &current)
    case 7 where mayWrite:
      read(History.register(of: object), &current)
      write(.set(History.register(of: object), random.below(4) == 0 ? [] : [element]), &current)
    default: read(History.list(of: object), &current)
    }
  }

  private func read(_ key: Int, _ current: inout Running) {
    let object = History.object(of: key)
    let generation =
      history.promise == .newest ? current.readIn[object, default: newest] : current.transaction.snapshot
    current.readIn[object] = generation
    let value = current.writes.reduce(versions.value(of: key, at: generation)) { value, write in
      write.key == key ? write.applied(to: value) : value
    }
    current.transaction.operations.append(.read(key, value))
  }

  private func write(_ operation: History.Operation, _ current: inout Running) {
    current.writes.append(operation)
    current.transaction.operations.append(operation)
  }

  private mutating func end(_ running: Running) -> Running? {
    var current = running
    if history.promise == .newest { current.transaction.lastSnapshot = newest }
    guard !current.writes.isEmpty else { return finish(current) }
    let luck = random.below(20)
    if isRefused(current) || luck < 2 {
      current.transaction.outcome = luck == 0 ? .unknown([nil, nil]) : .aborted
      return finish(current)
    }
    newest += 1
    versions.apply(current.writes, generation: newest)
    for write in current.writes { lastChange[History.object(of: write.key)] = newest }
    let keys = current.transaction.writtenKeys
    history.account.append(
      History.Entry(generation: newest, transaction: current.transaction.id, changes: .keys(Array(keys))))
    current.transaction.outcome =
      luck == 2 ? .unknown([newest, newest, newest]) : .committed(newest)
    current.made = newest
    return current
  }

  private func isRefused(_ current: Running) -> Bool {
    if history.promise == .serial { return current.transaction.snapshot != newest }
    return current.writes.contains { write in
      let object = History.object(of: write.key)
      let base = history.promise == .newest ? current.readIn[object] : current.transaction.snapshot
      return lastChange[object, default: 0] > base ?? 0
    }
  }

  private mutating func finish(_ current: Running) -> Running? {
    var transaction = current.transaction
    transaction.end = tick()
    history.transactions.append(transaction)
    return nil
  }

  /// Adds a last transaction that reads everything.
  private mutating func readEverything() {
    var last = History.Transaction(
      id: history.transactions.count, session: Self.sessions, begin: tick(), end: tick(), snapshot: newest)
    last.operations = (0..<2 * Self.objects).map { .read($0, versions.value(of: $0, at: newest)) }
    history.transactions.append(last)
  }
}
