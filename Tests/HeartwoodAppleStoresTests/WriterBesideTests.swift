import Foundation
import Heartwood
import HeartwoodAppleStores
import TestSupport
import Testing

/// A store that another process writes meanwhile.
struct WriterBesideTests {
  private static let writer = """
    import sqlite3, sys
    db = sqlite3.connect(sys.argv[1], isolation_level=None)
    db.execute('PRAGMA journal_mode = wal')
    print('begun', flush=True)
    n = 0
    while True:
        n += 1
        db.execute('BEGIN IMMEDIATE')
        db.execute("UPDATE ZACCOUNT SET ZAMOUNT = ?, ZNOTE = ?", (n, str(n)))
        db.execute('COMMIT')
        if n == 300: break
    """

  @Test(.comparesWithPython)
  func `an opening sees one state, whatever another process writes`() throws {
    let fixture = try StoreFixture("history")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.writer, fixture.url.path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    _ = output.fileHandleForReading.readData(ofLength: 6)
    var seen: Set<Int64> = []
    repeat {
      let open = try fixture.open()
      let values = try open.read { context in
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Account")).map {
          ($0.value(forKey: "amount") as? Int64, $0.value(forKey: "note") as? String)
        }
      }
      #expect(values.count == 3)
      if let note = values[0].1 {
        #expect(values.allSatisfy { $0.1 == note && "\($0.0 ?? 0)" == note })
        seen.insert(values[0].0 ?? 0)
      }
      try open.coordinator.close()
    } while process.isRunning
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let last = try fixture.open().read { context in
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Account")).map {
        $0.value(forKey: "amount") as? Int64
      }
    }
    #expect(last == [300, 300, 300])
  }
}
