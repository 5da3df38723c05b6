import Foundation
import Observation
import SwiftData
import Synchronization
import Testing

@Model
final class Parcel {
  @Attribute(.unique) var code: String
  var weight: Int = 0
  var depot: Depot?
  init(_ code: String, _ weight: Int = 0, _ depot: Depot? = nil) {
    self.code = code
    self.weight = weight
    self.depot = depot
  }
}

@Model
final class Depot {
  var town: String
  @Relationship(deleteRule: .cascade, inverse: \Parcel.depot) var parcels: [Parcel] = []
  init(_ town: String) { self.town = town }
}

/// The rows of a store, and what it was asked for.
final class ParcelRows: @unchecked Sendable {
  var rows: [PersistentIdentifier: DefaultSnapshot] = [:]
  var asked: [String] = []
  var count: Int?
  var identifiers: [PersistentIdentifier]?
  /// The error that counts and identifiers throw.
  var refusal: DataStoreError?
  /// The error that a fetch with a condition throws, and that of one with an order; nil if the store
  /// evaluates them.
  var filterRefusal: DataStoreError? = .preferInMemoryFilter
  var sortRefusal: DataStoreError? = .preferInMemorySort
  /// The result of a fetch with a condition.
  var matches: Set<PersistentIdentifier> = []
  var last = 0
}

/// A store of a program that leaves conditions and orders to the context.
final class ParcelStore: DataStore {
  typealias Configuration = ParcelConfiguration
  typealias Snapshot = DefaultSnapshot

  let configuration: ParcelConfiguration
  let identifier: String
  let schema: Schema
  private var all: ParcelRows { configuration.rows }

  init(_ configuration: ParcelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    identifier = configuration.name
    schema = configuration.schema ?? Schema([])
  }

  func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<
    T, DefaultSnapshot
  > {
    let descriptor = request.descriptor
    let condition = descriptor.predicate == nil ? "" : " where"
    all.asked.append("\(T.self)\(condition)\(descriptor.sortBy.isEmpty ? "" : " by")")
    if descriptor.predicate != nil, let refusal = all.filterRefusal { throw refusal }
    if !descriptor.sortBy.isEmpty, let refusal = all.sortRefusal { throw refusal }
    var found = all.rows
    if descriptor.predicate != nil { found = found.filter { all.matches.contains($0.key) } }
    return DataStoreFetchResult(descriptor: descriptor, fetchedSnapshots: Array(found.values))
  }

  func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
    all.asked.append("count of \(T.self)")
    if let refusal = all.refusal { throw refusal }
    return try all.count ?? fetch(request).fetchedSnapshots.count
  }

  func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws
    -> [PersistentIdentifier]
  {
    all.asked.append("identifiers of \(T.self)")
    if let refusal = all.refusal { throw refusal }
    return try all.identifiers ?? fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted {
      all.last += 1
      remapped[snapshot.persistentIdentifier] = try .identifier(
        for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: all.last)
    }
    for snapshot in request.inserted + request.updated {
      let id = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
      all.rows[id] = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: remapped)
    }
    for snapshot in request.deleted { all.rows[snapshot.persistentIdentifier] = nil }
    return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
  }

  func erase() throws { all.rows = [:] }
}

