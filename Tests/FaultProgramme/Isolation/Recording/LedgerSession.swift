import Heartwood
import HeartwoodFaults

/// The operations of one thread on a graph, in its own context.
final class LedgerSession {
  /// A pinned context that is used while other transactions run.
  private struct Held {
    let context: ManagedObjectContext
    var transaction: History.Transaction
  }

  private let session: SessionRecorder
  private let container: PersistentContainer
  private let identifiers: [ManagedObjectID]
  private let isPinned: Bool
  private let context: ManagedObjectContext
  private var held: [Held] = []
  private var current: History.Transaction

  init(
    _ session: SessionRecorder, _ container: PersistentContainer, _ numbers: [ManagedObjectID: Int],
    isPinned: Bool
  ) {
    self.session = session
    self.container = container
    self.isPinned = isPinned
    identifiers = numbers.sorted { $0.value < $1.value }.map(\.key)
    context = container.newBackgroundContext()
    current = session.begin()
  }

  /// Runs this many more transactions.
  func run(_ count: Int) throws {
    let goal = session.transactions.count + count
    while session.transactions.count + held.count < goal {
      switch session.random.below(20) {
      case 0..<14: try context.performAndWait { try transact() }
      case 14, 15: if isPinned { try hold() }
      case 16, 17: try readHeld()
      case 18: try readPast()
      default: try context.performAndWait { try readAll() }
      }
      if held.count > 3 { try letGo(of: 3) }
    }
    try letGo(of: 0)
  }

  private func object() -> Int {
    min(session.random.below(identifiers.count), session.random.below(identifiers.count))
  }

  private func ledger(_ number: Int, in context: ManagedObjectContext) -> Ledger? {
    context.object(with: identifiers[number]) as? Ledger
  }

  private var newest: Int {
    get throws { Int(try container.persistentStoreCoordinator.newestQueryGenerationToken().generation ?? 0) }
  }

  // MARK: One transaction

  /// Starts with faults only. The context is pinned to the newest generation or follows it.
  private func begin() throws {
    if session.random.below(4) == 0 { context.reset() } else { context.refreshAllObjects() }
    try takeSnapshot()
    if isPinned { try pinned(by: object()) }
  }

  private func takeSnapshot() throws {
    current = session.begin()
    context.transactionAuthor = "\(current.id)"
    if isPinned { try context.setQueryGenerationFrom(.current) } else { current.snapshot = try newest }
  }

  /// Pins the context by its first read.
  private func pinned(by number: Int) throws {
    _ = ledger(number, in: context)?.number
    guard let generation = context.queryGenerationToken?.generation else {
      throw Finding("nothing was pinned")
    }
    current.snapshot = Int(generation)
  }

  private func end(_ outcome: History.Outcome) throws {
    if !isPinned { current.lastSnapshot = try newest }
    session.end(current, outcome)
  }

  private func read(_ number: Int) throws -> Ledger {
    guard let ledger = ledger(number, in: context) else { throw Finding("object \(number) is none") }
    current.operations += try ledger.reads()
    return ledger
  }

  private func transact() throws {
    try begin()
    for step in 0..<1 + session.random.below(4) {
      session.pause()
      let number = object()
      let ledger = try read(number)
      let element = current.id * 10 + step
      switch session.random.below(6) {
      case 0, 1: break
      case 2 where !current.writtenKeys.contains(History.register(of: number)):
        let isRemoved = ledger.note != nil && session.random.below(3) == 0
        ledger.note = isRemoved ? nil : Int64(element)
        current.operations.append(.set(History.register(of: number), isRemoved ? [] : [element]))
      default:
        try ledger.append(element)
        current.operations.append(.append(History.list(of: number), element))
      }
    }
    if session.random.below(12) == 0 {
      context.rollback()
      return try end(.aborted)
    }
    try save()
  }

  private func readAll() throws {
    try begin()
    session.pause()
    for ledger in try context.fetch(Ledger.self, sort: [.ascending(\.number)]) {
      current.operations += try ledger.reads()
    }
    try end(.readOnly)
  }

  // MARK: Saving

  private func save() throws {
    guard !current.writes.isEmpty else {
      try context.save()
      return try end(.readOnly)
    }
    session.pause()
    // Reads after the save belong to the next transaction.
    if !isPinned { current.lastSnapshot = try newest }
    do {
      try context.save()
    } catch let error as HeartwoodError where error.code == .managedObjectMerge {
      session.end(current, .aborted)
      return try resolve(error.mergeConflicts)
    }
    session.end(current, .committed(isPinned ? context.queryGenerationToken?.generation.map(Int.init) : nil))
  }

  /// Rolls back, keeps the store's values, or overwrites them and saves again.
  private func resolve(_ conflicts: [MergeConflict]) throws {
    let writes = current.writes
    let objects = conflicts.map(\.sourceObject)
    let numbers = Set(objects.compactMap { identifiers.firstIndex(of: $0.objectID) })
    try require(
      numbers.isSubset(of: writes.map { History.object(of: $0.key) }), "a conflict of what was not changed")
    let choice = session.random.below(3)
    let mayOverwrite = !writes.contains { numbers.contains(History.object(of: $0.key)) && !$0.canBeLaidOver }
    guard choice > 0, choice == 1 || mayOverwrite else { return context.rollback() }
    try takeSnapshot()
    for object in objects { context.refresh(object, mergeChanges: choice == 2) }
    if isPinned { try pinned(by: numbers.min() ?? 0) }
    current.operations =
      choice == 2 ? writes : writes.filter { !numbers.contains(History.object(of: $0.key)) }
    try save()
  }

  // MARK: Other generations

  private func hold() throws {
    let context = container.newBackgroundContext()
    var transaction = session.begin()
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      transaction.operations += try ledger(object(), in: context)?.reads() ?? []
      guard let generation = context.queryGenerationToken?.generation else {
        throw Finding("nothing was pinned")
      }
      transaction.snapshot = Int(generation)
    }
    held.append(Held(context: context, transaction: transaction))
  }

  private func readHeld() throws {
    guard !held.isEmpty else { return }
    let index = session.random.below(held.count)
    try readMore(&held[index])
  }

  private func readMore(_ held: inout Held) throws {
    let context = held.context
    let numbers = [object(), object()]
    held.transaction.operations += try context.performAndWait {
      try numbers.flatMap { try ledger($0, in: context)?.reads() ?? [] }
    }
  }

  private func letGo(of rest: Int) throws {
    while held.count > rest {
      var oldest = held.remove(at: session.random.below(held.count))
      try readMore(&oldest)
      session.end(oldest.transaction, .readOnly)
    }
  }

  private func readPast() throws {
    var transaction = session.begin()
    transaction.isPast = true
    let generation = max(try newest - session.random.below(20), 0)
    transaction.snapshot = generation
    let context = container.newBackgroundContext()
    let coordinator = container.persistentStoreCoordinator
    transaction.operations = try context.performAndWait {
      try context.setQueryGenerationFrom(
        try coordinator.queryGenerationToken(forGeneration: UInt64(generation)))
      let found = try context.fetch(Ledger.self, where: { $0.number < 6 }, sort: [.ascending(\.number)])
      return try found.flatMap { try $0.reads() }
    }
    session.end(transaction, .readOnly)
  }
}

extension History.Operation {
  /// Whether the operation can overwrite concurrent changes. An append can't, because the elements of others
  /// would be lost; a deletion of a deleted register is not a change.
  fileprivate var canBeLaidOver: Bool {
    if case .set(_, let value) = self { !value.isEmpty } else { false }
  }
}
