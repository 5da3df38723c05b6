import Foundation

/// A database file of SQLite, read without SQLite, as of the moment when it was opened.
///
/// The file is opened for reading only, with what its write-ahead log (`-wal`) has of transactions that ended. Neither
/// the file nor the files beside it are written, created or changed. Several threads can use it at once.
public final class SQLiteDatabase: Sendable {
  let source: PageSource
  let schema: Schema

  /// Opens a file.
  ///
  /// While the object or one of its cursors exists, it holds the locks of a reader: processes that write into a
  /// write-ahead log go on, and copy it into the file later; without a log they wait until the reader has finished.
  /// Where no lock can keep the file as it is, reading throws `.changed` after another process has written to it.
  ///
  /// - Parameters:
  ///   - url: The file. A symbolic link is followed.
  ///   - timeout: How long to wait for a process that writes, before `.locked` is thrown.
  /// - Throws: `SQLiteError`, which says what the file is instead of a database, or what is wrong with it.
  public convenience init(contentsOf url: URL, timeout: Duration = .seconds(5)) throws(SQLiteError) {
    try self.init(contentsOf: url, timeout: timeout, beforeUnguarded: {})
  }

  /// - Parameter beforeUnguarded: Called before files that no lock guards are looked at; for tests.
  package init(contentsOf url: URL, timeout: Duration, beforeUnguarded: () -> Void) throws(SQLiteError) {
    do throws(SQLiteError) {
      let path = url.resolvingSymlinksInPath().path
      source = try PageSource(Snapshot(path: path, timeout: timeout, beforeUnguarded: beforeUnguarded))
      schema = try Schema(source)
    } catch {
      throw error.at(url.path)
    }
  }

  /// The path of the file.
  public var path: String { source.path }

  /// The journal that the database is read from besides its file.
  public var journal: SQLiteJournal { source.journal }

  /// The encoding of text in the file.
  public var textEncoding: SQLiteTextEncoding { source.header.encoding }

  /// In bytes.
  public var pageSize: Int { source.pageSize }

  /// The number of pages, those of the write-ahead log included.
  public var pageCount: Int { Int(source.pageCount) }

  /// `PRAGMA user_version`.
  public var userVersion: Int32 { source.header.userVersion }

  /// `PRAGMA application_id`.
  public var applicationIdentifier: Int32 { source.header.applicationIdentifier }

  /// The tables, those of SQLite itself such as `sqlite_sequence` included, in the order of the schema. Virtual tables
  /// and views are not among them.
  public var tables: [SQLiteTable] { schema.tables }

  /// The indexes, in the order of the schema.
  public var indexes: [SQLiteIndex] { schema.indexes }

  /// The table with the name, which is compared without case; nil if there is none. `sqlite_master` is one too.
  public func table(named name: String) -> SQLiteTable? { schema.layouts[name.lowercasedName]?.table }

  /// The index with the name, which is compared without case; nil if there is none.
  public func index(named name: String) -> SQLiteIndex? {
    schema.indexes.first { $0.name.isSameName(as: name) }
  }

  /// The indexes of a table.
  public func indexes(of table: SQLiteTable) -> [SQLiteIndex] {
    schema.indexes.filter { $0.tableName.isSameName(as: table.name) }
  }

  func layout(_ table: SQLiteTable) throws(SQLiteError) -> RowLayout {
    guard let layout = schema.layoutsByRoot[table.rootPage], layout.table.name == table.name,
      layout.table.columns.count == table.columns.count
    else {
      throw SQLiteError(.invalidArgument, "Table \(table.name) is not of this database.", path: path)
    }
    return layout
  }
}
