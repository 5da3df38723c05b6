import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

enum TripsOne: VersionedSchema {
  static let versionIdentifier = SchemaVersion(1, 0, 0)
  static let models: [ManagedObject.Type] = [Trip.self]

  final class Trip: ManagedObject {
    @Attribute var name = ""
    @Attribute var days = 0
  }
}

/// Names are unique, and trips have hours.
enum TripsTwo: VersionedSchema {
  static let versionIdentifier = SchemaVersion(2, 0, 0)
  static let models: [ManagedObject.Type] = [Trip.self]

  final class Trip: ManagedObject {
    @Attribute(.unique) var name = ""
    @Attribute var days = 0
    @Attribute var hours = 0
  }
}

/// A name is a title, and there are no days.
enum TripsThree: VersionedSchema {
  static let versionIdentifier = SchemaVersion(2, 1, 0)
  static let models: [ManagedObject.Type] = [Trip.self]

  final class Trip: ManagedObject {
    @Attribute(.unique, renamed: "name") var title = ""
    @Attribute var hours = 0
  }
}

enum TripPlan: SchemaMigrationPlan {
  static let schemas: [any VersionedSchema.Type] = [TripsOne.self, TripsTwo.self, TripsThree.self]
  static let stages: [SchemaMigrationStage] = [
    .custom(
      fromVersion: TripsOne.self, toVersion: TripsTwo.self,
      willMigrate: nil,
      didMigrate: { context in
        for trip in try context.fetch(FetchRequest<TripsTwo.Trip>(entityName: "Trip")) {
          trip.hours = trip.days * 24
        }
        try context.save()
      }),
    .lightweight(fromVersion: TripsTwo.self, toVersion: TripsThree.self),
  ]
}

enum QuickTripPlan: SchemaMigrationPlan {
  static let schemas: [any VersionedSchema.Type] = [TripsOne.self, TripsTwo.self]
  static let stages: [SchemaMigrationStage] = [
    .custom(
      fromVersion: TripsOne.self, toVersion: TripsTwo.self,
      willMigrate: nil,
      didMigrate: { context in
        let request = BatchUpdateRequest(TripsTwo.Trip.self)
        request.set(\TripsTwo.Trip.hours) { $0.days * 24 }
        try context.execute(request)
      })
  ]
}

enum LoansOne: VersionedSchema {
  static let versionIdentifier = SchemaVersion(1, 0, 0)
  static let models: [ManagedObject.Type] = [Item.self, Loan.self, LongLoan.self]

  final class Item: ManagedObject {
    @Attribute var name = ""
  }
  class Loan: ManagedObject {
    @Attribute var person = ""
    @Relationship var item: Item?
  }
  final class LongLoan: Loan {
    @Attribute var months = 0
  }
}

/// Loans are lendings.
enum LoansTwo: VersionedSchema {
  static let versionIdentifier = SchemaVersion(2, 0, 0)
  static let models: [ManagedObject.Type] = [Item.self, Lending.self, LongLoan.self]

  final class Item: ManagedObject {
    @Attribute var name = ""
  }
  class Lending: ManagedObject {
    override class var renamed: String? { "Loan" }

    @Attribute(renamed: "person") var borrower = ""
    @Relationship var item: Item?
  }
  final class LongLoan: Lending {
    @Attribute var months = 0
  }
}

