import Foundation
import SwiftData
import Synchronization
import Testing

/// The requests to a store of a program, and its answers.
final class Ledger: @unchecked Sendable {
  var rows: [PersistentIdentifier: NodeSnapshot] = [:]
  var begun: Set<EditingState> = []
  var ended: Set<UUID> = []
  var fetches = 0
  var lastLimit: Int?
  var deletions: [String] = []
  /// The new rows of the last save, as the context has sent them.
  var inserted: [NodeSnapshot] = []
  /// The error that the next request throws.
  var refusal: DataStoreError?
  /// The error that the next deletion by a condition throws.
  var deletionRefusal: DataStoreError?
  /// The change of a save to the names that it stores.
  var rename: ((String) -> String)?
  var answersFromCache = false
}

/// A snapshot of a program's own: values of the classes `Node` and `Shelf` as it names them.
struct NodeSnapshot: DataStoreSnapshot {
  let persistentIdentifier: PersistentIdentifier
  var name: String
  var parent: PersistentIdentifier?

  init(_ identifier: PersistentIdentifier, _ name: String, _ parent: PersistentIdentifier?) {
    (persistentIdentifier, self.name, self.parent) = (identifier, name, parent)
  }

  init(
    from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
  ) {
    guard let backing = backingData as? any BackingData<Node>, let identifier = backing.persistentModelID
    else {
      preconditionFailure("the store has nodes only")
    }
    self.init(
      identifier, backing.getValue(forKey: \.name), backing.getValue(forKey: \.parent)?.persistentModelID)
  }

  func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
  ) -> NodeSnapshot {
    NodeSnapshot(persistentIdentifier, name, parent.map { remappedIdentifiers?[$0] ?? $0 })
  }
}

/// A store in memory with snapshots of its own, which deletes by conditions.
final class LedgerStore: DataStore, DataStoreBatching {
  typealias Configuration = LedgerConfiguration
  typealias Snapshot = NodeSnapshot

  let configuration: LedgerConfiguration
  let identifier: String
  let schema: Schema
  private var ledger: Ledger { configuration.ledger }

  init(_ configuration: LedgerConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    identifier = configuration.name
    schema = configuration.schema ?? Schema([])
  }

  func initializeState(for editingState: EditingState) { ledger.begun.insert(editingState) }
  func invalidateState(for editingState: EditingState) { ledger.ended.insert(editingState.id) }

  func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: NodeSnapshot] {
    ledger.answersFromCache ? ledger.rows.filter { persistentIdentifiers.contains($0.key) } : [:]
  }

  func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<
    T, NodeSnapshot
  > {
    ledger.fetches += 1
    if let refusal = ledger.refusal { throw refusal }
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    var found = ledger.rows.values.sorted { $0.name < $1.name }
    // The only order that it knows, by name.
    if request.descriptor.sortBy.first?.order == .reverse { found.reverse() }
    let start = min(request.descriptor.fetchOffset ?? 0, found.count)
    ledger.lastLimit = request.descriptor.fetchLimit
    let end = request.descriptor.fetchLimit.map { min(start + $0, found.count) } ?? found.count
    return DataStoreFetchResult(
      descriptor: request.descriptor, fetchedSnapshots: Array(found[start..<end]),
      relatedSnapshots: ledger.rows)
  }

  func save(_ request: DataStoreSaveChangesRequest<NodeSnapshot>) throws -> DataStoreSaveChangesResult<
    NodeSnapshot
  > {
    ledger.inserted = request.inserted
    if let refusal = ledger.refusal { throw refusal }
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted {
      remapped[snapshot.persistentIdentifier] = try .identifier(
        for: identifier, entityName: "Node", primaryKey: UUID())
    }
    var renamed: [PersistentIdentifier: NodeSnapshot] = [:]
    for snapshot in request.inserted + request.updated {
      let id = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
      var row = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: remapped)
      if let rename = ledger.rename {
        row.name = rename(row.name)
        renamed[id] = row
      }
      ledger.rows[id] = row
    }
    for snapshot in request.deleted { ledger.rows[snapshot.persistentIdentifier] = nil }
    return DataStoreSaveChangesResult(
      for: identifier, remappedIdentifiers: remapped, snapshotsToReregister: renamed)
  }

  func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
    if let refusal = ledger.deletionRefusal ?? ledger.refusal { throw refusal }
    ledger.deletions.append("\(T.self)")
    // A store of a program evaluates a condition as it can: this one makes models of its rows.
    ledger.rows = try ledger.rows.filter { _, row in
      guard let node = Node(row.name) as? T else { return true }
      return try !(request.predicate?.evaluate(node) ?? true)
    }
  }
}

