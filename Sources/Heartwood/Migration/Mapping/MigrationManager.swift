import Foundation
import HeartwoodBytes
import HeartwoodFiles

/// Migrates a store to another one by a mapping model, in three passes: objects, relationships, validation.
///
/// Objects are worked on in parts: memory holds one part with its destinations, and which objects have become which, in a few bytes for
/// objects that follow one another in both stores. The objects of the destination have new identifiers. `cancelMigrationWithError(_:)` and `migrationProgress` may be used from other threads.
///
/// A subclass may override what policies call, add functions for the expressions of mappings with `value(forFunction:arguments:)`, and follow
/// the migration in `progressDidChange()`.
open class MigrationManager: NSObject, @unchecked Sendable {
  /// The model of the source.
  open var sourceModel: ManagedObjectModel { givenSourceModel }
  /// The model of the destination.
  open var destinationModel: ManagedObjectModel { givenDestinationModel }
  /// Whether an inferred mapping model that was not changed is carried out by the store itself, in a copy of the source: objects keep their
  /// identifiers, and `currentEntityMapping` and associations are not set. With false, or where a store exists already, each object is
  /// copied.
  open var usesStoreSpecificMigrationManager = true
  /// The program's own values, for policies: `userInfo`, under a name that the module `CoreData` does not have.
  package final var anyUserInfo: [String: Any] = [:]
  /// The context of the source store.
  ///
  /// - Precondition: The migration runs.
  open var sourceContext: ManagedObjectContext { running(contexts?.source) }
  /// The context of the destination store.
  ///
  /// - Precondition: The migration runs.
  open var destinationContext: ManagedObjectContext { running(contexts?.destination) }

  private let givenSourceModel: ManagedObjectModel
  private let givenDestinationModel: ManagedObjectModel
  package private(set) final var usedMappingModel: MappingModel?
  package private(set) final var workedMapping: EntityMapping?
  private var contexts: (source: ManagedObjectContext, destination: ManagedObjectContext)?
  private(set) final var associations = MigrationAssociations()
  /// The newest objects that policies have made of no object of the source.
  final var objectsOfPolicies: [ManagedObject] = []
  final var log = MigrationLog(nil)
  /// Whether the objects that were made are validated. Not those that are copied as they are.
  final var validatesObjects = true
  /// The rehearsal that collects findings; nil to throw them.
  final var rehearsal: MappedRehearsal?
  final var resolutions = MappingResolutions()
  private let cancellation = Guarded<(any Error)?>(nil)
  private let steps = Guarded((done: 0, all: 0))

