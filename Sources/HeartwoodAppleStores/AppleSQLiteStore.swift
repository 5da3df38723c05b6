import Foundation
import Heartwood
import HeartwoodArchives
import HeartwoodSQLite

/// A store in a SQLite file that Core Data or SwiftData wrote on Apple's systems, read without either and without SQLite.
///
/// ```swift
/// AppleSQLiteStore.register()
/// let model = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url)
/// let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
/// let store = try coordinator.addPersistentStore(type: .appleSQLite, at: url)
/// try coordinator.migratePersistentStore(store, to: folder)
/// ```
///
/// The store is read as of the moment when it was opened, with what its write-ahead log has. The file, its log and its shared memory are not
/// changed. A save is refused. Fetches are executed here, over rows that are read one after the other; single objects and relationships are found by the
/// file's indexes. Its history, if it has one, is what history requests read.
///
/// The model is the one that the file keeps, or another one with the same entities and attributes. Where values do not fit it, they are
/// read as missing, and counted in `notes`.
public final class AppleSQLiteStore: IncrementalStore, @unchecked Sendable {
  private(set) var tables: StoreTables!
  private(set) var external: ExternalData!
  let unfit = ReadingNotes()
  let rememberedLinks = Remembered<String, [Int64: [JoinedKey]]>()
  let foreignKeys = Remembered<String, [Int64: [Int64]]>()
  let indexes = CheckedIndexes()

  /// Registers the class for `.appleSQLite`. From then on stores of this kind can be added to coordinators, and
  /// `PersistentStoreCoordinator.typeOfPersistentStore(at:)` knows them.
  public static func register() {
    PersistentStoreCoordinator.registerStoreClass(AppleSQLiteStore.self, type: .appleSQLite)
  }

  /// Whether a file begins as a database of SQLite does, or has the name of one and looks encrypted: opening it says so.
  public override class func recognises(_ url: URL) -> Bool {
    AppleStoreFile.isSQLite(url) || AppleStoreFile.isEncrypted(url)
  }

  /// The model that the file keeps of what it was written with.
  ///
  /// - Throws: `.persistentStoreOpen` if it keeps none, or is no store of Core Data.
  public override class func managedObjectModel(ofStoreAt url: URL) throws -> ManagedObjectModel? {
    try AppleStoreFile(url).model()
  }

  /// Whether a file was written with a model, as far as it says: the model that it keeps has the same version hashes; or, if it keeps none, it has
  /// the entities, attributes and relationships of the model, and no others.
  ///
  /// - Throws: `.persistentStoreOpen` if it is no store of Core Data; `.persistentStoreDamaged`.
  public static func hasAll(of model: ManagedObjectModel, at url: URL) throws -> Bool {
    let file = try AppleStoreFile(url)
    if let kept = try? file.cachedModel() {
      return kept.entityVersionHashesByName == model.entityVersionHashesByName
    }
    do {
      return try StoreTables(file, model, kept: nil).isWhole
    } catch let error as HeartwoodError where error.code == .persistentStoreIncompatibleVersionHash {
      return false
    }
  }

  public override class var isAlwaysReadOnly: Bool { true }
  public override var executesFetches: Bool { false }
  public override var hasHistory: Bool { HistoryTables(file) != nil }

  var file: AppleStoreFile { tables.file }

  /// The parts of the file that the model does not have, and the values read so far that could not be taken as they are: sentences.
  public var notes: [String] {
    (tables?.notes ?? []) + [historyLack].compactMap(\.self) + unfit.all
  }

  // MARK: Opening