struct LedgerConfiguration: DataStoreConfiguration {
  typealias Store = LedgerStore
  var name: String
  var schema: Schema? = Schema([Node.self])
  let ledger: Ledger
  static func == (left: LedgerConfiguration, right: LedgerConfiguration) -> Bool { left.name == right.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

struct ProgramStoreTests {
  let ledger = Ledger()
  let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Node.self, configurations: LedgerConfiguration(name: "ledger", ledger: ledger))
  }

  private func names(_ context: ModelContext) throws -> [String] {
    try context.fetch(FetchDescriptor<Node>(sortBy: [SortDescriptor(\.name)])).map(\.name)
  }

  // SWD-36
  @Test func `snapshots of a program's type carry values and relationships both ways`() throws {
    let context = ModelContext(container)
    context.insert(Node("parent", children: [Node("child")]))
    try context.save()
    #expect(Set(ledger.rows.values.map(\.name)) == ["parent", "child"])
    let child = try #require(ledger.rows.values.first { $0.name == "child" })
    #expect(child.parent.flatMap { ledger.rows[$0]?.name } == "parent")
    let other = ModelContext(container)
    let found = try #require(try other.fetch(FetchDescriptor<Node>()).first { $0.name == "child" })
    #expect(found.parent?.name == "parent" && found.persistentModelID == child.persistentIdentifier)
  }

  // SWD-25, SWD-36
  @Test func `new models have identifiers of no store until the store has named them`() throws {
    let context = ModelContext(container)
    let parent = Node("parent", children: [Node("child")])
    context.insert(parent)
    let temporary = parent.persistentModelID
    ledger.refusal = .unsupportedFeature
    #expect(throws: (any Error).self) { try context.save() }
    #expect(parent.persistentModelID == temporary)
    ledger.refusal = nil
    try context.save()
    #expect(ledger.inserted.count == 2)
    #expect(ledger.inserted.allSatisfy { $0.persistentIdentifier.storeIdentifier == nil })
    #expect(ledger.inserted.contains { $0.persistentIdentifier == temporary })
    #expect(ledger.inserted.contains { $0.parent == temporary })
    #expect(parent.persistentModelID.storeIdentifier == "ledger")
    #expect(context.model(for: temporary) === parent)
  }

  // SWD-36
  @Test func `values that a store changes in a save are those of the models after it`() throws {
    ledger.rename = { $0.uppercased() }
    let context = ModelContext(container)
    let node = Node("a")
    context.insert(node)
    try context.save()
    #expect(node.name == "A" && !context.hasChanges)
    node.name = "b"
    try context.save()
    #expect(node.name == "B")
    #expect(try names(ModelContext(container)) == ["B"])
  }

  // SWD-35
  @Test func `a store learns which contexts begin and end to use it`() throws {
    do {
      let context = ModelContext(container)
      #expect(ledger.begun.contains { $0.id == context.editingState.id })
      #expect(!ledger.ended.contains(context.editingState.id))
      context.editingState.author = "import"
      #expect(context.author == "import")
      context.insert(Node("a"))
      try context.save()
    }
    #expect(ledger.begun.allSatisfy { ledger.ended.contains($0.id) })
  }

