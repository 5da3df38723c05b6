import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// The store in Heartwood's own format: rows, indexes, links and history in one engine.
///
/// - Invariant: A save is one transaction of the engine, including its history. The number of a transaction
///   is the number of the generation that it makes.
final class LogStore: RowStore {
  let identity: StoreIdentity
  private let schemas: SchemaCache
  let isReadOnly: Bool
  var path: String { file?.path ?? engine.path }
  let engine: Engine
  /// Named in the history of each save; nil to name none.
  private let program: SavingProgram?
  /// Whether saves are recorded in the history.
  let tracksHistory: Bool
  /// Which history each save deletes; nil for none.
  let retention: HistoryRetention?
  let metadataToSave = MetadataToSave()
  /// The file that each save writes as a whole; nil for a store in a folder, or only in memory.
  let file: (any StoreOutside)?
  /// Held for a whole save of a store with a file, before the writer lock: the file is told how a transaction has ended before the next
  /// one is written to it.
  private let savesToFile = Lock()

  init(
    _ engine: Engine, _ schema: StoreSchema, isReadOnly: Bool, program: SavingProgram? = nil,
    tracksHistory: Bool = true, retention: HistoryRetention? = nil, file: (any StoreOutside)? = nil,
    entityNames: Set<String>? = nil
  ) {
    self.file = file
    self.program = program
    self.tracksHistory = tracksHistory
    self.retention = retention
    self.engine = engine
    schemas = SchemaCache(schema, path: file?.path ?? engine.path, entityNames)
    self.isReadOnly = isReadOnly
    identity = StoreIdentity(uuid: UUID(engine.storeIdentifier))
  }

  /// The numbers of the transactions of this opening, if it is one for the code of a migration.
  private let migrationTransactions = Guarded<TransactionNumbers?>(nil)

  /// Notes the numbers of the transactions from now on.
  func beginMigrationTransactions() { migrationTransactions.withLock { $0 = TransactionNumbers() } }

  /// The numbers since `beginMigrationTransactions()`.
  var savedByMigration: TransactionNumbers { migrationTransactions.withLock { $0 ?? TransactionNumbers() } }

  /// The schema that was used last.
  var schema: StoreSchema { schemas.newest }
  var storeUUID: UUID { UUID(engine.storeIdentifier) }
  var newestGeneration: UInt64 { engine.newestGeneration.rawValue }

  /// Closes the store. A second call does nothing.
  func close() throws {
    try HeartwoodError.translating("the store at \(path) could not be closed") { try engine.close() }
  }

  /// Has the next save write the store to another place.
  ///
  /// - Returns: False if it is a store in a folder or in memory, or if something is at the place.
  func move(to path: String) -> Bool {
    guard let file else { return false }
    return savesToFile.withLock { file.move(to: path) }
  }

  func require(_ feature: StoreFeature) throws(HeartwoodError) {
    guard let file, !file.allows(feature) else { return }
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the store at \(path) is of type \(file.typeName), which does not have \(feature.rawValue): only stores of type Log do"
    )
  }

  func indexes(of entity: EntityDescription) -> [StoreIndex] { schema.entity(entity).indexes }
}

/// Reading and writing.
extension LogStore {
  func view() throws -> any StoreView { try newestView() }

  func newestView() throws -> LogStoreView {
    try HeartwoodError.translating("the store cannot be read") {
      try view(of: engine.snapshot())
    }
  }

  private func view(of snapshot: Snapshot) throws -> LogStoreView {
    LogStoreView(snapshot, try schemas.schema(ofSnapshot: snapshot), identity)
  }

  /// The entity of a row, if the newest generation has it, otherwise `entity`.
  func storedEntity(_ entity: EntityDescription, _ key: UInt64) -> EntityDescription {
    guard entity.rootEntity.hasSubentities, let view = try? newestView(), view.has(entity.rootEntity),
      let number = try? view.withRow(entity.rootEntity, key, { $0?.entityNumber })
    else { return entity }
    return (try? entity.rootEntity.entity(numbered: number)) ?? entity
  }

