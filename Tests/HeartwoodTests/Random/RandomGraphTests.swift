import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `Random work on a graph` {
  @Test(arguments: [11, 12, 13] as [UInt64])
  func `a graph in memory matches a plain model over saves, rollbacks and new contexts`(seed: UInt64) throws {
    let container = try makeContainer()
    var work = GraphWork(seed: seed, container: container)
    try work.run(steps: 700)
  }

  @Test(arguments: [31, 32] as [UInt64])
  func `a graph in an incremental store matches a plain model over saves, rollbacks and reopening`(
    seed: UInt64
  ) throws {
    let url = DictionaryStore.newPlace()
    let open = { try DictionaryWorld(at: url).container }
    var work = GraphWork(seed: seed, container: try open(), reopen: open)
    try work.run(steps: 500)
  }

  // STO-02, STO-04, STO-05
  @Test(arguments: StoreKind.allCases, Array(([21, 22] as [UInt64]).sampled(every: 2)))
  func `a graph on disk matches a plain model over saves, rollbacks and reopening`(
    kind: StoreKind, seed: UInt64
  ) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "graph-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "store.heartwood")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let open = { try kind.open(companyTypes, at: url) }
    var work = GraphWork(seed: seed, container: try open(), reopen: open)
    try work.run(steps: 500)
  }
}
