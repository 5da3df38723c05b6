import Foundation
import SwiftData
import Testing

enum ErrorVersions {
  enum First: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Note.self] }
    @Model
    final class Note {
      @Attribute(hashModifier: "1") var text: String
      init(_ text: String) { self.text = text }
    }
  }

  /// The same property; the modifier alone makes it another version.
  enum Second: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Note.self] }
    @Model
    final class Note {
      @Attribute(hashModifier: "2") var text: String
      init(_ text: String) { self.text = text }
    }
  }

  enum Third: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Note.self] }
    @Model
    final class Note {
      @Attribute(hashModifier: "2") var text: String
      var pages: Int?
      init(_ text: String) { self.text = text }
    }
  }

  enum Plan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
    static var stages: [MigrationStage] {
      [
        .custom(
          fromVersion: First.self, toVersion: Second.self,
          willMigrate: { context in
            for note in try context.fetch(FetchDescriptor<First.Note>()) { note.text += " will" }
            try context.save()
          },
          didMigrate: { context in
            for note in try context.fetch(FetchDescriptor<Second.Note>()) { note.text += " did" }
            try context.save()
          })
      ]
    }
  }
}

@Model class Account {
  @Attribute(.unique) var number: String
  init(_ number: String) { self.number = number }
}
@Model final class Savings: Account { override init(_ number: String) { super.init(number) } }
@Model final class Checking: Account { override init(_ number: String) { super.init(number) } }

/// Errors of containers, contexts and histories, and what stays as it was after them.
struct ErrorTests {
  private func store(_ folder: URL) -> ModelConfiguration {
    ModelConfiguration(url: folder.appending(path: "a.store"))
  }

  private func write<Note: PersistentModel>(_ note: Note, _ version: any VersionedSchema.Type, _ folder: URL)
    throws
  {
    let container = try ModelContainer(
      for: Schema(versionedSchema: version), configurations: [store(folder)])
    let context = ModelContext(container)
    context.insert(note)
    try context.save()
  }

  // SWD-03, SWD-29
  @Test func `a hash modifier alone makes a migration run, once`() throws {
    try Library.inFolder { folder in
      try write(ErrorVersions.First.Note("a"), ErrorVersions.First.self, folder)
      for _ in 0..<2 {
        let container = try ModelContainer(
          for: Schema(versionedSchema: ErrorVersions.Second.self), migrationPlan: ErrorVersions.Plan.self,
          configurations: [store(folder)])
        let notes = try ModelContext(container).fetch(FetchDescriptor<ErrorVersions.Second.Note>())
        #expect(notes.map(\.text) == ["a will did"])
      }
    }
    let note = try #require(Schema([ErrorVersions.First.Note.self]).entitiesByName["Note"])
    #expect(note.attributesByName["text"]?.hashModifier == "1")
    #expect(note != Schema([ErrorVersions.Second.Note.self]).entitiesByName["Note"])
  }

