import Foundation
import HeartwoodSQLite
import TestSupport
import Testing

/// Databases of random schemas, page sizes, encodings and histories, made by SQLite.
struct RandomDatabaseTests {
  @Test(.comparesWithSQLite, arguments: [1, 10_001])
  func `every cell of random databases is what SQLite reads`(_ seed: Int) throws {
    let count = Rounds.count(20, long: 400)
    let folder = try TemporaryFolder()
    try Python.run(PythonScripts.databases, "\(seed)", "\(count)", in: folder.url)
    for seed in seed..<seed + count {
      let database = try SQLiteDatabase(contentsOf: folder.url.appending(path: "\(seed).db.copy"))
      var dump = try Dump(folder.url.appending(path: "\(seed).dump"))
      let differences = try dump.differences(to: database)
      #expect(
        differences == [], "seed \(seed), pages of \(database.pageSize) bytes, \(database.textEncoding)")
    }
  }
}