  func view(at generations: StoreGenerations) throws -> any StoreView {
    guard let number = generations.number(of: identity) else {
      throw HeartwoodError(
        .persistentStoreOperation, "there is no generation of the store at \(path) in the query generation")
    }
    return try view(at: number)
  }

  func view(at generation: UInt64) throws -> any StoreView { try pastView(at: generation) }

  /// A past generation.
  ///
  /// - Throws: `HeartwoodError` if the store no longer has it.
  func pastView(at generation: UInt64) throws -> LogStoreView {
    try pastView(
      of: HeartwoodError.translating("generation \(generation) cannot be read") {
        try engine.snapshot(at: Generation(rawValue: generation))
      })
  }

  /// Two generations that are to be compared; `present` is the newest if it is nil.
  ///
  /// - Throws: As `pastView(at:)`.
  func pastViews(at former: UInt64, and present: UInt64? = nil) throws -> GenerationPair {
    let named = present.map { "\($0)" } ?? "the newest one"
    let pair = try HeartwoodError.translating("generations \(former) and \(named) cannot be read") {
      try engine.snapshots(
        at: Generation(rawValue: former), and: present.map(Generation.init(rawValue:)))
    }
    return GenerationPair(earlier: try pastView(of: pair.former), later: try pastView(of: pair.present))
  }

  private func pastView(of snapshot: Snapshot) throws -> LogStoreView {
    do {
      return try HeartwoodError.translating("generation \(snapshot.generation) cannot be read") {
        try view(of: snapshot)
      }
    } catch let error as HeartwoodError where error.code == .persistentStoreIncompatibleVersionHash {
      throw HeartwoodError(
        error.code,
        "generation \(snapshot.generation) of the store at \(path) was written before the store was migrated, and has the objects of the former "
          + "model: it cannot be read with this one. Its history can; a backup of that time can be opened with the former model",
        underlying: error)
    }
  }

  /// The state after a transaction, also where a migration or a reclamation has left a later generation of the same transaction only, or a hold
  /// keeps one.
  ///
  /// - Throws: As `pastView(at:)`, if the store has no such generation.
  func pastView(afterTransaction number: UInt64) throws -> LogStoreView {
    do {
      return try pastView(at: number)
    } catch {
      let known = try generations().map(\.generation) + holds().map(\.generation)
      for later in known.map(\.rawValue).sorted() where later > number {
        guard let view = try? pastView(at: later) else { continue }
        if try view.changeSetPosition(view.replica()) <= number { return view }
        break
      }
      throw error
    }
  }

  func commit<Result>(
    _ info: TransactionInfo, to stores: Set<Int>, _ body: (any StoreTransaction) throws -> Result
  ) throws -> (Result, CommittedSave) {
    let (result, number) = try save(info, body)
    let generations = StoreGenerations(identity, number)
    return (result, CommittedSave(written: generations, newest: generations))
  }

  /// Runs the body under the writer lock and commits its writes, with their history, as one generation.
  ///
  /// - Returns: As `commit(_:to:_:)`, the generation by its number.
  func save<Result>(
    _ info: TransactionInfo, _ body: (any StoreTransaction) throws -> Result
  ) throws -> (Result, UInt64) {
    let (result, number) = try write(info) { transaction, finish in
      let result = try body(transaction)
      try finish()
      return result
    }
    return (result, number ?? newestGeneration)
  }