  /// Reads what the file says of itself, and finds the tables and columns of the model.
  ///
  /// - Throws: `.persistentStoreOpen` if it is no store of Core Data; `.persistentStoreIncompatibleVersionHash` if it does not have what the model has.
  public override func loadMetadata() throws {
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw HeartwoodError(.persistentStoreOpen, "there is no store at \(url.path)")
    }
    let file = try AppleStoreFile(url)
    let kept = try? file.cachedModel()
    tables = try StoreTables(file, managedObjectModel, kept: kept)
    historyLack = HistoryTables.lack(file)
    external = ExternalData(besideStoreAt: url)
    storedMetadata = file.metadata
    storedMetadata[PersistentStore.MetadataKey.storeUUID] = (file.uuid ?? UUID()).uuidString
    // For those who only ask what the store is.
    if managedObjectModel.entities.isEmpty {
      if let kept {
        storedMetadata[PersistentStore.MetadataKey.modelVersionHashes] = kept.entityVersionHashesByName
      } else {
        storedMetadata[Self.fileWithoutModelKey] = url.path
      }
    }
  }

  /// The metadata key of the version hashes that Apple's systems computed of the model's entities, a `[String: Data]`. Those of
  /// `PersistentStore.MetadataKey.modelVersionHashes` are Heartwood's own.
  public static let appleVersionHashesKey = "AppleStoreModelVersionHashes"

  /// The metadata key of the path of a file that keeps no model, a `String`, where they are read without opening the store: only the tables say then
  /// which model it was written with. See `hasAll(of:at:)`.
  public static let fileWithoutModelKey = "AppleStoreFileWithoutModel"

  // MARK: Reading

  public override func enumerateNodes(
    of root: EntityDescription, from first: UInt64?, reversed: Bool, with context: ManagedObjectContext?,
    _ body: (IncrementalStoreNode) throws -> Bool
  ) throws {
    guard let table = tables.table(of: root) else { return }
    guard !reversed else { return try enumerateReversed(table, from: first, body) }
    let (start, file) = (first.map { Int64(clamping: $0) } ?? .min, file)
    let cursor = try file.translating { () throws(SQLiteError) in
      try file.database.rows(of: table.table, from: start)
    }
    while let row = try file.translating({ () throws(SQLiteError) in try cursor.next() }) {
      guard let node = try node(of: row, in: table) else { continue }
      guard try body(node) else { return }
    }
  }

  private func enumerateReversed(
    _ table: EntityTable, from last: UInt64?, _ body: (IncrementalStoreNode) throws -> Bool
  ) throws {
    var keys: [Int64] = []
    try enumerateObjectIDs(of: table.root) { id in
      let key = number(of: id) ?? 0
      guard last.map({ key <= Int64(clamping: $0) }) ?? true else { return false }
      keys.append(key)
      return true
    }
    for key in keys.reversed() {
      guard let node = try node(key, in: table) else { continue }
      guard try body(node) else { return }
    }
  }

  public override var readsSingleValues: Bool { true }

  public override func enumerateRows(
    of root: EntityDescription, from first: UInt64?, with context: ManagedObjectContext?,
    _ body: (any IncrementalStoreRow) throws -> Bool
  ) throws {
    guard let table = tables.table(of: root) else { return }
    try scan(table, from: first.map { Int64(clamping: $0) } ?? .min, body)
  }

  public override func enumerateObjectIDs(
    of root: EntityDescription, _ body: (ManagedObjectID) throws -> Bool
  ) throws {
    guard let table = tables.table(of: root) else { return }
    // A copy begins so, and asks for all links then.
    indexes.checkAll()
    let file = file
    let cursor = try file.translating { () throws(SQLiteError) in try file.database.rows(of: table.table) }
    while let row = try file.translating({ () throws(SQLiteError) in try cursor.next() }) {
      guard let id = identifier(of: row, in: table) else { continue }
      guard try body(id) else { return }
    }
  }

  public override func objectCount(of root: EntityDescription) throws -> Int {
    guard let table = tables.table(of: root) else { return 0 }
    return try keys(of: table).reduce(0) { $0 + $1.value.count }
  }

  public override func greatestNumber(of root: EntityDescription) throws -> UInt64 {
    guard let number = tables.numbers.number(of: root),
      let stored = file.entities.first(where: { $0.number == number })
    else { return 0 }
    return UInt64(clamping: min(max(0, stored.greatestKey), Self.mostNumber))
  }

  public override func newValuesForObject(
    with objectID: ManagedObjectID, with context: ManagedObjectContext?
  ) throws -> IncrementalStoreNode {
    guard let table = tables.table(of: objectID.entity), let key = number(of: objectID),
      let node = try node(key, in: table)
    else { throw missingObject(objectID) }
    return node
  }

  public override func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith objectID: ManagedObjectID,
    with context: ManagedObjectContext?
  ) throws -> Any {
    guard relationship.isToMany else {
      let node = try newValuesForObject(with: objectID, with: context)
      return node.value(for: relationship) ?? NSNull()
    }
    guard let key = number(of: objectID) else { return [ManagedObjectID]() }
    return try destinations(of: relationship, key)
  }

  // MARK: History

  public override func enumerateHistory(
    after number: UInt64, _ body: (StoreHistoryTransaction) throws -> Bool
  ) throws {
    guard let history = HistoryTables(file) else { return }
    try HistoryReader(self, history).forEach(after: number, body)
  }

  public override func newestHistoryNumber() throws -> UInt64 {
    guard let history = HistoryTables(file) else { return 0 }
    var newest: Int64 = 0
    try AppleStoreFile.forEachRow(of: history.transactions, file.database, url) {
      newest = $0.rowid ?? newest
    }
    return UInt64(clamping: max(0, newest))
  }
}
