import Foundation
import Heartwood

/// Copies a store to PostgreSQL, or one from there to another kind, and checks the copy object by object.
///
/// Objects keep their numbers, and the copy has the identifier of the store, so their URIs stay valid. A copy to PostgreSQL that was interrupted is
/// continued by the next call with the same places: what is copied already is not copied again, unless the store was changed meanwhile. One
/// from there starts again. Until it is whole, no store is at the destination. The history is not copied.
public struct StoreCopy: Sendable {
  /// How far a copy is.
  public struct Step: Sendable {
    /// The step that is done now, such as "objects of Person".
    public let name: String
    /// How many are done, and of how many.
    public let done: Int, total: Int
  }

  /// The number of objects and destinations that were copied and compared.
  public struct Report: Sendable {
    /// How many objects were compared, by the names of their entities.
    public internal(set) var objects: [String: Int] = [:]
    /// How many objects an earlier call had copied already.
    public internal(set) var continuedFrom = 0
    /// How many destinations of relationships were compared.
    public internal(set) var links = 0
  }

  let source: URL
  let destination: URL
  let progress: (@Sendable (Step) -> Void)?

  /// A copy.
  ///
  /// - Parameters:
  ///   - source: The store: a `postgres://` URL, or the folder or file of a store that comes with Heartwood.
  ///   - destination: Where no store is: a URL of the other kind. A file URL becomes a store of type Log.
  ///   - progress: Is told of each few thousand objects.
  public init(from source: URL, to destination: URL, progress: (@Sendable (Step) -> Void)? = nil) {
    (self.source, self.destination, self.progress) = (source, destination, progress)
  }

  /// Copies and compares.
  ///
  /// Transformable values are copied as bytes: call it in a program that has not registered their transformers.
  ///
  /// - Returns: The number of objects and destinations that were compared.
  /// - Throws: `.persistentStoreOperation` if a store is at the destination, if both or none are of PostgreSQL, or if an object of the copy is
  ///   not as it is in the store; `.persistentStoreTimeout` if another program copies to the same place; the errors of opening, reading and
  ///   saving.
  public func run() throws -> Report {
    PostgresStore.register()
    let (isFromPostgres, isToPostgres) = (
      PostgresStore.recognises(source), PostgresStore.recognises(destination)
    )
    guard isFromPostgres != isToPostgres else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "nothing was copied: one of the two places must be a postgres:// URL, and the other one the place of a store of files; "
          + "stores in PostgreSQL are copied by replacePersistentStore")
    }
    let model = try model()
    KeptBytes.register(for: model)
    var report = Report()
    if isToPostgres {
      report.continuedFrom = try CopyToPostgres(self, model).run()
    } else {
      try copyFromPostgres(model)
    }
    try StoreComparison(self, model).run(&report)
    return report
  }

  private func model() throws -> ManagedObjectModel {
    guard PostgresStore.recognises(source) else {
      return try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: source)
    }
    if let model = try PostgresStore.managedObjectModel(ofStoreAt: source) { return model }
    throw HeartwoodError(.persistentStoreOpen, "there is no store at \(try PostgresAddress(source).text)")
  }

  func coordinator(_ place: URL, _ model: ManagedObjectModel) throws -> PersistentStoreCoordinator {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let description = PersistentStoreDescription(url: place)
    description.type =
      PostgresStore.recognises(place)
      ? .postgres : PersistentStoreCoordinator.typeOfPersistentStore(at: place) ?? .log
    description.isReadOnly = true
    description.shouldMigrateStoreAutomatically = false
    try coordinator.addPersistentStore(with: description)
    return coordinator
  }

  private func copyFromPostgres(_ model: ManagedObjectModel) throws {
    guard PersistentStoreCoordinator.typeOfPersistentStore(at: destination) == nil else {
      // One that was copied before, and not compared: the comparison says whether it is this one.
      return
    }
    let coordinator = try coordinator(source, model)
    defer { try? coordinator.close() }
    guard let store = coordinator.persistentStores.first else { return }
    var tell: (@Sendable (MigrationProgress) -> Void)?
    if let progress {
      tell = { progress(Step(name: $0.step, done: $0.rows, total: $0.totalRows)) }
    }
    try coordinator.migratePersistentStore(
      store, to: destination, options: [.readOnly: true], type: .log, progress: tell)
  }

  func tell(_ name: String, _ done: Int, of total: Int) {
    progress?(Step(name: name, done: done, total: total))
  }

  /// The roots of the entities of a model, in the order of their names.
  static func roots(_ model: ManagedObjectModel) -> [EntityDescription] {
    model.entities.filter { $0.superentity == nil }.sorted { ($0.name ?? "") < ($1.name ?? "") }
  }

  static func request(_ root: EntityDescription) -> FetchRequest<ManagedObject> {
    FetchRequest<ManagedObject>(entityName: root.name ?? "")
  }
}