@Suite struct `Examples of migrations` {
  // MIG-06, SWD-29
  @Test func `a renamed class names its former one, and its objects stay`() throws {
    let folder = try TemporaryFolder()
    let first = try PersistentContainer(name: "Loans", schema: LoansOne.self, at: folder.store)
    let context = first.newBackgroundContext()
    let (loan, long) = (LoansOne.Loan(context: context), LoansOne.LongLoan(context: context))
    let item = LoansOne.Item(context: context)
    (item.name, loan.person, loan.item) = ("Atlas", "Ada", item)
    (long.person, long.months) = ("Bob", 3)
    try context.save()
    try first.close()
    #expect(
      try MappingModel.differences(
        from: LoansOne.makeManagedObjectModel(), to: LoansTwo.makeManagedObjectModel()) == [
          "Loan is renamed to Lending", "Lending.borrower is renamed from person",
        ])
    let second = try PersistentContainer(name: "Loans", schema: LoansTwo.self, at: folder.store)
    let newer = second.newBackgroundContext()
    let lendings = try newer.fetch(LoansTwo.Lending.self)
    #expect(lendings.map(\.borrower) == ["Ada", "Bob"] && lendings.map { $0.item?.name } == ["Atlas", nil])
    #expect((lendings.last as? LoansTwo.LongLoan)?.months == 3)
    #expect(try second.persistentStoreCoordinator.verify().findings == [])
    try second.close()
  }

  // MIG-22, BAT-06
  @Test func `a stage computes the values of all objects by a batch update`() throws {
    let folder = try TemporaryFolder()
    let first = try PersistentContainer(name: "Trips", schema: TripsOne.self, at: folder.store)
    let context = first.newBackgroundContext()
    for days in 0..<50 {
      let trip = TripsOne.Trip(context: context)
      (trip.name, trip.days) = ("\(days)", days)
    }
    try context.save()
    try first.close()
    let container = try PersistentContainer(
      name: "Trips", schema: TripsTwo.self, migrationPlan: QuickTripPlan.self, at: folder.store)
    let trips = try container.newBackgroundContext().fetch(FetchRequest<TripsTwo.Trip>(entityName: "Trip"))
    #expect(trips.count == 50 && trips.allSatisfy { $0.hours == $0.days * 24 })
    try container.close()
  }

  // MIG-07, MIG-19, SWD-29
  @Test func `a plan leads from the first version to the last, after a rehearsal`() throws {
    let folder = try TemporaryFolder()
    let url = folder.store
    let first = try PersistentContainer(name: "Trips", schema: TripsOne.self, at: url)
    let context = first.newBackgroundContext()
    let trip = TripsOne.Trip(context: context)
    (trip.name, trip.days) = ("Rome", 3)
    try context.save()
    try first.close()
    let (former, newer) = (try TripsOne.makeManagedObjectModel(), try TripsThree.makeManagedObjectModel())
    for sentence in try MappingModel.differences(from: former, to: newer) { print(sentence) }
    #expect(
      try MappingModel.differences(from: former, to: newer) == [
        "Trip.hours is new, and 0 in objects that exist", "Trip.title is renamed from name",
        "Trip.days is removed, with its values", "Trip must be unique in title",
      ])
    let report = try PersistentStoreCoordinator.rehearseMigration(ofStoreAt: url, to: newer)
    print(report?.changes ?? [], report?.deletedObjects ?? [:], report?.bytesWritten ?? 0)
    for violation in report?.violations ?? [] { print(violation, violation.objectIDs) }
    #expect(report?.builtIndexes == ["Trip.title"] && report?.hasDeferredWork == true)
    func rehearseStages() throws -> MigrationReport? {
      let description = PersistentStoreDescription(url: url)
      description.stagedMigrationManager = try TripPlan.makeManager()
      let report = try PersistentStoreCoordinator.rehearseMigration(with: description, to: newer)
      return report
    }
    #expect(try rehearseStages()?.violations.isEmpty == true)
    #expect(
      try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url).versionChecksum
        == former.versionChecksum)
    let container = try PersistentContainer(
      name: "Trips", schema: TripsThree.self, migrationPlan: TripPlan.self, at: url)
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    func finish() throws {
      if try store.metadata[PersistentStore.MetadataKey.hasDeferredLightweightMigration] != nil {
        try coordinator.finishDeferredLightweightMigration()
      }
    }
    try finish()
    let trips = try container.newBackgroundContext().fetch(FetchRequest<TripsThree.Trip>(entityName: "Trip"))
    #expect(trips.map(\.title) == ["Rome"] && trips.map(\.hours) == [72])
    try container.close()
  }

  // MIG-09
  @Test func `an entity is mapped by code`() throws {
    let folder = try TemporaryFolder()
    func open(_ entity: String, _ attributes: [String], _ description: PersistentStoreDescription) throws
      -> (ManagedObjectContext, EntityDescription)
    {
      let entity = EntityDescription(
        name: entity, properties: attributes.map { AttributeDescription(name: $0, type: .string) })
      let coordinator = PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel(entities: [entity]))
      try coordinator.addPersistentStore(with: description)
      return (ManagedObjectContext(.privateQueue, coordinator: coordinator), entity)
    }
    let description = PersistentStoreDescription(url: folder.store)
    let (context, entity) = try open("Person", ["name"], description)
    ManagedObject(entity: entity, insertInto: context).setValue("Ada Lovelace", forKey: "name")
    try context.save()
    try context.persistentStoreCoordinator?.close()
    let person = EntityMapping(from: "Person", to: "Owner")
    person.attributeMappings = [
      PropertyMapping(name: "first") { source, _ in
        (source.value(forKey: "name") as? String)?.split(separator: " ").first.map(String.init)
      }
    ]
    description.mappingModel = MappingModel(entityMappings: [person])
    person.attributeMappings.append(
      try PropertyMapping(name: "greeting", valueExpression: #""Dear " + $source.name"#))
    let (migrated, _) = try open("Owner", ["first", "greeting"], description)
    let owners = try migrated.fetch(FetchRequest<ManagedObject>(entityName: "Owner"))
    #expect(owners.map { $0.value(forKey: "first") as? String } == ["Ada"])
    #expect(owners.map { $0.value(forKey: "greeting") as? String } == ["Dear Ada Lovelace"])
    try migrated.persistentStoreCoordinator?.close()
  }
}