  /// Runs a transaction with all checks of a save, and does not commit it.
  ///
  /// - Returns: The result of `body`.
  func rehearse<Result: Sendable>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    do {
      return try write(TransactionInfo()) { transaction, finish -> Result in
        let result = try body(transaction)
        try finish()
        throw Rehearsed(result: result)
      }.0
    } catch let rehearsed as Rehearsed<Result> {
      return rehearsed.result
    }
  }

  /// As `save(_:_:)`, and the body calls its second argument when it has written everything: what depends on all writes is checked
  /// and written then, and only the commit remains.
  ///
  /// - Returns: The generation is nil if the body wrote nothing.
  func write<Result>(
    _ info: TransactionInfo, _ body: (LogStoreTransaction, _ finish: () throws -> Void) throws -> Result
  ) throws -> (Result, UInt64?) {
    try refuseIfReadOnly()
    guard file != nil else { return try writeUnlocked(info, body) }
    return try savesToFile.withLock { try writeUnlocked(info, body) }
  }

  private func writeUnlocked<Result>(
    _ info: TransactionInfo, _ body: (LogStoreTransaction, _ finish: () throws -> Void) throws -> Result
  ) throws -> (Result, UInt64?) {
    var info = info
    info.program = info.program ?? program
    info.tracksHistory = tracksHistory
    info.retention = retention
    return try HeartwoodError.translating("the save failed", .persistentStoreSave) {
      var number: UInt64?
      let metadata = metadataToSave.pending
      var isCommitted = false
      defer { if !isCommitted { file?.noteFailed() } }
      let result = try engine.write { writer in
        let transaction = LogStoreTransaction(writer, try schemas.schema(of: writer), identity)
        // First, as another process that has done the same work may have saved the same objects.
        try transaction.advanceConsumers(info.consumers)
        let result = try body(transaction) {
          number = try transaction.finish(info)
          if let metadata { try writer.put(KeySpace.metadataKey, metadata.bytes(for: writer)) }
          if number != nil || metadata != nil { try file?.prepare() }
        }
        // Last, as a file that is written cannot be taken back where another store of the same save fails.
        if let file, number != nil || metadata != nil { try file.save(transaction, engine.storeIdentifier) }
        return result
      }
      isCommitted = true
      if let number { migrationTransactions.withLock { $0?.add(number) } }
      file?.noteCommitted()
      metadataToSave.noteWritten(metadata)
      return (result, number)
    }
  }

  /// Runs the body in a transaction that is not recorded in the history.
  func writeWithoutHistory<Result>(
    _ failure: String, _ body: (LogStoreTransaction) throws -> Result
  ) throws -> Result {
    try refuseIfReadOnly()
    return try HeartwoodError.translating(failure, .persistentStoreSave) {
      try engine.write { writer in
        try body(LogStoreTransaction(writer, schemas.schema(of: writer), identity))
      }
    }
  }

  /// Deletes the history of the transactions before `number`, oldest first, except those for which `isKept` returns true: the
  /// first of them ends the work.
  ///
  /// - Returns: the number of transactions whose history was deleted.
  func deleteHistory(before number: UInt64, keepingFrom isKept: (HistoryRecord) -> Bool) throws -> Int {
    try refuseIfReadOnly()
    var deleted = 0
    while true {
      let step = try writeWithoutHistory("the history could not be deleted") {
        try $0.deleteHistory(
          before: number, keepingFrom: { record, _ in isKept(record) }, atMost: Self.historyStep)
      }
      deleted += step
      guard step == Self.historyStep else { return deleted }
    }
  }

  /// Deletes the history of single transactions but the newest one, which stays.
  ///
  /// - Parameter numbers: In order.
  func deleteHistory(of numbers: [UInt64]) throws {
    try refuseIfReadOnly()
    var rest = numbers[...]
    while !rest.isEmpty {
      let step = rest.prefix(Self.historyStep)
      rest = rest.dropFirst(step.count)
      try writeWithoutHistory("the history could not be deleted") { transaction in
        let newest = try transaction.newestHistory()
        try transaction.deleteHistory(of: step.prefix { $0 < newest })
      }
    }
  }

  /// How many history records one transaction deletes: other saves wait for it.
  private static let historyStep = 2000

  func reserveKeys(_ root: EntityDescription, _ count: Int, in store: Int = 0) throws -> UInt64 {
    try refuseIfReadOnly()
    return try HeartwoodError.translating("identifiers could not be reserved") {
      try engine.write { writer in
        try LogStoreTransaction(writer, schemas.schema(of: writer), identity).newKeys(root, count)
      }
    }
  }

  /// The schema of the state that a transaction sees.
  func currentSchema(of transaction: WriteTransaction) throws -> StoreSchema {
    try schemas.schema(of: transaction)
  }

  func refuseIfReadOnly() throws {
    if isReadOnly { throw HeartwoodError.openReadOnly(path) }
  }
}

