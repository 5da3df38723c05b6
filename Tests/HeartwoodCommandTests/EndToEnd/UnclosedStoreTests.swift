import Foundation
import Heartwood
import Testing

@testable import HeartwoodCommand

/// The files on disk after a writer ends without closing its store.
private struct UnclosedStore {
  let world: SmallWorld
  let path: String

  init() throws {
    let world = try SmallWorld()
    let path = world.directory.path("unclosed.heartwood")
    try CommandStore.with(world.path, for: .changing, RecordingConsole()) { store in
      for name in ["Asia", "Africa"] {
        let continent = ManagedObject(entity: try store.entity(named: "Continent"), insertInto: store.context)
        try continent.assign(name, forKey: "name")
        try store.context.save()
      }
      try FileManager.default.copyItem(atPath: world.path, toPath: path)
    }
    (self.world, self.path) = (world, path)
  }
}

@Suite struct `A store that was not closed` {
  @Test func `an unclosed store shows all saved data`() throws {
    let store = try UnclosedStore()
    let run = CommandRun("count", store.path, "Continent")
    #expect(run.output == "4\n")
    #expect(run.notes == "")
    #expect(CommandRun("verify", store.path).notes == "")
  }

  @Test func `an unclosed store is verified as it is, with a note on the pending recovery`() throws {
    let store = try UnclosedStore()
    let run = CommandRun("verify", store.path)
    #expect(run.status == .success)
    #expect(run.notes.hasPrefix("heartwood: note: \(store.path) was not closed: its last "))
    #expect(CommandRun("verify", store.path) == run)
    #expect(CommandRun("count", store.path, "Continent").output == "4\n")
  }

  @Test(.enabled(if: geteuid() != 0, "the superuser may write everywhere"))
  func `the program notes what an unclosed store cannot show where it may not be recovered`() throws {
    let store = try UnclosedStore()
    let manager = FileManager.default
    try manager.setAttributes([.posixPermissions: 0o500], ofItemAtPath: store.path)
    defer { try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: store.path) }
    let run = CommandRun("count", store.path, "Continent")
    #expect(run.status == .success)
    #expect(run.notes.contains("was not closed"))
  }
}