struct ParcelConfiguration: DataStoreConfiguration {
  typealias Store = ParcelStore
  var name = "parcels"
  var schema: Schema? = Schema([Depot.self, Parcel.self, Vehicle.self, Car.self, SportsCar.self])
  let rows: ParcelRows
  static func == (left: ParcelConfiguration, right: ParcelConfiguration) -> Bool { left.name == right.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Fetches, counts and deletions over a store of a program that evaluates nothing itself.
struct StoreFetchTests {
  let rows = ParcelRows()
  let container: ModelContainer
  let heavy = #Predicate<Parcel> { $0.weight >= 3 }

  init() throws {
    container = try Self.container(rows)
    let context = ModelContext(container)
    for weight in 0..<5 { context.insert(Parcel("\(weight)", weight)) }
    try context.save()
    rows.asked = []
  }

  /// Another container of the same rows, as that of another program.
  private static func container(_ rows: ParcelRows) throws -> ModelContainer {
    let configuration = ParcelConfiguration(rows: rows)
    return try ModelContainer(
      for: Schema([Depot.self, Parcel.self, Vehicle.self, Car.self, SportsCar.self]),
      configurations: [configuration])
  }

  private func weights(_ context: ModelContext) throws -> [Int] {
    try context.fetch(FetchDescriptor<Parcel>(sortBy: [SortDescriptor(\.weight)])).map(\.weight)
  }

  private func parcel(_ code: String, in context: ModelContext) throws -> Parcel {
    try #require(
      try context.fetch(FetchDescriptor<Parcel>(predicate: #Predicate { $0.code == code })).first)
  }

  // MARK: Conditions and orders

  // SWD-20, SWD-35, SWD-38
  @Test func `every way to fetch has the condition and the order, where a store leaves them to the context`()
    throws
  {
    let context = ModelContext(container)
    var descriptor = FetchDescriptor(predicate: heavy, sortBy: [SortDescriptor(\.weight, order: .reverse)])
    #expect(try context.fetch(descriptor).map(\.weight) == [4, 3])
    #expect(try context.fetchCount(descriptor) == 2)
    #expect(try context.fetchIdentifiers(descriptor).count == 2)
    #expect(try context.fetch(descriptor, batchSize: 1).map(\.weight) == [4, 3])
    #expect(try context.fetchIdentifiers(descriptor, batchSize: 1).count == 2)
    var seen: [Int] = []
    try context.enumerate(descriptor, batchSize: 1) { seen.append($0.weight) }
    #expect(seen == [4, 3])
    let results = try ResultsObserver<Parcel, Never>(fetchDescriptor: descriptor, modelContext: context)
    #expect(results.results.map(\.weight) == [4, 3])
    descriptor.sortBy = []
    #expect(
      Set(
        try ResultsObserver<Parcel, Never>(fetchDescriptor: descriptor, modelContext: context).results.map(
          \.weight)) == [3, 4])
    descriptor.fetchOffset = 1
    descriptor.fetchLimit = 1
    descriptor.sortBy = [SortDescriptor(\.weight)]
    #expect(try context.fetch(descriptor).map(\.weight) == [4])
    #expect(try context.fetch(descriptor, batchSize: 2).map(\.weight) == [4])
    #expect(try context.fetchCount(descriptor) == 1 && context.fetchIdentifiers(descriptor).count == 1)
    // With changes as well.
    context.insert(Parcel("9", 9))
    try parcel("0", in: context).weight = 8
    descriptor.fetchLimit = nil
    #expect(try context.fetch(descriptor).map(\.weight) == [4, 8, 9])
    #expect(try context.fetchCount(descriptor) == 3)
    seen = []
    try context.enumerate(descriptor) { seen.append($0.weight) }
    #expect(seen == [4, 8, 9])
  }

  // SWD-15, SWD-38
  @Test func `a deletion by a condition leaves the models that do not satisfy it`() throws {
    let context = ModelContext(container)
    try context.delete(model: Parcel.self, where: heavy)
    #expect(try weights(context) == [0, 1, 2])
    try context.save()
    #expect(rows.rows.count == 3)
    #expect(try weights(ModelContext(container)) == [0, 1, 2])
  }

  // SWD-15, SWD-38
  @Test func `a deletion without subclasses leaves their models in a store of a program`() throws {
    let context = ModelContext(container)
    context.insert(Vehicle(name: "cart"))
    context.insert(Car(name: "car", doors: 5))
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Vehicle>()).count == 2)
    try context.delete(model: Vehicle.self, includeSubclasses: false)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Vehicle>()).map(\.name) == ["car"])
  }

  // SWD-23, SWD-38
  @Test func `conditions over relationships ask the store once for each class`() throws {
    let context = ModelContext(container)
    for town in ["A", "B"] {
      let depot = Depot(town)
      for weight in 10..<20 { context.insert(Parcel("\(town)\(weight)", weight, depot)) }
    }
    try context.save()
    rows.asked = []
    let other = ModelContext(container)
    let ofB = #Predicate<Parcel> { $0.depot?.town == "B" }
    #expect(try other.fetch(FetchDescriptor(predicate: ofB)).count == 10)
    #expect(rows.asked == ["Parcel where", "Parcel", "Depot"])
    let withHeavy = #Predicate<Depot> { depot in depot.parcels.contains { $0.weight > 18 } }
    #expect(try other.fetchCount(FetchDescriptor(predicate: withHeavy)) == 2)
    #expect(try other.fetch(FetchDescriptor(predicate: ofB)).allSatisfy { $0.depot?.town == "B" })
  }

  // SWD-35
  @Test func `a unique value updates its own model, and no other`() throws {
    let context = ModelContext(container)
    context.insert(Parcel("3", 30))
    context.insert(Parcel("new", 31))
    try context.save()
    #expect(try weights(ModelContext(container)) == [0, 1, 2, 4, 30, 31])
  }

  // SWD-20, SWD-38
  @Test func `a store that evaluates conditions is asked by them, and its results are sorted`() throws {
    rows.filterRefusal = nil
    rows.matches = Set(rows.rows.keys.sorted().suffix(2))
    let context = ModelContext(container)
    let descriptor = FetchDescriptor(predicate: heavy, sortBy: [SortDescriptor(\.weight, order: .reverse)])
    #expect(try context.fetch(descriptor).map(\.weight) == [4, 3])
    #expect(rows.asked == ["Parcel where by", "Parcel where"])
    rows.asked = []
    // Live results are sorted in any case.
    let results = try ResultsObserver<Parcel, Never>(filterBy: heavy, modelContext: context)
    #expect(results.results.count == 2 && rows.asked == ["Parcel where"])
  }

  // SWD-22, SWD-35
  @Test func `counts and identifiers are asked of the store where the context has no changes`() throws {
    rows.count = 4242
    rows.identifiers = Array(rows.rows.keys.prefix(1))
    let context = ModelContext(container)
    var descriptor = FetchDescriptor<Parcel>()
    #expect(try context.fetchCount(descriptor) == 4242)
    #expect(try context.fetchIdentifiers(descriptor) == rows.identifiers)
    #expect(rows.asked == ["count of Parcel", "identifiers of Parcel"])
    descriptor.predicate = heavy
    #expect(try context.fetchCount(descriptor) == 4242)
    // With changes the models are counted.
    context.insert(Parcel("9", 9))
    #expect(try context.fetchCount(descriptor) == 3)
    #expect(try context.fetchIdentifiers(descriptor).count == 3)
    descriptor.includePendingChanges = false
    #expect(try context.fetchCount(descriptor) == 4242)
  }

  // SWD-22, SWD-38
  @Test(arguments: [DataStoreError.unsupportedFeature, .preferInMemoryFilter, .preferInMemorySort])
  func `a store that does not count has its models counted`(_ refusal: DataStoreError) throws {
    rows.refusal = refusal
    let context = ModelContext(container)
    #expect(try context.fetchCount(FetchDescriptor(predicate: heavy)) == 2)
    #expect(try context.fetchIdentifiers(FetchDescriptor(predicate: heavy)).count == 2)
    #expect(try context.fetchCount(FetchDescriptor<Parcel>()) == 5)
    rows.refusal = .invalidPredicate
    #expect { try context.fetchCount(FetchDescriptor<Parcel>()) } throws: {
      $0 as? DataStoreError == .invalidPredicate
    }
  }

  // MARK: Newest values

  // SWD-35
  @Test func `a context without a model asks the store for its values`() throws {
    let there = ModelContext(try Self.container(rows))
    let parcel = try parcel("1", in: there)
    let id = parcel.persistentModelID
    func weight() -> Int? { (ModelContext(container).model(for: id) as? Parcel)?.weight }
    #expect(weight() == 1)
    parcel.weight = 100
    try there.save()
    #expect(weight() == 100)
    there.delete(parcel)
    try there.save()
    #expect((ModelContext(container).model(for: id) as? Parcel)?.code.isEmpty == true)
  }

  // SWD-20, SWD-35
  @Test func `a fetch gives models what the store has now, and leaves unsaved changes`() throws {
    let context = ModelContext(container)
    let there = ModelContext(try Self.container(rows))
    let (mine, edited) = (try parcel("1", in: context), try parcel("2", in: context))
    let theirs = try parcel("1", in: there)
    let depot = Depot("A")
    theirs.weight = 100
    theirs.depot = depot
    try parcel("2", in: there).depot = depot
    edited.weight = 50
    try there.save()
    #expect(mine.weight == 1)
    #expect(Set(try context.fetch(FetchDescriptor<Parcel>()).map(\.weight)) == [0, 100, 50, 3, 4])
    #expect(mine.weight == 100 && mine.depot?.town == "A" && edited.weight == 50)
    #expect(try context.fetchCount(FetchDescriptor<Parcel>(predicate: #Predicate { $0.weight == 100 })) == 1)
    // A model that both have changed is merged by properties.
    try context.save()
    let saved = try parcel("2", in: ModelContext(container))
    #expect(saved.weight == 50 && saved.depot?.town == "A")
    #expect(mine.depot?.parcels.count == 2)
  }

  // SWD-35
  @Test func `observers learn what a fetch has changed`() throws {
    let context = ModelContext(container)
    let there = ModelContext(try Self.container(rows))
    let mine = try parcel("1", in: context)
    try parcel("1", in: there).weight = 100
    try there.save()
    let changed = Mutex(false)
    withObservationTracking {
      _ = mine.weight
    } onChange: {
      changed.withLock { $0 = true }
    }
    _ = try context.fetch(FetchDescriptor<Parcel>())
    #expect(changed.withLock { $0 } && mine.weight == 100)
  }

  // SWD-35
  @Test func `the values of faults are asked for together`() throws {
    let context = ModelContext(container)
    let depot = Depot("A")
    for weight in 10..<20 { context.insert(Parcel("\(weight)", weight, depot)) }
    try context.save()
    rows.asked = []
    let other = ModelContext(container)
    let found = try #require(try other.fetch(FetchDescriptor<Depot>()).first)
    #expect(found.parcels.map(\.weight).reduce(0, +) == 145)
    // The store has returned no parcels with the depot: they are asked for once.
    #expect(rows.asked == ["Depot", "Parcel"])
  }

  // SWD-35
  @Test func `live results follow other contexts by the condition`() throws {
    let context = ModelContext(container)
    let results = try ResultsObserver<Parcel, Never>(
      filterBy: heavy, sortBy: [SortDescriptor(\.weight)], modelContext: context)
    let other = ModelContext(container)
    other.insert(Parcel("5", 5))
    other.insert(Parcel("-1", -1))
    try parcel("0", in: other).weight = 10
    other.delete(try parcel("3", in: other))
    try other.save()
    context.processPendingChanges()
    #expect(results.results.map(\.weight) == [4, 5, 10])
    context.insert(Parcel("7", 7))
    try parcel("4", in: context).weight = 2
    context.processPendingChanges()
    #expect(results.results.map(\.weight) == [5, 7, 10])
    try context.save()
    #expect(results.results.map(\.weight) == [5, 7, 10])
    try container.erase()
    context.processPendingChanges()
    #expect(results.results.isEmpty && results.fetchError == nil)
  }

  // SWD-13, SWD-35
  @Test func `a store of a program is erased with the snapshots that contexts have of it`() throws {
    let context = ModelContext(container)
    let parcel = try parcel("1", in: context)
    let id = parcel.persistentModelID
    try container.erase()
    #expect(try context.fetch(FetchDescriptor<Parcel>()).isEmpty)
    #expect(parcel.code == "1" && parcel.modelContext == nil && parcel.persistentModelID == id)
    #expect((context.model(for: id) as? Parcel)?.code.isEmpty == true)
    context.insert(parcel)
    try context.save()
    #expect(try weights(ModelContext(container)) == [1])
  }

  // SWD-35
  @Test func `models that were deleted keep their identifiers in every context`() throws {
    let (context, other) = (ModelContext(container), ModelContext(container))
    let (mine, theirs) = (try parcel("1", in: context), try parcel("1", in: other))
    let id = mine.persistentModelID
    other.delete(theirs)
    try other.save()
    #expect(theirs.persistentModelID == id && mine.persistentModelID == id)
    context.processPendingChanges()
    #expect(mine.persistentModelID == id)
    #expect(try weights(context) == [0, 2, 3, 4])
    // A row with the same key is another object.
    let again = try #require(rows.rows.values.first)
    rows.rows[id] = again.copy(persistentIdentifier: id, remappedIdentifiers: [:])
    #expect((ModelContext(container).model(for: id) as? Parcel)?.code.isEmpty == false)
  }
}
