import Foundation
import Heartwood
import HeartwoodArchives
import HeartwoodSQLite

/// A SQLite file of Core Data or SwiftData: what it says of itself, and its database.
final class AppleStoreFile: Sendable {
  /// An entity as the file numbers it.
  struct Entity: Sendable {
    let number: Int64
    let name: String
    /// 0 for none.
    let superentity: Int64
    /// The greatest primary key that was given out in the table of a root entity.
    let greatestKey: Int64
  }

  let url: URL
  let database: SQLiteDatabase
  let uuid: UUID?
  /// The values of `Z_METADATA`: the program's metadata, and Core Data's own.
  let properties: [String: PropertyList]
  /// Without those of the history.
  let entities: [Entity]

  /// The first number of Core Data's own entities: changes, transactions and their texts.
  static let firstOwnNumber: Int64 = 16_000

  /// Whether a file begins as a database of SQLite does.
  static func isSQLite(_ url: URL) -> Bool {
    guard isRegularFile(url), let file = FileHandle(forReadingAtPath: url.path) else { return false }
    defer { try? file.close() }
    return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
  }

  /// A pipe would be waited for.
  private static func isRegularFile(_ url: URL) -> Bool {
    guard url.isFileURL else { return false }
    let place = url.resolvingSymlinksInPath()
    return (try? place.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true
  }

  /// Whether a file is what a store is called, and looks like an encrypted database.
  static func isEncrypted(_ url: URL) -> Bool {
    let names = ["sqlite", "sqlite3", "store", "db", "storedata"]
    guard isRegularFile(url), names.contains(url.pathExtension.lowercased()) else { return false }
    do throws(SQLiteError) {
      _ = try SQLiteDatabase(contentsOf: url)
      return false
    } catch {
      return error.code == .encrypted
    }
  }

  /// - Throws: `.persistentStoreOpen` if the file is no store of Core Data, or one of a later version; `.persistentStoreDamaged`.
  init(_ url: URL) throws {
    self.url = url
    database = try Self.translating(url) { () throws(SQLiteError) in try SQLiteDatabase(contentsOf: url) }
    guard let metadata = database.table(named: "Z_METADATA"), let keys = database.table(named: "Z_PRIMARYKEY")
    else { throw Self.noStore(url, database) }
    (uuid, properties) = try Self.metadata(in: metadata, database, url)
    entities = try Self.entities(in: keys, database, url)
  }

  private static func noStore(_ url: URL, _ database: SQLiteDatabase) -> HeartwoodError {
    let names = database.tables.map(\.name).filter { !$0.hasPrefix("sqlite_") }
    let list =
      names.isEmpty
      ? "it has no tables"
      : "its tables are \(names.prefix(8).joined(separator: ", "))\(names.count > 8 ? ", …" : "")"
    return HeartwoodError(
      .persistentStoreOpen,
      "\(url.path) is a SQLite database, but no store of Core Data or SwiftData: \(list). Export the tables as CSV with sqlite3, and "
        + "import those")
  }

  private static func metadata(
    in table: SQLiteTable, _ database: SQLiteDatabase, _ url: URL
  ) throws -> (UUID?, [String: PropertyList]) {
    let row = try translating(url) { () throws(SQLiteError) in try database.rows(of: table).next() }
    guard let row else {
      throw HeartwoodError(
        .persistentStoreDamaged, "the store at \(url.path) is damaged: the table Z_METADATA has no row")
    }
    if case .integer(let version)? = row["Z_VERSION"], version > 1 {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the store at \(url.path) has tables of version \(version), which a later version of Core Data wrote: this version of Heartwood "
          + "reads version 1")
    }
    var uuid: UUID?
    if case .text(let text)? = row["Z_UUID"] { uuid = UUID(uuidString: text) }
    guard case .blob(let bytes)? = row["Z_PLIST"], !bytes.isEmpty else { return (uuid, [:]) }
    do {
      return (uuid, try PropertyList(Data(bytes)).dictionary ?? [:])
    } catch {
      throw HeartwoodError(
        .persistentStoreDamaged, "the metadata of the store at \(url.path) cannot be read: \(error)",
        underlying: error)
    }
  }

