import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import HeartwoodFiles
import LineStore
import TestSupport
import Testing

/// Migrations of every kind of store: as they are inferred, by mapping models and in stages.
@Suite struct StoreKindMigrationTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    PersistentStoreCoordinator.registerStoreClass(LineStore.self, type: LineStore.kind)
    PersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, type: DictionaryStore.kind)
  }

  static let kinds: [PersistentStore.StoreType] = [
    .log, .binary, .json, .xml, LineStore.kind, DictionaryStore.kind,
  ]

  /// The first version has authors with books; in the second books have a label instead of a title, and pages; in the third authors are
  /// called writers, and books have no label.
  private static func model(_ version: Int) -> ManagedObjectModel {
    let author = EntityDescription(
      name: version < 3 ? "Author" : "Writer", properties: [AttributeDescription(name: "name", type: .string)]
    )
    if version == 3 { author.renamingIdentifier = "Author" }
    let title = AttributeDescription(name: version == 1 ? "title" : "label", type: .string)
    let book = EntityDescription(name: "Book", properties: version < 3 ? [title] : [])
    if version > 1 {
      let pages = AttributeDescription(name: "pages", type: .integer64)
      pages.defaultValue = 7
      book.ownProperties.append(pages)
    }
    let books = RelationshipDescription(name: "books", destination: book, isToMany: true, isOrdered: true)
    let by = RelationshipDescription(name: "author", destination: author, isToMany: false)
    (books.inverseRelationship, by.inverseRelationship) = (by, books)
    author.ownProperties.append(books)
    book.ownProperties.append(by)
    return ManagedObjectModel(entities: [author, book])
  }

  private func reference(_ version: Int) -> ManagedObjectModelReference {
    ManagedObjectModelReference(model: Self.model(version))
  }

  /// A place for a store of a kind, with two authors and five books.
  private func fill(
    _ kind: PersistentStore.StoreType, in folder: TemporaryFolder? = nil
  ) throws -> URL {
    let url = kind == DictionaryStore.kind ? DictionaryStore.newPlace() : (folder ?? self.folder).store
    try with(url, kind, 1) { context, _ in
      let entities = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName)
      for (name, titles) in [("Ada", ["b", "a", "c"]), ("Bob", ["e", "d"])] {
        let author = ManagedObject(entity: try #require(entities["Author"]), insertInto: context)
        author.setValue(name, forKey: "name")
        let books = try titles.map { title in
          let book = ManagedObject(entity: try #require(entities["Book"]), insertInto: context)
          book.setValue(title, forKey: "title")
          return book
        }
        author.setValue(books, forKey: "books")
      }
      try context.save()
    }
    return url
  }

  private func with<Result>(
    _ url: URL, _ kind: PersistentStore.StoreType, _ version: Int,
    _ edit: (PersistentStoreDescription) -> Void = { _ in },
    _ body: (ManagedObjectContext, PersistentStore) throws -> Result
  ) throws -> Result {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(version))
    let description = PersistentStoreDescription(url: url)
    description.type = kind
    edit(description)
    let store = try coordinator.addPersistentStore(with: description)
    defer { try? coordinator.close() }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    return try context.performAndWait { try body(context, store) }
  }

  /// Every author with the books, in their order.
  private static func library(
    _ context: ManagedObjectContext, _ entity: String = "Author", _ key: String = "title"
  ) throws -> [String] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).map { author in
      let books = author.objectIDs(forRelationshipNamed: "books").map(context.object(with:))
      let labels = books.map { "\($0.value(forKey: key) ?? "-")" }
      return "\(author.value(forKey: "name") ?? "-"): \(labels.joined(separator: " "))"
    }.sorted()
  }

  private func mapping(includingAuthors: Bool = true) throws -> MappingModel {
    let author = EntityMapping(from: "Author", to: "Author")
    author.attributeMappings = [PropertyMapping(name: "name", from: "name")]
    author.relationshipMappings = [PropertyMapping(name: "books", from: "books")]
    let book = EntityMapping(from: "Book", to: "Book")
    book.attributeMappings = [
      PropertyMapping(name: "label") { book, _ in "<\(book.value(forKey: "title") ?? "")>" },
      try PropertyMapping(name: "pages", valueExpression: "$source.author.books.@count * 100"),
    ]
    book.relationshipMappings = [PropertyMapping(name: "author", from: "author")]
    return MappingModel(entityMappings: (includingAuthors ? [author] : []) + [book])
  }

  /// The wishes of a program for the migration of a store of the first version.
  private struct Wishes: CustomStringConvertible {
    enum Mapping: CaseIterable { case none, complete, incomplete, inferred }

    /// The version that it is opened with; 1 after it was migrated to 2.
    let version: Int
    let mapping: Mapping
    let (migrates, infers, isReadOnly, allowsFormer): (Bool, Bool, Bool, Bool)

    init(_ random: inout SplitMix64) {
      version = 1 + random.below(3)
      mapping = version == 2 ? Mapping.allCases[random.below(4)] : .none
      migrates = random.below(4) > 0
      infers = random.below(3) > 0
      isReadOnly = random.below(4) == 0
      allowsFormer = random.below(2) == 0
    }

    var description: String {
      "to \(version), mapping \(mapping), migrates \(migrates), infers \(infers), read-only \(isReadOnly), former \(allowsFormer)"
    }
  }

  private func description(
    of url: URL, _ kind: PersistentStore.StoreType, _ wishes: Wishes
  ) throws -> PersistentStoreDescription {
    let description = PersistentStoreDescription(url: url)
    description.type = kind
    description.shouldMigrateStoreAutomatically = wishes.migrates
    description.shouldInferMappingModelAutomatically = wishes.infers
    description.isReadOnly = wishes.isReadOnly
    description.allowsMigrationToFormerModel = wishes.allowsFormer
    description.mappingModel =
      switch wishes.mapping {
      case .none: nil
      case .complete: try mapping()
      case .incomplete: try mapping(includingAuthors: false)
      case .inferred:
        try MappingModel.inferredMappingModel(
          forSourceModel: Self.model(1), destinationModel: Self.model(2))
      }
    return description
  }

  /// The library after the opening, or the code of its error.
  private func outcome(of kind: PersistentStore.StoreType, _ wishes: Wishes) throws -> String {
    let folder = try TemporaryFolder()
    let url = try fill(kind, in: folder)
    if wishes.version == 1 { try with(url, kind, 2) { _, _ in } }
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(wishes.version))
    var rehearsed: HeartwoodError.Code?
    let canRehearse = kind != LineStore.kind && wishes.migrates && !wishes.isReadOnly
    if canRehearse {
      rehearsed =
        heartwoodError {
          _ = try PersistentStoreCoordinator.rehearseMigration(
            with: description(of: url, kind, wishes), to: Self.model(wishes.version))
        }?.code
    }
    do {
      try coordinator.addPersistentStore(with: description(of: url, kind, wishes))
    } catch let error as HeartwoodError {
      if canRehearse { #expect(rehearsed == error.code, "rehearsal of \(kind.rawValue): \(wishes)") }
      return "\(error.code)"
    }
    if canRehearse { #expect(rehearsed == nil, "rehearsal of \(kind.rawValue): \(wishes)") }
    defer { try? coordinator.close() }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    return try context.performAndWait {
      let (author, key) = (wishes.version < 3 ? "Author" : "Writer", ["title", "label", "pages"])
      return try Self.library(context, author, key[wishes.version - 1]).joined(separator: ", ")
    }
  }

  // MIG-01
  @Test func `every kind of store decides the same, in a rehearsal too, whatever a program wishes`() throws {
    var random = SplitMix64(seed: 0x6465_6369)
    var seen: Set<String> = []
    for _ in 0..<(LongRun.isWanted ? 200 : 20) {
      let wishes = Wishes(&random)
      let outcomes = try Self.kinds.map { try outcome(of: $0, wishes) }
      #expect(
        Set(outcomes).count == 1,
        "seed 0x64656369, \(wishes): \(zip(Self.kinds, outcomes).map { "\($0.rawValue) \($1)" })")
      seen.formUnion(outcomes)
    }
    #expect(seen.count > 3)
  }

  // MIG-01, MIG-16, STO-26
  @Test(arguments: kinds)
  func `a mapping model makes the objects of a store of every kind`(kind: PersistentStore.StoreType) throws {
    let url = try fill(kind)
    let former = try with(url, kind, 1) { context, store in
      (
        store.identifier,
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")).map {
          $0.objectID.uriRepresentation()
        }
      )
    }
    let mapping = try mapping()
    let lines = Guarded<[String]>([])
    let edit: (PersistentStoreDescription) -> Void = {
      $0.mappingModel = mapping
      $0.migrationLog = { line in lines.withLock { $0.append(line) } }
    }
    for _ in 0..<2 {
      try with(url, kind, 2, edit) { context, store in
        #expect(try Self.library(context, "Author", "label") == ["Ada: <b> <a> <c>", "Bob: <e> <d>"])
        #expect(try Self.library(context, "Author", "pages") == ["Ada: 300 300 300", "Bob: 200 200"])
        #expect(store.identifier != former.0 || kind == .binary || kind == .json || kind == .xml)
        // The identifiers of the former objects are those of no object.
        let coordinator = try #require(context.persistentStoreCoordinator)
        if store.identifier != former.0 {
          for uri in former.1 { #expect(coordinator.managedObjectID(forURIRepresentation: uri) == nil) }
        }
        if kind != DictionaryStore.kind { #expect(try coordinator.verify().findings == []) }
      }
    }
    #expect(lines.withLock { $0 }.filter { $0.contains("validation of") }.count >= 2)
    if url.isFileURL {
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [url.lastPathComponent])
    }
    // It can be written, and migrated further as it is inferred.
    try with(url, kind, 2) { context, _ in
      let author = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Author")).first {
          $0.value(forKey: "name") as? String == "Ada"
        })
      author.setValue("Eve", forKey: "name")
      try context.save()
    }
    try with(url, kind, 3) { context, _ in
      let library = try Self.library(context, "Writer", "pages")
      #expect(library == ["Bob: 200 200", "Eve: 300 300 300"])
    }
    let behind = heartwoodError { try with(url, kind, 2) { _, _ in } }
    #expect(behind?.code == .stagedMigrationBackwardMigration)
  }

  private struct Refusal: Error {}

  // MIG-17
  @Test(arguments: kinds)
  func `a mapping that cannot be done leaves a store of every kind as it was`(
    kind: PersistentStore.StoreType
  ) throws {
    let url = try fill(kind)
    let before = url.isFileURL && kind != .log ? try Data(contentsOf: url) : Data()
    let partial = try mapping(includingAuthors: false)
    let missing = heartwoodError { try with(url, kind, 2, { $0.mappingModel = partial }) { _, _ in } }
    #expect(missing?.code == .migrationMissingMappingModel)
    #expect(missing?.message.contains("Author") == true)
    let failing = try mapping()
    let calls = Guarded(0)
    failing.entityMappings[1].attributeMappings[0].value = { _, _ in
      calls.withLock { $0 += 1 }
      if calls.withLock({ $0 }) == 4 { throw Refusal() }
      return "x"
    }
    let failed = heartwoodError { try with(url, kind, 2, { $0.mappingModel = failing }) { _, _ in } }
    #expect(failed?.code == .entityMigrationPolicy && failed?.underlying is Refusal)
    let readOnly = heartwoodError {
      try with(url, kind, 2, { ($0.mappingModel, $0.isReadOnly) = (failing, true) }) { _, _ in }
    }
    #expect(readOnly?.code == .persistentStoreIncompatibleVersionHash)
    let unasked = heartwoodError {
      try with(url, kind, 2, { $0.shouldInferMappingModelAutomatically = false }) { _, _ in }
    }
    #expect(unasked?.code == .migrationMissingMappingModel)
    if url.isFileURL, kind != .log { #expect(try Data(contentsOf: url) == before) }
    if url.isFileURL {
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [url.lastPathComponent])
    }
    try with(url, kind, 1) { context, _ in
      let library = try Self.library(context)
      #expect(library == ["Ada: b a c", "Bob: e d"])
    }
  }

  // STO-26
  @Test(arguments: kinds)
  func `metadata of a store that is not open are read and set`(kind: PersistentStore.StoreType) throws {
    let url = try fill(kind)
    let known = try with(url, kind, 1) { try $0.persistentStoreCoordinator?.metadata(for: $1) ?? [:] }
    typealias Key = PersistentStore.MetadataKey
    let read = try PersistentStoreCoordinator.metadataForPersistentStore(type: kind, at: url)
    for key in [Key.storeUUID, Key.storeType] {
      #expect(read[key] as? String == known[key] as? String && read[key] != nil, "\(key)")
    }
    #expect(Self.model(1).isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
    #expect(!Self.model(2).isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
    try PersistentStoreCoordinator.setMetadata(["note": "n"], type: kind, at: url)
    let set = try PersistentStoreCoordinator.metadataForPersistentStore(type: kind, at: url)
    // A file of lines has no room for others.
    #expect(set["note"] as? String == (kind == LineStore.kind ? nil : "n"))
    #expect(set[Key.storeUUID] as? String == known[Key.storeUUID] as? String)
    guard kind != DictionaryStore.kind else { return }
    let nowhere = folder.url.appending(path: "nowhere")
    let missing = heartwoodError {
      _ = try PersistentStoreCoordinator.metadataForPersistentStore(type: kind, at: nowhere)
    }
    #expect(missing?.code == .persistentStoreOpen)
    #expect(!FileManager.default.fileExists(atPath: nowhere.path))
  }

  private func stages(
    fails: Bool = false, upTo last: Int = 3, _ log: Guarded<[String]> = Guarded([])
  ) -> StagedMigrationManager {
    let stage = CustomMigrationStage(migratingFrom: reference(1), to: reference(2))
    stage.label = "label"
    stage.willMigrateHandler = { manager, _ in
      let context = try #require(manager.container?.newBackgroundContext())
      log.withLock { $0.append("before") }
      for book in try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")) {
        if book.value(forKey: "title") as? String == "c" { context.delete(book) }
      }
      try context.save()
    }
    stage.didMigrateHandler = { manager, _ in
      let context = try #require(manager.container?.newBackgroundContext())
      log.withLock { $0.append("after") }
      if fails { throw Refusal() }
      for book in try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")) {
        book.setValue(11, forKey: "pages")
      }
      try context.save()
    }
    let next = LightweightMigrationStage(models: [reference(2), reference(3)])
    return StagedMigrationManager(last == 3 ? [stage, next] : [stage])
  }

  // MIG-20, MIG-21, MIG-24
  @Test(arguments: kinds)
  func `a store of every kind goes through stages, and finishes one that was interrupted`(
    kind: PersistentStore.StoreType
  ) throws {
    let url = try fill(kind)
    let log = Guarded<[String]>([])
    let failing = stages(fails: true, log)
    #expect(throws: Refusal.self) {
      try with(url, kind, 3, { $0.stagedMigrationManager = failing }) { _, _ in }
    }
    #expect(log.withLock { $0 } == ["before", "after"])
    // The step is done, and its code has still to run: nothing else opens the store.
    for version in 2...3 {
      let unfinished = heartwoodError { try with(url, kind, version) { _, _ in } }
      #expect(unfinished?.code == .migration)
      #expect(unfinished?.message.contains("the stage label") == true, "\(String(describing: unfinished))")
    }
    let manager = stages(log)
    for _ in 0..<2 {
      try with(url, kind, 3, { $0.stagedMigrationManager = manager }) { context, _ in
        let library = try Self.library(context, "Writer", "pages")
        #expect(library == ["Ada: 11 11", "Bob: 11 11"])
      }
    }
    #expect(log.withLock { $0 } == ["before", "after", "after"])
    try with(url, kind, 3) { context, store in
      let key = PersistentStore.MetadataKey.pendingMigrationStage
      let metadata = try context.persistentStoreCoordinator?.metadata(for: store) ?? [:]
      #expect(metadata[key] == nil)
    }
  }

  @Test(arguments: kinds.filter { $0 != LineStore.kind })
  func `a stage that is not finished is refused or run in a rehearsal, as in an opening`(
    kind: PersistentStore.StoreType
  ) throws {
    let url = try fill(kind)
    let failing = stages(fails: true, upTo: 2)
    #expect(throws: Refusal.self) {
      try with(url, kind, 2, { $0.stagedMigrationManager = failing }) { _, _ in }
    }
    let description = PersistentStoreDescription(url: url)
    description.type = kind
    let refused = heartwoodError {
      _ = try PersistentStoreCoordinator.rehearseMigration(with: description, to: Self.model(2))
    }
    #expect(refused?.code == .migration)
    #expect(refused?.message.contains("the stage label") == true, "\(String(describing: refused))")
    let log = Guarded<[String]>([])
    description.stagedMigrationManager = stages(upTo: 2, log)
    for count in 1...2 {
      let report = try PersistentStoreCoordinator.rehearseMigration(with: description, to: Self.model(2))
      #expect(report?.violations.isEmpty ?? true)
      #expect(log.withLock { $0 } == Array(repeating: "after", count: count))
    }
  }
}