  /// A manager for stores of these models.
  ///
  /// - Parameters:
  ///   - sourceModel: The model of the source.
  ///   - destinationModel: The model of the destination.
  public init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel) {
    givenSourceModel = sourceModel
    givenDestinationModel = destinationModel
  }

  /// Called on the thread that migrates when `migrationProgress` has changed; does nothing.
  open func progressDidChange() {}

  /// The value of a function that an expression calls with `FUNCTION($manager, name, …)`, beside those of every manager. This
  /// implementation throws: override it for the functions that mappings have.
  ///
  /// - Parameters:
  ///   - name: The name of the function, as the expression has it.
  ///   - arguments: The values of its arguments.
  open func value(forFunction name: String, arguments: [Any?]) throws -> Any? {
    throw HeartwoodError(
      .entityMigrationPolicy,
      "\(type(of: self)) has no function \(name): override value(forFunction:arguments:)")
  }

  /// Ends the migration with an error, at the next object.
  ///
  /// - Parameter error: The error that the migration throws, as `underlying` of `.migrationCancelled`.
  open func cancelMigrationWithError(_ error: any Error) { cancellation.withLock { $0 = error } }

  /// Forgets all associations.
  open func reset() { associations.removeAll() }

  private func running<Value>(_ value: Value?) -> Value {
    guard let value else { programError("a migration manager has contexts only while it migrates") }
    return value
  }

  // MARK: Entities and associations

  /// The source's entity of a mapping; nil if it has none.
  open func sourceEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
  }

  /// The destination's entity of a mapping; nil if it has none.
  open func destinationEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
  }

  /// Notes that an object has become another.
  ///
  /// - Parameters:
  ///   - source: An object of the source.
  ///   - destination: An object of the destination.
  ///   - mapping: The mapping by which it was made.
  open func associate(
    sourceInstance source: ManagedObject, withDestinationInstance destination: ManagedObject,
    for mapping: EntityMapping
  ) {
    associations.add(source, destination, mapping.name)
  }

  /// The objects that objects of the source have become.
  ///
  /// - Parameters:
  ///   - mappingName: The name of the mapping by which they were made; nil for any.
  ///   - sourceInstances: Objects of the source.
  @_disfavoredOverload
  open func destinationInstances(
    forEntityMappingName mappingName: String?, sourceInstances: [ManagedObject]
  ) -> [ManagedObject] {
    sourceInstances.flatMap { destinations(of: $0.objectID, mappingName) }
  }

  final func destinations(of source: ManagedObjectID, _ mappingName: String?) -> [ManagedObject] {
    associations.destinations(of: source, mappingName).map(destinationContext.object(with:))
      + associations.unsavedDestinations(of: source, mappingName)
  }

  /// The objects of which objects of the destination were made.
  ///
  /// - Parameters:
  ///   - mappingName: The name of the mapping by which they were made.
  ///   - destinationInstances: Objects of the destination.
  @_disfavoredOverload
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [ManagedObject]
  ) -> [ManagedObject] {
    destinationInstances.flatMap { destination in
      associations.sources(of: destination.objectID, mappingName).map(sourceContext.object(with:))
    }
  }

  final func makeDestinationInstance(of mapping: EntityMapping) throws -> ManagedObject {
    guard let entity = destinationEntity(for: mapping) else {
      throw HeartwoodError(
        .entityMigrationPolicy,
        "the mapping \(mapping.name) makes objects, and has no entity of the destination")
    }
    guard !entity.isAbstract else { throw HeartwoodError.abstract(entity, mapping) }
    let object = ObjectMaking.make(entity.factory.objectClass, entity, insertInto: destinationContext)
    rehearsal?.made.append(object)
    return object
  }

  // MARK: The migration

  /// Migrates a store to another one.
  ///
  /// - Parameters:
  ///   - source: The folder of the source. It is not changed.
  ///   - mapping: The mapping model.
  ///   - destination: The folder of the destination. If there is a store, objects are added to it.
  ///   - sourceOptions: Options for opening the source.
  ///   - destinationOptions: Options for opening the destination.
  /// - Throws: `.migrationManagerSourceStore` and `.migrationManagerDestinationStore` if a store cannot be opened, with the reason as
  ///   `underlying`; `.migrationCancelled`; `.entityMigrationPolicy` with the object's identifier and what a policy has thrown as
  ///   `underlying`; the errors of validation and of saves. The destination is not usable then, and removed if it was new.
  public func migrateStore(
    from source: URL, withMapping mapping: MappingModel, to destination: URL,
    sourceOptions: PersistentStore.Options? = nil, destinationOptions: PersistentStore.Options? = nil
  ) throws {
    let from = PersistentStoreDescription(type: .ofStore(at: source), url: source, options: sourceOptions)
    from.isReadOnly = true
    let to = PersistentStoreDescription(
      type: .ofStore(at: destination), url: destination, options: destinationOptions)
    try migrate(from, mapping, to)
  }

  /// - Parameter finish: Gets the coordinator of the destination before it is closed.
  final func migrate(
    _ source: PersistentStoreDescription, _ mapping: MappingModel, _ destination: PersistentStoreDescription,
    finish: (PersistentStoreCoordinator) throws -> Void = { _ in }
  ) throws {
    usedMappingModel = mapping
    if usesStoreSpecificMigrationManager, try migrateInPlace(source, mapping, destination) {
      return noteSteps { $0 = (1, 1) }
    }
    let from = try opened(source, sourceModel, .migrationManagerSourceStore)
    defer { try? from.close() }
    let isNew = isMissing(destination)
    let to = try opened(destination, destinationModel, .migrationManagerDestinationStore)
    do {
      try migrate(from, mapping, to)
      try finish(to)
    } catch {
      // It has objects that may not be valid, and perhaps not all.
      try? to.close()
      if isNew { remove(destination) }
      throw error
    }
    try to.close()
  }

  /// Migrates the objects of the stores of one coordinator to those of another one, both of which stay open.
  final func migrate(
    _ from: PersistentStoreCoordinator, _ mapping: MappingModel, _ to: PersistentStoreCoordinator
  ) throws {
    let contexts = (
      source: ManagedObjectContext(.privateQueue, coordinator: from),
      destination: ManagedObjectContext(.privateQueue, coordinator: to)
    )
    contexts.destination.validatesAtSave = false
    self.contexts = contexts
    usedMappingModel = mapping
    // Those of an earlier migration are of objects of other stores, or of other objects.
    associations.removeAll()
    noteSteps { $0 = (0, mapping.entityMappings.count * 3) }
    defer { (self.contexts, workedMapping, objectsOfPolicies) = (nil, nil, []) }
    try contexts.source.performAndWait {
      try contexts.destination.performAndWait {
        try run(mapping.entityMappings)
        try rehearsal?.count(self)
      }
    }
  }

  private func opened(
    _ description: PersistentStoreDescription, _ model: ManagedObjectModel, _ code: HeartwoodError.Code
  ) throws -> PersistentStoreCoordinator {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    do {
      try coordinator.addPersistentStore(with: description)
    } catch {
      throw HeartwoodError(code, "the migration cannot begin: \(error)", underlying: error)
    }
    return coordinator
  }

  private func run(_ mappings: [EntityMapping]) throws {
    try check(mappings)
    try pass("objects", mappings) { mapping in
      try mapping.policy.begin(mapping, with: self)
      resolutions = MappingResolutions()
      try createInstances(mapping)
      try mapping.policy.endInstanceCreation(forMapping: mapping, manager: self)
    }
    try pass("relationships", mappings) { mapping in
      try forEachMade("relationships", mapping) { object in
        try explaining(mapping, object) {
          try mapping.policy.createRelationships(forDestination: object, in: mapping, manager: self)
        }
      }
      try mapping.policy.endRelationshipCreation(forMapping: mapping, manager: self)
    }
    guard validatesObjects else { return }
    try pass("validation", mappings) { mapping in
      try forEachMade("validation", mapping) { object in
        try explaining(mapping, object) {
          try HeartwoodError.uncarried { try object.validateForInsert() }
        }
        rehearsal?.validateCounts(object, mapping, self)
      }
      try mapping.policy.performCustomValidation(forMapping: mapping, manager: self)
      try mapping.policy.end(mapping, manager: self)
    }
  }

  private func pass(
    _ name: String, _ mappings: [EntityMapping], _ body: (EntityMapping) throws -> Void
  ) throws {
    for mapping in mappings {
      workedMapping = mapping
      // Code between the passes may have changed the mappings.
      resolutions = MappingResolutions()
      try log.step("\(name) of \(mapping.name)") {
        try body(mapping)
        try save()
      }
      noteSteps { $0.done += 1 }
    }
  }

  private func noteSteps(_ change: (inout (done: Int, all: Int)) -> Void) {
    steps.withLock { change(&$0) }
    progressDidChange()
  }

  /// How many objects are in memory at a time.
  private static let part = 500

  private func createInstances(_ mapping: EntityMapping) throws {
    guard let name = mapping.sourceEntityName, mapping.mappingType != .remove,
      mapping.destinationEntityName != nil,
      sourceEntity(for: mapping)?.isAbstract == false
    else { return }
    let request = FetchRequest<ManagedObject>(entityName: name)
    request.includesSubentities = false
    request.predicate = mapping.sourcePredicate
    let counter = try log.counter("objects of \(mapping.name)", of: sourceContext.count(for: request))
    defer { counter?.finish() }
    try sourceContext.enumerate(request, batchSize: Self.part) { objects in
      for object in objects {
        try checkCancelled()
        try explaining(mapping, object) {
          try mapping.policy.createDestinationInstances(forSource: object, in: mapping, manager: self)
        }
        counter?.advance()
      }
      try save()
    }
  }

  /// Calls `body` with the objects that a mapping has made, and saves them in parts.
  private func forEachMade(
    _ what: String, _ mapping: EntityMapping, _ body: (ManagedObject) throws -> Void
  ) throws {
    let counts = associations.madeCounts(mapping.name)
    let counter = log.counter("\(what) of \(mapping.name)", of: counts.reduce(0, +))
    defer { counter?.finish() }
    for (family, count) in counts.enumerated() {
      for place in 0..<count {
        guard let id = associations.made(mapping.name, family, at: place) else { continue }
        try checkCancelled()
        guard let object = try madeObject(id) else { continue }
        try body(object)
        counter?.advance()
        // Objects with many destinations register all of them.
        if place % Self.part == Self.part - 1 || knowsTooMany { try save() }
      }
      try save()
    }
  }

  /// An object that a mapping has made; nil if a rehearsal has deleted it.
  final func madeObject(_ id: ManagedObjectID) throws -> ManagedObject? {
    do {
      return try destinationContext.existingObject(with: id)
    } catch let error as HeartwoodError
      where rehearsal != nil && error.code == .managedObjectReferentialIntegrity
    {
      return nil
    }
  }

  /// Forgets objects that were made and have left the destination: no relationship leads to them.
  final func forget(_ made: [ManagedObject]) {
    associations.removeUnsaved(Set(made.map(ObjectIdentifier.init)))
  }

  private func save() throws {
    // An object that could not be read looks empty, and resetting the contexts forgets why.
    for context in [sourceContext, destinationContext] { try context.throwIfUnreadable() }
    keepObjectsOfPolicies()
    while destinationContext.hasChanges {
      do {
        try destinationContext.save()
      } catch let error as HeartwoodError {
        let explained = error.ofMigration(workedMapping)
        guard let rehearsal, let mapping = workedMapping else { throw explained }
        let removed = rehearsal.removeDuplicates(explained, mapping, self)
        guard !removed.isEmpty else { throw explained }
        associations.removeUnsaved(removed)
      }
    }
    associations.noteSaved()
    turnIntoFaults()
  }

  private var sourcePath: String {
    sourceContext.persistentStoreCoordinator?.persistentStores.first.map { LogStore.path(of: $0.url) }
      ?? "the source"
  }

  private func checkCancelled() throws {
    guard let error = cancellation.withLock({ $0 }) else { return }
    throw HeartwoodError(
      .migrationCancelled,
      "the migration of \(sourcePath) was cancelled, and the store is as it was: migrate it again (\(error))",
      underlying: error)
  }
}

/// Values that the module `CoreData` has with other types under the same names.
public protocol _MigrationManagerValues {}

extension MigrationManager: _MigrationManagerValues {
  /// How much is done, from 0 to 1: each mapping counts three times.
  package final var doneShare: Double {
    steps.withLock { $0.all == 0 ? 0 : Double($0.done) / Double($0.all) }
  }
}

extension _MigrationManagerValues where Self: MigrationManager {
  /// How much is done, from 0 to 1: each mapping counts three times.
  public var migrationProgress: Double { doneShare }

  /// The mapping model; nil before the migration.
  public var mappingModel: MappingModel? { usedMappingModel }

  /// The mapping that is worked on; nil before and after the migration.
  public var currentEntityMapping: EntityMapping? { workedMapping }

  /// The program's own values, for policies.
  public var userInfo: [String: Any] {
    get { anyUserInfo }
    nonmutating set { anyUserInfo = newValue }
  }
}
