import Foundation
import Heartwood
import Synchronization

/// A store in a PostgreSQL database, or in anything that speaks its protocol and dialect.
///
/// ```swift
/// PostgresStore.register()
/// let description = PersistentStoreDescription(url: URL(string: "postgres://app@localhost/shop?schema=shop")!)
/// description.type = .postgres
/// try container.persistentStoreCoordinator.addPersistentStore(with: description)
/// ```
///
/// Many processes on many machines may use one database. Conditions, orders, limits and counts are executed by the server; what cannot be translated
/// to SQL is refused with an error that names it. A save is one transaction, and finds conflicts by the version of each row. The schema
/// is made from the model when the store is first opened.
public final class PostgresStore: IncrementalStore, @unchecked Sendable {
  /// How many numbers of objects one call of a sequence reserves.
  static let block = 64

  private(set) var schema: PostgresSchema!
  private(set) var pool: PostgresPool!
  private(set) var address: PostgresAddress!
  /// Whether transactions leave their identifiers: false if others have made the tables, and this program may not.
  private(set) var notesTransactions = false
  /// The servers that only read; nil if the URL names none.
  private(set) var replicas: PostgresReplicas?
  private let numbers = NumberReserve()
  /// Set by the opening, and when others begin to record the history.
  var historyChoice: HistoryChoice {
    get { guardedChoice.withLock { $0 } }
    set { guardedChoice.withLock { $0 = newValue } }
  }
  private let guardedChoice = Mutex(HistoryChoice())
  /// Names this opening of the store in the history.
  let openingIdentifier = UUID()
  private(set) lazy var listener = PostgresListener(
    address, channel: PostgresHistory.channel(historyIdentifier))

  /// The identifier of the store, which is that of its notices.
  var historyIdentifier: String { storedMetadata[MetadataKey.storeUUID] as? String ?? "" }

  /// Registers the class for `.postgres`. Call it before the first store is opened.
  public static func register() {
    PersistentStoreCoordinator.registerStoreClass(PostgresStore.self, type: .postgres)
  }

  public override var comparesVersions: Bool { true }
  public override var checksUniqueness: Bool { true }

  // MARK: Opening

  /// Connects to the database, makes the schema if there is none, and reads the metadata.
  ///
  /// - Throws: `.persistentStoreOpen` if the database cannot be reached, or has other tables.
  public override func loadMetadata() throws {
    let address = try PostgresAddress(url)
    self.address = address
    let schema = PostgresSchema(managedObjectModel, named: address.schema, address.dialect)
    self.schema = schema
    pool = PostgresPool(address) { [unowned self] in try begin($0, $1) }
    replicas = address.replicas.isEmpty ? nil : PostgresReplicas(address, pool)
    try translating(.persistentStoreOpen, "the store at \(address.text) was not opened") {
      try pool.withConnection(retries: true) { connection in
        try tryingAgain { if try !schema.exists(connection) { try create(connection) } }
        notesTransactions = try notesTransactions(connection)
        try readMetadata(connection)
        try openHistory(connection)
      }
    }
  }

  public override func saveMetadata() throws {
    let values = storedMetadata.filter { !$0.key.hasPrefix("NSStore") && !$0.key.hasPrefix("Heartwood") }
    let bytes = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    try translating(.persistentStoreSave, "the metadata of the store at \(address.text) were not saved") {
      try pool.withConnection(retries: true) { connection in
        try write(["program": bytes], connection)
        try writeStage(connection)
      }
    }
  }

  /// Makes and fills the tables of the new model in one transaction. All rows are copied, whatever the change is.
  ///
  /// - Throws: `.persistentStoreTimeout` if others have the store open for longer than the description's timeout; `.migration` if the objects
  ///   do not allow it. The store is as before then.
  public override func migrate(_ migration: InferredMigration) throws { try migrateTables(migration) }

  /// Makes the tables of the new model in a schema beside the store's, and puts them in the place of the former ones in one transaction.
  ///
  /// - Throws: As `migrate(_:)`.
  public override func replaceContents(
    from source: ManagedObjectModel, _ make: (_ source: URL, _ destination: URL) throws -> Void
  ) throws {
    try replaceTables(from: source, make)
  }

  public override func willRemove(from coordinator: PersistentStoreCoordinator?) {
    pool?.close()
    replicas?.close()
  }

  // MARK: Identifiers

  public override func obtainPermanentIDs(for objects: [ManagedObject]) throws -> [ManagedObjectID] {
    var waiting: [ObjectIdentifier: (PostgresTable, Int)] = [:]
    for object in objects {
      let table = schema.table(object.entity)
      waiting[ObjectIdentifier(table), default: (table, 0)].1 += 1
    }
    var reserved: [ObjectIdentifier: ArraySlice<Int64>] = [:]
    for (place, (table, count)) in waiting { reserved[place] = try reserve(count, in: table)[...] }
    return objects.map { object in
      let number = reserved[ObjectIdentifier(schema.table(object.entity))]?.popFirst() ?? 0
      return self.object(object.entity, number)
    }
  }