/// Inspection and maintenance.
extension LogStore {
  func generations() throws -> [GenerationRecord] {
    try require(.generations)
    return try HeartwoodError.translating("the store cannot be read") { try engine.generations() }
  }

  func hold(_ name: String, _ generation: UInt64?, seconds: Double?) throws -> GenerationHold {
    try refuseIfReadOnly()
    try require(.generations)
    return try HeartwoodError.translating("the generation cannot be held") {
      try engine.hold(name, generation: generation.map(Generation.init(rawValue:)), forSeconds: seconds)
    }
  }

  func releaseHold(_ name: String) throws -> Bool {
    try refuseIfReadOnly()
    return try HeartwoodError.translating("the hold cannot be ended") { try engine.releaseHold(name) }
  }

  func holds() throws -> [GenerationHold] {
    try HeartwoodError.translating("the holds cannot be read") { try engine.holds() }
  }

  func bytesOfHolds() throws -> [String: Int64] {
    try HeartwoodError.translating("the holds cannot be read") { try engine.bytesOfHolds() }
  }

  func statistics() throws -> EngineStatistics {
    try HeartwoodError.translating("the store cannot be read") { try engine.statistics() }
  }

  func reclaim() throws -> ReclaimedSpace {
    try refuseIfReadOnly()
    return try HeartwoodError.translating("the space cannot be reclaimed") { try engine.reclaim() }
  }

  func backup(to url: URL, _ fileSystem: (any FileSystem)?) throws -> BackupReport {
    try require(.backup)
    return try HeartwoodError.translating("the store cannot be backed up") {
      try engine.backup(to: url.path, fileSystem: fileSystem)
    }
  }

  func shipper(to destination: any ShippingDestination, _ options: ShippingOptions) throws -> Shipper {
    try require(.backup)
    return Shipper(engine, to: destination, options: options)
  }

  /// Verifies everything: the engine's bytes and structure, then rows, indexes, links and history.
  ///
  /// - Parameter progress: called with the number of bytes read, and the number of bytes in total.
  func verify(progress: ((Int64, Int64) -> Void)? = nil) throws -> StoreReport {
    try HeartwoodError.translating("the store cannot be verified") {
      let findings = try engine.verify(progress: progress).findings
      return StoreReport(findings: findings + (try StoreVerifier(newestView()).run()))
    }
  }

  /// Verifies what is read as of a past generation: rows, indexes, links and history, and the pages that have them.
  ///
  /// - Throws: As `pastView(at:)`.
  func verify(at generation: UInt64) throws -> StoreReport {
    let view = try pastView(at: generation)
    return try HeartwoodError.translating("generation \(generation) cannot be verified") {
      StoreReport(findings: try StoreVerifier(view).run())
    }
  }

  /// The model of a past generation, also of one that was written before a migration.
  ///
  /// - Throws: `HeartwoodError` if the store no longer has the generation.
  func model(at generation: UInt64) throws -> ManagedObjectModel {
    try HeartwoodError.translating("generation \(generation) cannot be read") {
      try Self.model(in: engine.snapshot(at: Generation(rawValue: generation)), path)
    }
  }
}

extension UUID {
  init(_ identifier: StoreIdentifier) {
    self = identifier.bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

/// Ends a transaction that is not to be committed.
private struct Rehearsed<Result: Sendable>: Error {
  let result: Result
}
