import Foundation
import GraphTestSupport
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// Relationships that get an inverse which had links before.
@Suite struct `New inverses` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The form that a model gives to the relationships between authors and books.
  struct Form: CustomStringConvertible {
    /// Whether `Author.books` and `Book.author` exist, and lead to several.
    var books: (isToMany: Bool, isOrdered: Bool)?
    var author: (isToMany: Bool, isOrdered: Bool)?
    var areInverse = false

    var description: String {
      "books \(books.map { "\($0)" } ?? "-"), author \(author.map { "\($0)" } ?? "-")\(areInverse ? ", inverses" : "")"
    }
  }

  private static func model(_ form: Form) -> ManagedObjectModel {
    let author = EntityDescription(
      name: "Author", properties: [AttributeDescription(name: "name", type: .string)])
    let book = EntityDescription(
      name: "Book", properties: [AttributeDescription(name: "name", type: .string)])
    let books = form.books.map {
      RelationshipDescription(
        name: "books", destination: book, isToMany: $0.isToMany, isOrdered: $0.isOrdered)
    }
    let by = form.author.map {
      RelationshipDescription(
        name: "author", destination: author, isToMany: $0.isToMany, isOrdered: $0.isOrdered)
    }
    if form.areInverse {
      books?.inverseRelationship = by
      by?.inverseRelationship = books
    }
    if let books { author.ownProperties.append(books) }
    if let by { book.ownProperties.append(by) }
    return ManagedObjectModel(entities: [author, book])
  }

  private func open(_ model: ManagedObjectModel, _ url: URL) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let description = PersistentStoreDescription(type: .ofStore(at: url), url: url, options: nil)
    description.shouldMigrateStoreAutomatically = true
    description.shouldInferMappingModelAutomatically = true
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  /// - Parameters:
  ///   - books: Of each author, the numbers of books.
  ///   - authors: Of each book, the numbers of authors.
  private func fill(_ model: ManagedObjectModel, _ url: URL, _ books: [[Int]], _ authors: [[Int]]) throws {
    let context = try open(model, url)
    func make(_ entity: String, _ count: Int) throws -> [ManagedObject] {
      try (0..<count).map { number in
        let object = try ManagedObject(entity: context.entity(entity), insertInto: context)
        object.setValue("\(entity.prefix(1))\(number)", forKey: "name")
        return object
      }
    }
    let (allAuthors, allBooks) = (try make("Author", books.count), try make("Book", authors.count))
    func link(_ key: String, _ owners: [ManagedObject], _ others: [ManagedObject], _ numbers: [[Int]]) throws
    {
      for (owner, numbers) in zip(owners, numbers) where !numbers.isEmpty {
        let isToMany = owner.entity.relationshipsByName[key]?.isToMany == true
        try owner.assign(isToMany ? numbers.map { others[$0] } : others[numbers[0]], forKey: key)
      }
    }
    try link("books", allAuthors, allBooks, books)
    try link("author", allBooks, allAuthors, authors)
    try context.save()
    try context.persistentStoreCoordinator?.close()
  }

  /// The links of a relationship as the objects have them.
  private func links(_ context: ManagedObjectContext, _ entity: String, _ key: String) throws -> [String] {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    return try context.fetch(request).flatMap { object -> [String] in
      let value = object.value(forKey: key)
      let others =
        value as? [ManagedObject] ?? (value as? Set<ManagedObject>).map { Array($0) }
        ?? [value as? ManagedObject].compactMap(\.self)
      return others.map { "\(object.value(forKey: "name") ?? "") \($0.value(forKey: "name") ?? "")" }
    }
  }

  private func reversed(_ links: [String]) -> [String] {
    links.map { $0.split(separator: " ").reversed().joined(separator: " ") }.sorted()
  }

  private static let many = (isToMany: true, isOrdered: false)
  private static let ordered = (isToMany: true, isOrdered: true)
  private static let one = (isToMany: false, isOrdered: false)

  // MIG-04, MIG-06
  @Test(arguments: [PersistentStore.StoreType.log, .binary, .json, .xml])
  func `a new relationship to one object is built from its inverse`(_ type: PersistentStore.StoreType) throws
  {
    for (number, books) in [Self.many, Self.ordered, Self.one].enumerated() {
      let url = folder.url.appending(
        path: "\(number).\(type == .log ? "heartwood" : type.rawValue.lowercased())")
      let former = Self.model(Form(books: books))
      let coordinator = try PersistentStoreCoordinator(checking: former)
      try coordinator.addPersistentStore(with: PersistentStoreDescription(type: type, url: url, options: nil))
      try coordinator.close()
      try fill(former, url, books.isToMany ? [[2, 0], [], [1]] : [[2], [], [1]], [[], [], [], []])
      let context = try open(Self.model(Form(books: books, author: Self.one, areInverse: true)), url)
      let authors = try links(context, "Book", "author")
      #expect(authors.sorted() == (books.isToMany ? ["B0 A0", "B1 A2", "B2 A0"] : ["B1 A2", "B2 A0"]))
      let given = try links(context, "Author", "books")
      #expect(reversed(given) == authors.sorted())
      if books.isOrdered { #expect(given == ["A0 B2", "A0 B0", "A2 B1"]) }
      #expect(try context.persistentStoreCoordinator?.verify().findings == [])
      try context.persistentStoreCoordinator?.close()
    }
  }

  // MIG-04, MIG-06
  @Test func `two relationships that become inverses have the links of both`() throws {
    // Of each author its books, and of each book its authors: A0-B0 on both sides, A0-B1 on the first, A1-B2 on the second only.
    for (number, (books, author)) in [
      (Self.many, Self.one), (Self.ordered, Self.one), (Self.many, Self.many), (Self.ordered, Self.ordered),
      (Self.one, Self.one), (Self.one, Self.many),
    ].enumerated() {
      let url = folder.url.appending(path: "\(number)")
      let (before, after) = (
        Form(books: books, author: author), Form(books: books, author: author, areInverse: true)
      )
      let first = books.isToMany ? [[1, 0], [], []] : [[0], [], []]
      try fill(Self.model(before), url, first, [[0], [], [1]])
      let context = try open(Self.model(after), url)
      let found = try links(context, "Author", "books")
      let wanted = books.isToMany ? ["A0 B0", "A0 B1", "A1 B2"] : ["A0 B0", "A1 B2"]
      #expect(found.sorted() == wanted, "\(after)")
      #expect(try reversed(links(context, "Book", "author")) == wanted, "\(after)")
      if books.isOrdered { #expect(found == ["A0 B1", "A0 B0", "A1 B2"]) }
      #expect(try context.persistentStoreCoordinator?.verify().findings == [], "\(after)")
      try context.persistentStoreCoordinator?.close()
    }
  }

  // MIG-06, MIG-17
  @Test func `sides that contradict each other are named, and listed in a rehearsal`() throws {
    let (before, after) = (
      Form(books: Self.many, author: Self.one), Form(books: Self.many, author: Self.one, areInverse: true)
    )
    try fill(Self.model(before), folder.store, [[0], []], [[1]])
    let report = try PersistentStoreCoordinator.rehearseMigration(
      ofStoreAt: folder.store, to: Self.model(after))
    let violation = try #require(report?.violations.first)
    #expect(violation.preventsMigration && violation.objectIDs.map(\.entity.name) == ["Book"])
    #expect(
      violation.message.contains("Author 2 and Author 1")
        || violation.message.contains("Author 1 and Author 2"))
    let error = heartwoodError { _ = try open(Self.model(after), folder.store) }
    #expect(error?.code == .migration && error?.property == "author", "\(String(describing: error))")
    let shared = folder.url.appending(path: "shared")
    try fill(Self.model(Form(books: Self.many)), shared, [[0], [0]], [[]])
    let several = heartwoodError {
      _ = try open(Self.model(Form(books: Self.many, author: Self.one, areInverse: true)), shared)
    }
    #expect(several?.message.contains("Author 1 and Author 2") == true, "\(String(describing: several))")
    // The store is as it was.
    let context = try open(Self.model(before), folder.store)
    #expect(try links(context, "Book", "author") == ["B0 A1"])
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-04, MIG-06
  @Test func `a relationship that becomes its own inverse has the links of both directions`() throws {
    func model(_ isInverse: Bool, _ isToMany: Bool) -> ManagedObjectModel {
      let author = EntityDescription(
        name: "Author", properties: [AttributeDescription(name: "name", type: .string)])
      let books = RelationshipDescription(name: "books", destination: author, isToMany: isToMany)
      if isInverse { books.inverseRelationship = books }
      author.ownProperties.append(books)
      return ManagedObjectModel(entities: [author])
    }
    for isToMany in [true, false] {
      let url = folder.url.appending(path: "\(isToMany)")
      let context = try open(model(false, isToMany), url)
      let authors = try (0..<3).map { number in
        let author = try ManagedObject(entity: context.entity("Author"), insertInto: context)
        author.setValue("A\(number)", forKey: "name")
        return author
      }
      try authors[0].assign(isToMany ? [authors[1]] : authors[1], forKey: "books")
      if isToMany { try authors[2].assign([authors[0]], forKey: "books") }
      try context.save()
      try context.persistentStoreCoordinator?.close()
      let migrated = try open(model(true, isToMany), url)
      let wanted = isToMany ? ["A0 A1", "A0 A2", "A1 A0", "A2 A0"] : ["A0 A1", "A1 A0"]
      #expect(try links(migrated, "Author", "books").sorted() == wanted)
      #expect(try migrated.persistentStoreCoordinator?.verify().findings == [])
      try migrated.persistentStoreCoordinator?.close()
    }
  }

  // MIG-04
  @Test func `relationships that had other inverses are still refused`() throws {
    func model(_ isExchanged: Bool) -> ManagedObjectModel {
      let author = EntityDescription(name: "Author")
      let book = EntityDescription(name: "Book")
      let pairs = ["a", "b"].map { name in
        (
          RelationshipDescription(name: name, destination: book, isToMany: true),
          RelationshipDescription(name: name, destination: author, isToMany: true)
        )
      }
      author.ownProperties = pairs.map(\.0)
      book.ownProperties = pairs.map(\.1)
      for (number, pair) in pairs.enumerated() {
        let other = pairs[isExchanged ? 1 - number : number].1
        (pair.0.inverseRelationship, other.inverseRelationship) = (other, pair.0)
      }
      return ManagedObjectModel(entities: [author, book])
    }
    let reasons = try MappingModel.reasonsAgainstInference(from: model(false), to: model(true))
    #expect(reasons.count == 4 && reasons[0].contains("had other inverses"), "\(reasons)")
  }
}