  private static func entities(
    in table: SQLiteTable, _ database: SQLiteDatabase, _ url: URL
  ) throws -> [Entity] {
    var entities: [Entity] = []
    try forEachRow(of: table, database, url) { row in
      guard case .integer(let number)? = row["Z_ENT"], number < firstOwnNumber,
        case .text(let name)? = row["Z_NAME"]
      else { return }
      var (parent, greatest) = (Int64(0), Int64(0))
      if case .integer(let number)? = row["Z_SUPER"] { parent = number }
      if case .integer(let number)? = row["Z_MAX"] { greatest = number }
      entities.append(Entity(number: number, name: name, superentity: parent, greatestKey: greatest))
    }
    return entities.sorted { $0.number < $1.number }
  }
}

// MARK: Model

extension AppleStoreFile {
  /// The model that the file keeps of what it was written with; nil if it keeps none, as those of older systems. Transformable
  /// values are bytes where no transformer of their name is registered.
  ///
  /// - Throws: `.persistentStoreDamaged` if the model cannot be read.
  func cachedModel() throws -> ManagedObjectModel? {
    guard let table = database.table(named: "Z_MODELCACHE") else { return nil }
    var newest: Result<ManagedObjectModel, any Error>?
    try Self.forEachRow(of: table, database, url) { row in
      guard let data = row.data(0), !data.isEmpty else { return }
      let read = Result { try ManagedObjectModel(compiled: data, file: url.path).withUsableDerivations }
      // A row that cannot be read counts only where no other can.
      if (try? read.get()) != nil || (try? newest?.get()) == nil { newest = read }
    }
    do {
      guard let model = try newest?.get() else { return nil }
      model.keepsBytesWithoutTransformers()
      return model
    } catch {
      throw HeartwoodError(
        .persistentStoreDamaged,
        "the model that the store at \(url.path) keeps of itself, in the table Z_MODELCACHE, is damaged; its objects may be whole: open it with "
          + "the model that it was written with. Commands take it with --model: an .xcdatamodeld, a .momd or a .mom of its version",
        underlying: error)
    }
  }

  /// The model of the file.
  ///
  /// - Throws: `.persistentStoreOpen` if it keeps none.
  func model() throws -> ManagedObjectModel {
    guard let model = try cachedModel() else {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the store at \(url.path) keeps no model, as stores of systems before iOS 10 and macOS 10.12: open it with the model that it was "
          + "written with. Commands take it with --model: an .xcdatamodeld, a .momd or a .mom of its version")
    }
    return model
  }

  /// The version hashes of its model's entities, as Apple's systems compute them.
  var versionHashes: [String: Data] {
    (properties["NSStoreModelVersionHashes"]?.dictionary ?? [:]).compactMapValues(\.data)
  }
}

// MARK: Errors

extension HeartwoodError.Code {
  /// Another process has changed the file of a store while it was read, and no lock could prevent that: reading it again helps. Not a number of
  /// Core Data's.
  public static let persistentStoreChanged = HeartwoodError.Code(rawValue: 134181)
}

extension AppleStoreFile {
  static func translating<Result>(
    _ url: URL, _ body: () throws(SQLiteError) -> Result
  ) throws(HeartwoodError) -> Result {
    do throws(SQLiteError) {
      return try body()
    } catch {
      throw error.ofStore(url)
    }
  }

  func translating<Result>(_ body: () throws(SQLiteError) -> Result) throws(HeartwoodError) -> Result {
    try Self.translating(url, body)
  }

  static func forEachRow(
    of table: SQLiteTable, _ database: SQLiteDatabase, _ url: URL, _ body: (SQLiteRow) throws -> Void
  ) throws {
    let cursor = try translating(url) { () throws(SQLiteError) in try database.rows(of: table) }
    while let row = try translating(url, { () throws(SQLiteError) in try cursor.next() }) { try body(row) }
  }
}

extension SQLiteError {
  /// The error of a store at a place.
  func ofStore(_ url: URL) -> HeartwoodError {
    switch code {
    case .changed:
      HeartwoodError(
        .persistentStoreChanged,
        "another process has written to the store at \(url.path) and copied its log into the file while it was read: read it again, or a copy of "
          + "the file and its log", underlying: self)
    case .damaged:
      HeartwoodError(
        .persistentStoreDamaged, "the store at \(url.path), a SQLite database, cannot be read: \(self)",
        underlying: self)
    case .locked:
      HeartwoodError(
        .persistentStoreTimeout, "the store at \(url.path) cannot be read: \(self)", underlying: self)
    default:
      HeartwoodError(
        .persistentStoreOpen, "the store at \(url.path) could not be opened: \(self)", underlying: self)
    }
  }
}