  // SWD-35
  @Test func `a model by its identifier is taken from the snapshots that a store has in memory`() throws {
    let context = ModelContext(container)
    let node = Node("a")
    context.insert(node)
    try context.save()
    let fetches = ledger.fetches
    ledger.answersFromCache = true
    // Another container knows nothing of the store yet.
    let other = try ModelContainer(
      for: Node.self, configurations: LedgerConfiguration(name: "ledger", ledger: ledger))
    #expect((ModelContext(other).model(for: node.persistentModelID) as? Node)?.name == "a")
    #expect(ledger.fetches == fetches)
  }

  // SWD-15, SWD-37
  @Test func `a store deletes by a condition when its context saves`() throws {
    let context = ModelContext(container)
    for name in ["a", "b", "c"] { context.insert(Node(name)) }
    try context.save()
    let kept = try context.fetch(FetchDescriptor<Node>())
    context.insert(Node("a"))
    try context.delete(model: Node.self, where: #Predicate { $0.name < "c" })
    #expect(context.hasChanges && ledger.deletions.isEmpty)
    #expect(try names(context) == ["c"] && names(ModelContext(container)) == ["a", "b", "c"])
    try context.save()
    #expect(ledger.deletions == ["Node"] && !context.hasChanges)
    #expect(try names(context) == ["c"] && names(ModelContext(container)) == ["c"])
    for node in kept { #expect((node.modelContext == nil) == (node.name < "c")) }
    // A rollback forgets it.
    try context.delete(model: Node.self)
    context.rollback()
    #expect(!context.hasChanges)
    try context.save()
    #expect(try names(context) == ["c"] && ledger.deletions == ["Node"])
  }

  // SWD-15, SWD-37
  @Test func `fetches leave out only what a store will delete: its rows as they are stored`() throws {
    let context = ModelContext(container)
    for name in ["a", "b", "x"] { context.insert(Node(name)) }
    try context.save()
    try context.delete(model: Node.self, where: #Predicate { $0.name < "c" })
    let kept = try #require(try context.fetch(FetchDescriptor<Node>()).first)
    // Neither a model that is inserted now nor one whose row does not satisfy the condition is deleted.
    context.insert(Node("aa"))
    kept.name = "ab"
    let descriptor = FetchDescriptor<Node>(sortBy: [SortDescriptor(\.name)])
    #expect(try names(context) == ["aa", "ab"])
    #expect(try context.fetchCount(descriptor) == 2 && context.fetchIdentifiers(descriptor).count == 2)
    var seen: [String] = []
    try context.enumerate(descriptor) { seen.append($0.name) }
    #expect(seen == ["aa", "ab"])
    try context.save()
    #expect(try names(context) == ["aa", "ab"] && names(ModelContext(container)) == ["aa", "ab"])
    #expect(kept.modelContext != nil)
  }

  // SWD-37, SWD-43
  @Test(arguments: [nil, 2]) func `results leave out at once what a store will delete`(limit: Int?) throws {
    let context = ModelContext(container)
    for name in ["a", "b", "x", "y"] { context.insert(Node(name)) }
    try context.save()
    var descriptor = FetchDescriptor<Node>(sortBy: [SortDescriptor(\.name)])
    descriptor.fetchLimit = limit
    let observer = try ResultsObserver<Node, Never>(fetchDescriptor: descriptor, modelContext: context)
    let all = limit == nil ? ["a", "b", "x", "y"] : ["a", "b"]
    let changed = Mutex(0)
    func read() -> [String] {
      withObservationTracking {
        observer.results.map(\.name)
      } onChange: {
        changed.withLock { $0 += 1 }
      }
    }
    #expect(read() == all)
    try context.delete(model: Node.self, where: #Predicate { $0.name < "c" })
    #expect(read() == ["x", "y"] && changed.withLock { $0 } == 1)
    context.rollback()
    #expect(read() == all && changed.withLock { $0 } == 2)
    try context.delete(model: Node.self, where: #Predicate { $0.name < "c" })
    try context.save()
    #expect(read() == ["x", "y"])
  }

  // SWD-37, SWD-38
  @Test(arguments: [DataStoreError.unsupportedFeature, .preferInMemoryFilter])
  func `models that are deleted one by one are those whose rows satisfy the condition`(
    _ refusal: DataStoreError
  ) throws {
    let context = ModelContext(container)
    for name in ["a", "b", "x"] { context.insert(Node(name)) }
    try context.save()
    ledger.deletionRefusal = refusal
    try context.delete(model: Node.self, where: #Predicate { $0.name < "c" })
    context.insert(Node("aa"))
    try context.save()
    #expect(try names(context) == ["aa", "x"] && names(ModelContext(container)) == ["aa", "x"])
    #expect(ledger.deletions.isEmpty)
  }

  // SWD-37, SWD-38
  @Test func `where a store cannot delete by a condition, its models are deleted one by one`() throws {
    let context = ModelContext(container)
    for name in ["a", "b"] { context.insert(Node(name)) }
    try context.save()
    try context.delete(model: Node.self, where: #Predicate { $0.name == "a" })
    ledger.refusal = .invalidPredicate
    #expect { try context.save() } throws: { $0 as? DataStoreError == .invalidPredicate }
    #expect(context.hasChanges)
    ledger.refusal = nil
    try context.save()
    #expect(try names(context) == ["b"] && ledger.deletions == ["Node"])
  }

  // SWD-38
  @Test func `errors of a store are those of the context`() throws {
    let context = ModelContext(container)
    ledger.refusal = .invalidPredicate
    #expect { try context.fetch(FetchDescriptor<Node>()) } throws: {
      $0 as? DataStoreError == .invalidPredicate
    }
    context.insert(Node("a"))
    ledger.refusal = .unsupportedFeature
    #expect { try context.save() } throws: { $0 as? DataStoreError == .unsupportedFeature }
    #expect(context.hasChanges)
    ledger.refusal = nil
    try context.save()
    #expect { try container.erase() } throws: {
      ($0 as? SwiftDataError)?.underlyingError as? DataStoreError == .unsupportedFeature
    }
    #expect(try names(context) == ["a"])
  }

  // SWD-20, SWD-22, SWD-35
  @Test func `limit and offset are those of the store, or of the context where it prefers memory`() throws {
    for name in ["a", "b", "c", "d"] {
      let id = try PersistentIdentifier.identifier(for: "ledger", entityName: "Node", primaryKey: name)
      ledger.rows[id] = NodeSnapshot(id, name, nil)
    }
    var descriptor = FetchDescriptor<Node>(sortBy: [SortDescriptor(\.name)])
    descriptor.fetchOffset = 1
    descriptor.fetchLimit = 2
    #expect(try ModelContext(container).fetch(descriptor).map(\.name) == ["b", "c"])
    #expect(ledger.lastLimit == 2)
    #expect(try ModelContext(container).fetchCount(descriptor) == 2)
    descriptor.sortBy = [SortDescriptor(\.name, order: .reverse)]
    #expect(try ModelContext(container).fetch(descriptor).map(\.name) == ["c", "b"])
    descriptor.predicate = #Predicate { $0.name > "a" }
    #expect(try ModelContext(container).fetch(descriptor).map(\.name) == ["c", "b"])
    #expect(ledger.lastLimit == nil)
    // Unsaved models count.
    let context = ModelContext(container)
    context.insert(Node("e"))
    #expect(try context.fetch(descriptor).map(\.name) == ["d", "c"])
  }

  // SWD-13, SWD-35
  @Test func `a store of a program is the only one of its container`() {
    #expect {
      try ModelContainer(
        for: Node.self,
        configurations: LedgerConfiguration(name: "first", ledger: Ledger()),
        LedgerConfiguration(name: "second", ledger: Ledger()))
    } throws: {
      SwiftDataError.loadIssueModelContainer ~= $0
    }
  }
}
