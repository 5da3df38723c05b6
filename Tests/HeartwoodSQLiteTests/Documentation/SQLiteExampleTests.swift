import Foundation
import HeartwoodSQLite
import TestSupport
import Testing

@Suite struct `Examples of the page of the module` {
  @Test func `the rows of a table are read`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "people.db")
    let writer = try SQLiteWriter(url)
    let people = try writer.createTable("CREATE TABLE person (name TEXT)")
    try people.insert([.text("Ada")])
    try writer.finish()
    let database = try SQLiteDatabase(contentsOf: url)
    if let table = database.table(named: "person") {
      try database.forEachRow(of: table) { row in print(row["name"] ?? .null) }
    }
    #expect(database.table(named: "person") != nil)
  }
}
