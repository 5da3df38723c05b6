import Foundation
import Heartwood
import HeartwoodAppleStores
import HeartwoodSQLite

/// A database of SQLite: all of its rows and indexes are read, and its objects if it is a store of Core Data.
enum DatabaseTarget {
  /// More rows than those of the seeds, by far: a damaged tree must not lead to its own pages again and again.
  private static let mostRows = 100_000

  static func finding(_ bytes: [UInt8]) -> String? {
    let url = FileManager.default.temporaryDirectory.appending(path: "fuzz-\(UUID().uuidString).sqlite")
    defer { try? FileManager.default.removeItem(at: url) }
    guard (try? Data(bytes).write(to: url)) != nil else { return "the input cannot be written" }
    do throws(SQLiteError) {
      guard try rows(of: SQLiteDatabase(contentsOf: url)) <= mostRows else { return "rows are read again" }
    } catch {
      return error.message.isEmpty ? "an error without a message" : nil
    }
    do {
      try readObjects(url)
    } catch {
      return "\(error)".isEmpty ? "an error of the store without a message" : nil
    }
    return nil
  }

  private static func rows(of database: SQLiteDatabase) throws(SQLiteError) -> Int {
    var rows = 0
    for table in database.tables {
      let cursor = try database.rows(of: table)
      while let row = try cursor.next(), rows <= mostRows {
        rows += 1
        for column in 0..<row.count { _ = row[column] }
      }
    }
    for index in database.indexes where database.table(named: index.tableName)?.isWithoutRowid == false {
      _ = try database.rowids(of: index, equalTo: [.integer(1)])
    }
    return rows
  }

  private static func readObjects(_ url: URL) throws {
    AppleSQLiteStore.register()
    let model = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url)
    let coordinator = try PersistentStoreCoordinator(checking: model)
    try coordinator.addPersistentStore(type: .appleSQLite, at: url)
    defer { try? coordinator.close() }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait {
      for entity in model.entities where entity.superentity == nil {
        guard let name = entity.name else { continue }
        for object in try context.fetch(FetchRequest<ManagedObject>(entityName: name)) {
          for key in object.entity.propertiesByName.keys.sorted() { _ = object.value(forKey: key) }
        }
      }
      _ = try context.execute(.fetchHistory(after: nil as PersistentHistoryToken?))
    }
  }

  static var seeds: [[UInt8]] {
    let folder = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
      .appending(path: "Fixtures/AppleStores")
    return ["plain", "data", "history", "clashes"].compactMap {
      try? [UInt8](Data(contentsOf: folder.appending(path: "\($0).sqlite")))
    }
  }
}
