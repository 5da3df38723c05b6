import Foundation
import GraphTestSupport
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

@Test func `a backup holds all saves, under the same identity`() throws {
  let folder = try TemporaryFolder()
  let world = StoreWorld()
  let backup = folder.url.appending(path: "backup")
  let store = try LogStore.open(at: folder.store, model: world.model, options: .quick)
  var script = StoreWorkload(world, seed: 5)
  for round in 0..<4 {
    for _ in 0..<10 { try script.save(to: store) }
    let report = try store.backup(to: backup, PosixFileSystem())
    #expect((report.reusedBytes > 0) == (round > 0))
  }
  let copy = try LogStore.open(at: backup, model: world.model, options: LogStoreOptions(isReadOnly: true))
  #expect(copy.identity == store.identity)
  try script.mirror.check(try copy.view(), world, copy.identity)
  #expect(try copy.verify().findings == [])
  try copy.close()
  try store.close()
}

@Test func `a backup to a folder with other files is an error of the graph, and changes nothing`() throws {
  let folder = try TemporaryFolder()
  let world = StoreWorld()
  let store = try LogStore.open(at: folder.store, model: world.model, options: .quick)
  try Data("letter".utf8).write(to: folder.url.appending(path: "letter.txt"))
  #expect(throws: HeartwoodError.self) { try store.backup(to: folder.url, PosixFileSystem()) }
  #expect(
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
      == ["Store.heartwood", "letter.txt"])
  try store.close()
}
