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

/// The same after a migration to a model in which cities have a size; in stages the process ends in the handler behind it.
private struct UnclosedMigration {
  let world: SmallWorld
  let path: String

  init(inStages: Bool) throws {
    let world = try SmallWorld()
    let path = world.directory.path("unclosed.heartwood")
    let text = SmallWorld.model.replacing(
      #""City": {"attributes": {"#,
      with: #""City": {"attributes": {"size": {"type": "integer32", "default": 7}, "#)
    let model = try ModelArgument.model(world.directory.file("model.json", text))
    let url = CommandStore.url(world.path)
    let former = try ModelArgument.model(world.path)
    let copy: @Sendable () throws -> Void = {
      try FileManager.default.copyItem(atPath: world.path, toPath: path)
    }
    if inStages {
      let stage = CustomMigrationStage(
        migratingFrom: ManagedObjectModelReference(model: former),
        to: ManagedObjectModelReference(model: model))
      stage.didMigrateHandler = { _, _ in try copy() }
      let description = PersistentStoreDescription(url: url)
      description.stagedMigrationManager = StagedMigrationManager([stage])
      let coordinator = try PersistentStoreCoordinator(checking: model)
      try coordinator.addPersistentStore(with: description)
      try coordinator.close()
    } else {
      try CommandStore.with(world.path, for: .changing, RecordingConsole()) { _ in
        try PersistentStoreCoordinator.migrateStore(at: url, to: model)
        try copy()
      }
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

  // G12
  @Test func `an unclosed store is verified as it is, with all that was saved, and nothing is written`()
    throws
  {
    let store = try UnclosedStore()
    let before = try Self.bytes(of: store.path)
    let run = CommandRun("verify", store.path)
    #expect(run.status == .success)
    #expect(run.output.contains(" is sound: ") && run.notes == "", "\(run)")
    #expect(CommandRun("verify", store.path) == run)
    #expect(try Self.bytes(of: store.path) == before)
    #expect(CommandRun("count", store.path, "Continent").output == "4\n")
  }

  /// The store's files, without those with which processes find one another.
  private static func bytes(of folder: String) throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { !["lock", "processes"].contains($0) }
    return try Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, try Data(contentsOf: URL(filePath: folder).appending(path: $0)))
      })
  }

  @Test func `transactions that cannot be shown are noted with their number`() {
    let console = RecordingConsole()
    console.noteHidden(0, in: "a.heartwood")
    #expect(console.notes == "")
    for (number, last) in [(1, "its last transaction"), (2, "its last 2 transactions")] {
      let console = RecordingConsole()
      console.noteHidden(number, in: "a.heartwood")
      #expect(console.notes.hasPrefix("heartwood: note: a.heartwood was not closed: \(last) will be seen"))
    }
  }

  // MIG-17
  @Test(arguments: ["fetch", "import", "verify"])
  func `the first command after a killed migration finishes it, and goes on`(command: String) throws {
    let store = try UnclosedMigration(inStages: false)
    let world = store.world
    let verified = CommandRun("verify", store.path)
    #expect(verified.status == .success && verified.notes == "", "\(verified)")
    switch command {
    case "import":
      let file = try world.directory.file(
        "more.json", #"{"objects": [{"@entity": "Continent", "name": "Asia"}]}"#)
      let run = CommandRun("import", store.path, file)
      #expect(run.status == .success, "\(run)")
    case "fetch":
      let run = CommandRun("fetch", store.path, "City", "--columns", "size", "--format", "csv")
      #expect(run.status == .success && run.output == "size\n7\n7\n7\n", "\(run)")
    default: #expect(CommandRun("verify", store.path).status == .success)
    }
    #expect(CommandRun("count", store.path, "City").output == "3\n")
    #expect(CommandRun("schema", store.path).output.contains("size"))
  }

  // MIG-17, MIG-22
  @Test func `a store whose stage was killed in its handler is read, and changed only by its program`() throws
  {
    let store = try UnclosedMigration(inStages: true)
    let run = CommandRun("fetch", store.path, "City", "--columns", "size", "--format", "csv")
    #expect(run.status == .success && run.output == "size\n7\n7\n7\n", "\(run)")
    let refused = CommandRun("delete", store.path, "City/p1")
    #expect(refused.status != .success && refused.notes.contains("was not finished"), "\(refused)")
    #expect(CommandRun("count", store.path, "City").output == "3\n")
  }

  @Test(.enabled(if: geteuid() != 0, "the superuser may write everywhere"))
  func `the program shows all of an unclosed store also where it may not be recovered`() throws {
    let store = try UnclosedStore()
    let manager = FileManager.default
    try manager.setAttributes([.posixPermissions: 0o500], ofItemAtPath: store.path)
    defer { try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: store.path) }
    let run = CommandRun("count", store.path, "Continent")
    #expect(run.status == .success && run.output == "4\n" && run.notes == "", "\(run)")
  }
}