  /// Numbers that no other object of a table has had; what is left of a block is kept for the next objects.
  func reserve(_ count: Int, in table: PostgresTable) throws -> [Int64] {
    try numbers.take(count, table.name, pool.losses) { missing in
      let blocks = (missing + Self.block - 1) / Self.block
      let rows = try translating(.persistentStoreSave, "no identifiers were reserved in \(address.text)") {
        try pool.apart {
          try pool.withConnection(retries: true) {
            try $0.query(
              "SELECT nextval($1::text::regclass) FROM generate_series(1, $2::int8)",
              [.text("\(schema.name.quoted).\(table.sequence.quoted)"), .integer(Int64(blocks))])
          }
        }
      }
      return (0..<rows.count).flatMap { row in
        let first = rows.integer(row, 0)
        return first..<first + Int64(Self.block)
      }
    }
  }

  /// The number of an object of this store.
  func number(_ id: ManagedObjectID) -> Int64 { number(of: id) ?? referenceObject(for: id) as? Int64 ?? 0 }

  /// The object of an entity with a number; others than this class may have written any.
  func object(_ entity: EntityDescription, _ number: Int64) -> ManagedObjectID {
    guard number > 0, number < 1 << 52 else { return newObjectID(for: entity, referenceObject: number) }
    return newObjectID(for: entity, number: UInt64(number))
  }

  // MARK: Requests

  public override func execute(_ request: PersistentStoreRequest, with context: ManagedObjectContext?) throws
    -> Any
  {
    if let fetch = request as? FetchRequest<ManagedObject> {
      return try translating(.persistentStoreOperation, "the fetch was not executed by \(address.text)") {
        try self.fetch(fetch, for: context)
      }
    }
    if let save = request as? SaveChangesRequest {
      try self.save(save, with: context)
      return []
    }
    if let insert = request as? BatchInsertRequest { return try execute(insert, in: context) }
    if let update = request as? BatchUpdateRequest { return try execute(update, in: context) }
    if let delete = request as? BatchDeleteRequest, let context { return try execute(delete, in: context) }
    return try super.execute(request, with: context)
  }

  // MARK: Whole stores

  /// Removes the store in the schema that a URL names: its tables and nothing else, and the schema if the store has made it, and it is empty then.
  /// Does nothing if there is none.
  ///
  /// - Throws: `.persistentStoreTimeout` if others have the store open for longer than the options' timeout, unless they force it;
  ///   `.persistentStoreOperation` if something else depends on the tables, such as a view, or if the server cannot be reached. Nothing is changed
  ///   then.
  public override class func destroyStore(at url: URL, options: Options) throws { try destroy(url, options) }

  /// Replaces the store in a schema, or makes one, by all that another one has: its objects with their numbers and versions, its
  /// history, its metadata and its identifier. The rows are copied from server to server, in one transaction.
  ///
  /// - Throws: As `destroyStore(at:options:)`; `.persistentStoreOpen` if there is no store at the source.
  public override class func replaceStore(
    at destination: URL, options: Options, from source: URL, sourceOptions: Options
  ) throws {
    try replace(destination, options, from: source)
  }

  /// Copies a store to a schema beside its own, which is removed afterwards. One that a killed program has left is removed by the next call.
  ///
  /// - Throws: As `replaceStore(at:options:from:sourceOptions:)`; what `body` throws.
  public override class func withCopy(
    ofStoreAt url: URL, options: Options, _ body: (URL) throws -> Void
  ) throws {
    try copying(url, body)
  }

  /// The model of the store in the schema that a URL names.
  public override class func managedObjectModel(ofStoreAt url: URL) throws -> ManagedObjectModel? {
    try model(at: url)
  }

  /// Whether a URL is one of PostgreSQL.
  public override class func recognises(_ url: URL) -> Bool {
    url.scheme == "postgres" || url.scheme == "postgresql"
  }

  // MARK: Rows

  public override var deliversRows: Bool { true }
  public override var enumeratesObjects: Bool { true }

  public override func enumerateRows(
    for request: FetchRequest<ManagedObject>, with context: ManagedObjectContext?,
    _ body: (any IncrementalStoreRow) throws -> Bool
  ) throws {
    try translating(.persistentStoreOperation, "the fetch was not executed by \(address.text)") {
      try deliver(request, for: context, body)
    }
  }

  public override func enumerateNodes(
    of root: EntityDescription, from first: UInt64?, reversed: Bool, with context: ManagedObjectContext?,
    _ body: (IncrementalStoreNode) throws -> Bool
  ) throws {
    try readNodes(of: root, from: first, reversed: reversed, body)
  }