  // SWD-29, SWD-40
  @Test func `a store of a later version is not migrated back`() throws {
    try Library.inFolder { folder in
      try write(ErrorVersions.Second.Note("a"), ErrorVersions.Second.self, folder)
      #expect {
        try ModelContainer(
          for: Schema(versionedSchema: ErrorVersions.First.self), migrationPlan: ErrorVersions.Plan.self,
          configurations: [store(folder)])
      } throws: {
        SwiftDataError.backwardMigration ~= $0
      }
      let container = try ModelContainer(
        for: Schema(versionedSchema: ErrorVersions.Second.self), configurations: [store(folder)])
      #expect(
        try ModelContext(container).fetch(FetchDescriptor<ErrorVersions.Second.Note>()).map(\.text) == ["a"])
    }
  }

  // SWD-29, SWD-40
  @Test func `a store of a version that the plan lacks is refused`() throws {
    try Library.inFolder { folder in
      try write(ErrorVersions.Third.Note("a"), ErrorVersions.Third.self, folder)
      #expect {
        try ModelContainer(
          for: Schema(versionedSchema: ErrorVersions.Second.self), migrationPlan: ErrorVersions.Plan.self,
          configurations: [store(folder)])
      } throws: {
        SwiftDataError.unknownSchema ~= $0
      }
    }
  }

  // SWD-40
  @Test func `a model that the container lacks is refused by a fetch, and its insertion by the save`() throws
  {
    let context = ModelContext(
      try ModelContainer(for: Node.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    #expect { try context.fetch(FetchDescriptor<Place>()) } throws: { SwiftDataError.unknownSchema ~= $0 }
    #expect { try context.fetchCount(FetchDescriptor<Place>()) } throws: {
      SwiftDataError.unknownSchema ~= $0
    }
    context.insert(Place("P", 1, 2))
    #expect(throws: SwiftDataError.self) { try context.save() }
    context.rollback()
    context.insert(Node("N"))
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Node>()) == 1)
  }

  // SWD-22, SWD-40
  @Test func `a key path to no relationship cannot be loaded with the models`() throws {
    let context = try Library.context()
    var computed = FetchDescriptor<Inferred>()
    computed.relationshipKeyPathsForPrefetching = [\.computed]
    #expect { try context.fetch(computed) } throws: { SwiftDataError.unsupportedKeyPath ~= $0 }
    var attribute = FetchDescriptor<Book>()
    attribute.relationshipKeyPathsForPrefetching = [\.title]
    #expect { try context.fetch(attribute) } throws: { SwiftDataError.unsupportedKeyPath ~= $0 }
  }

  // SWD-30, SWD-40
  @Test func `a condition of the history that cannot be evaluated is refused`() throws {
    let context = try Library.context()
    context.insert(Node("N"))
    try context.save()
    #expect {
      try context.fetchHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author! == "x" }))
    } throws: {
      SwiftDataError.invalidTransactionFetchRequest ~= $0
    }
  }

  // SWD-40
  @Test func `identifiers of unsaved models are sorted`() throws {
    let context = try Library.context()
    for year in [3, 1, 2] { context.insert(Book(title: "T", year: year)) }
    let identifiers = try context.fetchIdentifiers(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.year)]))
    #expect(identifiers.compactMap { (context.model(for: $0) as? Book)?.year } == [1, 2, 3])
  }

  // SWD-07, SWD-40
  @Test func `a unique value of another subclass is an error that names both`() throws {
    let context = try Library.context(of: Account.self, Savings.self, Checking.self)
    context.insert(Savings("1"))
    try context.save()
    context.insert(Checking("1"))
    #expect {
      try context.save()
    } throws: {
      SwiftDataError.modelValidationFailure ~= $0
        && "\($0)".contains("number is unique, and models of Checking, Savings have the same")
    }
  }

  // SWD-23, SWD-40
  @Test func `a message says that a property is computed, and of which class`() throws {
    let context = try Library.context()
    #expect {
      try context.fetch(FetchDescriptor<Inferred>(predicate: #Predicate { $0.computed == "x" }))
    } throws: {
      "\($0)".contains("a computed property of Inferred, of type String,") && !"\($0)".contains("<computed")
    }
  }

  // SWD-40
  @Test func `errors of one kind are equal, and match by their kind only`() throws {
    let context = ModelContext(
      try ModelContainer(for: Node.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    do {
      _ = try context.fetch(FetchDescriptor<Place>())
      Issue.record("the fetch was not refused")
    } catch SwiftDataError.unsupportedPredicate {
      Issue.record("the error is of another kind")
    } catch SwiftDataError.unknownSchema {
      // As expected.
    }
    #expect(SwiftDataError.unknownSchema == SwiftDataError.unknownSchema)
    #expect(SwiftDataError.unknownSchema != SwiftDataError.loadIssueModelContainer)
    #expect(!(SwiftDataError.unknownSchema ~= CancellationError()))
  }
}
