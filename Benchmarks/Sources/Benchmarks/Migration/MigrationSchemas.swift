import Heartwood

/// The persons of the migration's rows: the former model and the ones that they are migrated to.
enum FormerPeople: VersionedSchema {
  static let versionIdentifier = SchemaVersion(1, 0, 0)
  static let models: [ManagedObject.Type] = [Human.self]

  final class Human: ManagedObject {
    @Attribute var number: Int64
    @Attribute(.unique) var email = ""
    @Attribute(.indexed) var name = ""
    @Attribute var age: Int64
    @Attribute var score: Double
    @Attribute var joined: Int64
  }
}

/// With one more optional attribute.
enum NotedPeople: VersionedSchema {
  static let versionIdentifier = SchemaVersion(2, 0, 0)
  static let models: [ManagedObject.Type] = [Human.self]

  final class Human: ManagedObject {
    @Attribute var number: Int64
    @Attribute(.unique) var email = ""
    @Attribute(.indexed) var name = ""
    @Attribute var age: Int64
    @Attribute var score: Double
    @Attribute var joined: Int64
    @Attribute var note: String?
  }
}

/// With one more mandatory attribute: a default where no code computes it.
enum RankedPeople: VersionedSchema {
  static let versionIdentifier = SchemaVersion(3, 0, 0)
  static let models: [ManagedObject.Type] = [Human.self]

  final class Human: ManagedObject {
    @Attribute var number: Int64
    @Attribute(.unique) var email = ""
    @Attribute(.indexed) var name = ""
    @Attribute var age: Int64
    @Attribute var score: Double
    @Attribute var joined: Int64
    @Attribute var rank: Int64 = 7
  }
}

/// The new attribute by code, in batches.
enum RankingPlan: SchemaMigrationPlan {
  static let schemas: [any VersionedSchema.Type] = [FormerPeople.self, RankedPeople.self]
  static let stages: [SchemaMigrationStage] = [
    .custom(
      fromVersion: FormerPeople.self, toVersion: RankedPeople.self, willMigrate: nil,
      didMigrate: { context in
        try context.enumerate(FetchRequest<RankedPeople.Human>(entityName: "Human"), batchSize: 10_000) {
          for person in $0 { person.rank = person.age * 100 + person.number % 100 }
          try context.save()
        }
      })
  ]
}

/// The new attribute by one batch update.
enum BatchRankingPlan: SchemaMigrationPlan {
  static let schemas: [any VersionedSchema.Type] = [FormerPeople.self, RankedPeople.self]
  static let stages: [SchemaMigrationStage] = [
    .custom(
      fromVersion: FormerPeople.self, toVersion: RankedPeople.self, willMigrate: nil,
      didMigrate: { context in
        let request = BatchUpdateRequest(RankedPeople.Human.self)
        request.set(\RankedPeople.Human.rank) { $0.age * 100 + $0.number % 100 }
        try context.execute(request)
      })
  ]
}