  public override func enumerateObjectIDs(
    of root: EntityDescription, _ body: (ManagedObjectID) throws -> Bool
  ) throws {
    try readObjectIDs(of: root, body)
  }

  public override func objectCount(of root: EntityDescription) throws -> Int { try count(of: root) }
  public override func greatestNumber(of root: EntityDescription) throws -> UInt64 {
    try lastNumber(of: root)
  }

  // MARK: History

  public override var hasHistory: Bool { historyChoice.hasTables }

  public override func enumerateHistory(
    after number: UInt64, _ body: (StoreHistoryTransaction) throws -> Bool
  ) throws {
    try readHistory(after: number, body)
  }

  public override func newestHistoryNumber() throws -> UInt64 { try historyEnds().newest }
  public override func newestDeletedHistoryNumber() throws -> UInt64 { try historyEnds().deleted }
  public override func deleteHistory(through number: UInt64) throws -> Int {
    try removeHistory(through: number)
  }
  public override func historyConsumers() throws -> [String: Data] { try readConsumers() }
  public override func changeHistoryConsumers(_ changes: [StoreConsumerChange]) throws {
    try writeConsumers(changes)
  }
  public override func observeSaves(_ body: @escaping @Sendable () -> Void) throws -> AnyObject? {
    try observe(body)
  }

  // MARK: Objects

  public override func newValuesForObject(
    with objectID: ManagedObjectID, with context: ManagedObjectContext?
  ) throws -> IncrementalStoreNode {
    if let node = try nodes(of: [objectID], for: context).first { return node }
    throw missingObject(objectID)
  }

  public override func newValues(
    forObjectsWith objectIDs: [ManagedObjectID], with context: ManagedObjectContext?
  ) throws -> [IncrementalStoreNode] {
    try nodes(of: objectIDs, for: context)
  }

  public override func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith objectID: ManagedObjectID,
    with context: ManagedObjectContext?
  ) throws -> Any {
    let values = try destinations(relationship, of: [objectID], for: context)
    return values.first?.value ?? (relationship.isToMany ? [ManagedObjectID]() as Any : NSNull())
  }

  public override func newValues(
    forRelationship relationship: RelationshipDescription, forObjectsWith objectIDs: [ManagedObjectID],
    with context: ManagedObjectContext?
  ) throws -> [ManagedObjectID: Any] {
    try destinations(relationship, of: objectIDs, for: context)
  }
}

extension PostgresStore {
  /// Runs the body, and translates errors of the server.
  func translating<Result>(
    _ code: HeartwoodError.Code, _ what: String, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let failure as PostgresFailure {
      if failure.isTimeLimit || failure.isLockTimeout {
        throw HeartwoodError(
          .persistentStoreTimeout, "\(what): it has taken longer than a limit of the store: \(failure)",
          underlying: failure)
      }
      let why = failure.isConnectionLost ? "the connection to the server is lost, or cannot be made: " : ""
      throw HeartwoodError(code, "\(what): \(why)\(failure)", underlying: failure)
    } catch let lost as PostgresLostCommit {
      throw HeartwoodError(
        code,
        "\(what): the connection was lost while the server committed it, so that it may be there: transaction \(lost.transaction): \(lost)",
        underlying: lost, isOutcomeUnknown: true)
    } catch let commit as PostgresCommitFailure {
      throw HeartwoodError(
        code, "\(what): \(commit.failure)", underlying: commit.failure,
        isOutcomeUnknown: commit.failure.isConnectionLost)
    }
  }
}

extension PersistentStore.StoreType {
  /// A store in a PostgreSQL database; see ``PostgresStore``.
  public static let postgres = PersistentStore.StoreType(rawValue: "Postgres")
}

/// Numbers that are reserved and not given to objects yet, by table.
private final class NumberReserve: @unchecked Sendable {
  private let lock = NSLock()
  private var left: [String: [Int64]] = [:]
  private var greatest: [String: Int64] = [:]
  private var losses = 0

  /// - Parameters:
  ///   - losses: How many connections were lost so far. After each, the numbers are reserved again: another server may not know of them if it had
  ///     not everything of the former one, and give them to others. It may even give the same ones again, which are passed over.
  ///   - more: Reserves at least as many as are missing.
  func take(
    _ count: Int, _ table: String, _ losses: Int, _ more: (Int) throws -> [Int64]
  ) rethrows -> [Int64] {
    try lock.withLock {
      if losses != self.losses { (left, self.losses) = ([:], losses) }
      var (all, asked) = (left[table] ?? [], 1)
      while all.count < count {
        let known = greatest[table] ?? 0
        let made = try more(max(count - all.count, asked)).filter { $0 > known }
        greatest[table] = max(known, made.max() ?? 0)
        all += made
        asked = min(asked * 2, 1 << 16)
      }
      left[table] = Array(all.dropFirst(count))
      return Array(all.prefix(count))
    }
  }
}
