import HeartwoodFaults

/// Appends transactions, which may be incorrect, to a correct history. They use objects of their own.
struct Planter {
  /// The history without its last transaction, which reads everything. `finish` adds another one.
  private(set) var history: History
  var random: SplitMix64
  private var moment: Int
  private(set) var newest: Int
  private var objects = HistoryGenerator.objects
  private var nextID = 10_000
  /// The values that the last transaction sees instead of the committed ones.
  private var shown: [Int: [Int]] = [:]

  init(_ history: History, seed: UInt64) {
    self.history = history
    random = SplitMix64(seed: seed)
    let last = self.history.transactions.removeLast()
    moment = last.begin
    newest = last.snapshot
  }

  mutating func freshList() -> Int { History.list(of: freshObject()) }
  mutating func freshRegister() -> Int { History.register(of: freshObject()) }

  private mutating func freshObject() -> Int {
    objects += 1
    return objects - 1
  }

  mutating func tick() -> Int {
    moment += 1
    return moment
  }

  /// Appends a transaction that makes the next generation and is in the store's history.
  @discardableResult
  mutating func commit(
    _ operations: History.Operation..., from snapshot: Int? = nil, session: Int? = nil, begin: Int? = nil
  ) -> Int {
    newest += 1
    let id = add(
      operations, .committed(newest), from: snapshot ?? newest - 1, session: session, begin: begin)
    let keys = operations.filter(\.isWrite).map(\.key)
    history.account.append(
      History.Entry(generation: newest, transaction: id, changes: .keys(Set(keys).sorted())))
    return id
  }

  /// Appends a transaction that makes no generation.
  @discardableResult
  mutating func run(
    _ operations: History.Operation..., outcome: History.Outcome = .readOnly, from snapshot: Int? = nil,
    session: Int? = nil, begin: Int? = nil
  ) -> Int {
    add(operations, outcome, from: snapshot ?? newest, session: session, begin: begin)
  }

  private mutating func add(
    _ operations: [History.Operation], _ outcome: History.Outcome, from snapshot: Int, session: Int?,
    begin: Int?
  ) -> Int {
    nextID += 1
    let start = begin ?? tick()
    history.transactions.append(
      History.Transaction(
        id: nextID, session: session ?? nextID, begin: start, end: tick(), snapshot: snapshot,
        operations: operations, outcome: outcome))
    return nextID
  }

  /// Makes the last transaction see another value.
  mutating func show(_ key: Int, _ value: [Int]) { shown[key] = value }

  mutating func change(_ body: (inout History) -> Void) { body(&history) }

  mutating func changeTransaction(_ id: Int, _ body: (inout History.Transaction) -> Void) {
    for index in history.transactions.indices where history.transactions[index].id == id {
      body(&history.transactions[index])
    }
  }

  /// The history with a last transaction that reads everything.
  mutating func finish() -> History {
    var versions = Versions()
    let made = history.transactions.compactMap { transaction in transaction.made.map { ($0, transaction) } }
    for (generation, transaction) in made.sorted(by: { $0.0 < $1.0 }) {
      versions.apply(transaction.writes, generation: generation)
    }
    let reads = (0..<2 * objects).map { key in
      History.Operation.read(key, shown[key] ?? versions.value(of: key, at: .max))
    }
    newest = made.map(\.0).max() ?? newest
    _ = add(reads, .readOnly, from: newest, session: nil, begin: nil)
    return history
  }
}

extension History.Transaction {
  /// The generation that the transaction claims to have made.
  var made: Int? {
    switch outcome {
    case .committed(let generation): generation
    case .unknown(let looks): looks.first ?? nil
    case .aborted, .readOnly: nil
    }
  }
}