/// Compares two stores object by object.
struct StoreComparison {
  private let copy: StoreCopy
  private let model: ManagedObjectModel
  private static let atOnce = 1000

  init(_ copy: StoreCopy, _ model: ManagedObjectModel) { (self.copy, self.model) = (copy, model) }

  /// - Throws: `.persistentStoreOperation` at the first difference.
  func run(_ report: inout StoreCopy.Report) throws {
    let (left, right) = (
      try copy.coordinator(copy.source, model), try copy.coordinator(copy.destination, model)
    )
    defer {
      try? left.close()
      try? right.close()
    }
    guard left.persistentStores.first?.identifier == right.persistentStores.first?.identifier else {
      throw difference("the identifiers of the stores differ")
    }
    for root in StoreCopy.roots(model) { try compare(root, left, right, &report) }
  }

  private func difference(_ what: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOperation,
      "the copy is not like the store: \(what); if the store was changed since, remove the copy, and copy it again"
    )
  }

  private func compare(
    _ root: EntityDescription, _ left: PersistentStoreCoordinator, _ right: PersistentStoreCoordinator,
    _ report: inout StoreCopy.Report
  ) throws {
    let (first, second) = (
      ManagedObjectContext(.privateQueue, coordinator: left),
      ManagedObjectContext(.privateQueue, coordinator: right)
    )
    let name = root.name ?? ""
    let total = try first.performAndWait { try first.count(for: StoreCopy.request(root)) }
    let copied = try second.performAndWait { try second.count(for: StoreCopy.request(root)) }
    guard total == copied else {
      throw difference("it has \(copied) objects of \(name), and the store \(total)")
    }
    var done = 0
    try first.performAndWait {
      try first.enumerate(request(root), batchSize: Self.atOnce) { batch in
        let wanted = try read(batch)
        let found = try second.performAndWait {
          try others(wanted.map(\.object.number), root, second, right)
        }
        for one in wanted { try compare(one, found[one.object.number], name, &report) }
        done += wanted.count
        copy.tell("compared \(name)", done, of: total)
      }
    }
  }

  /// An object and the numbers of its destinations, by the names of its to-many relationships in their order.
  private struct Read {
    let object: CopiedObject
    let destinations: [[Int64]]
  }

  private func compare(
    _ one: Read, _ other: Read?, _ name: String, _ report: inout StoreCopy.Report
  ) throws {
    let number = one.object.number
    guard let other else { throw difference("\(name) \(number) is missing") }
    guard one.object.isSame(as: other.object) else {
      throw difference("the values of \(name) \(number) differ")
    }
    guard one.destinations == other.destinations else {
      throw difference("the relationships of \(name) \(number) differ")
    }
    report.objects[one.object.entity.name ?? "", default: 0] += 1
    report.links += one.destinations.reduce(0) { $0 + $1.count }
  }

  /// A request that loads to-many relationships with the objects.
  private func request(_ root: EntityDescription) -> FetchRequest<ManagedObject> {
    let request = StoreCopy.request(root)
    request.relationshipKeyPathsForPrefetching = root.relationshipsByName.values.filter {
      $0.isToMany && !$0.isTransient
    }.map(\.name)
    return request
  }

  private func read(_ objects: [ManagedObject]) throws -> [Read] {
    try objects.map { object in
      let toMany = object.entity.relationshipsByName.values.filter { $0.isToMany && !$0.isTransient }
      return Read(
        object: try CopiedObject(object),
        destinations: try toMany.sorted { $0.name < $1.name }.map {
          try CopiedObject.destinations($0, of: object)
        })
    }
  }

  private func others(
    _ numbers: [Int64], _ root: EntityDescription, _ context: ManagedObjectContext,
    _ coordinator: PersistentStoreCoordinator
  ) throws -> [Int64: Read] {
    defer { context.reset() }
    guard let store = coordinator.persistentStores.first else { return [:] }
    let identifiers = numbers.compactMap { number in
      if let postgres = store as? PostgresStore { return postgres.object(root, number) }
      let uri = URL(string: "x-coredata://\(store.identifier)/\(root.name ?? "")/p\(number)")
      return uri.flatMap { coordinator.managedObjectID(forURIRepresentation: $0) }
    }
    let request = request(root)
    request.predicate = try FormatPredicate("SELF IN %@", argumentArray: [identifiers])
    let read = try read(context.fetch(request))
    return Dictionary(read.map { ($0.object.number, $0) }, uniquingKeysWith: { first, _ in first })
  }
}
