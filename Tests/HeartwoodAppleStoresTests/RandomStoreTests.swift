import Foundation
import Heartwood
import HeartwoodAppleStores
import TestSupport
import Testing

/// Stores of random models with random objects, made by a script in Core Data's shapes.
struct RandomStoreTests {
  @Test(.comparesWithPython, arguments: [1, 5000])
  func `random graphs are read and copied as they were written`(_ seed: Int) throws {
    let count = ProcessInfo.processInfo.environment["COUNT"].flatMap { Int($0) } ?? 6
    let folder = try TemporaryFolder()
    try Python.run([
      StoreFixture.source.appending(path: "randomstores").path, folder.url.path, "\(seed)", "\(count)",
    ])
    for seed in seed..<seed + count {
      let fixture = try StoreFixture("\(seed)", from: folder.url)
      let open = try fixture.open()
      let read = try open.read { try ContextDump($0) }
      let copy = try open.coordinator.migratePersistentStore(
        open.store, to: fixture.folder.url.appending(path: "copy"))
      let findings = try open.coordinator.verify(copy).findings
      #expect(findings.isEmpty, "seed \(seed): \(findings.prefix(3))")
      let context = ManagedObjectContext(.privateQueue, coordinator: open.coordinator)
      let copied = try context.performAndWait { try ContextDump(context) }
      #expect(differences(read.entities, copied.entities) == [], "seed \(seed), copied")
      try open.coordinator.close()
      // Last, as SQLite folds the log into the file.
      let dump = try StoreDump(fixture.url)
      #expect(differences(dump.entities, read.entities) == [], "seed \(seed)")
    }
  }
}
