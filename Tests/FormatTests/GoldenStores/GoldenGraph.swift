import Foundation
import HeartwoodBytes
import HeartwoodFiles

@testable import Heartwood
@testable import HeartwoodEngine

/// Authors, their books and the books' tags, in eight saves.
enum GoldenGraph {
  final class Author: ManagedObject {
    @Attribute(.unique) var name = ""
    @Attribute(.indexed) var born: Int64?
    @Relationship(inverse: { $0.author }, deleteRule: .cascade) var books: [Book]
    @Relationship(inverse: { $0.friends }) var friends: Set<Author>
  }

  final class Book: ManagedObject {
    @Attribute(.preservesValueInHistoryOnDeletion) var title = ""
    @Attribute var price: Double = 0
    @Attribute var cover: Data?
    @Relationship(inverse: { $0.books }) var author: Author?
    @Relationship(inverse: { $0.books }) var tags: Set<Tag>
  }

  final class Tag: ManagedObject {
    @Attribute(.unique) var word = ""
    @Relationship(inverse: { $0.tags }) var books: Set<Book>
  }

  @Sendable static func make(_ path: String) throws {
    let container = try open(path)
    let context = container.newBackgroundContext()
    context.transactionAuthor = "golden"
    try context.performAndWait { try fill(context) }
    try container.close()
  }

  /// The same, then migrated: rows of former layouts, entities with other numbers than those of the model, moved links.
  @Sendable static func makeMigrated(_ path: String) throws {
    try make(path)
    let container = try open(path, migratedModel())
    let context = container.newBackgroundContext()
    let entities = container.managedObjectModel.entitiesByName
    try context.performAndWait {
      for (name, key) in [("Anthology", "name"), ("Book", "title")] {
        guard let entity = entities[name] else { continue }
        ManagedObject(entity: entity, insertInto: context).setValue("Late", forKey: key)
        try context.save()
      }
    }
    try container.close()
  }

  /// The model with a renamed attribute of another type, a new one, one that is gone, an order, and an entity whose name comes before
  /// the others.
  private static func migratedModel() -> ManagedObjectModel {
    func attribute(_ name: String, _ type: AttributeType, _ fallback: Any? = nil) -> AttributeDescription {
      AttributeDescription(name: name, type: type, isOptional: fallback == nil, defaultValue: fallback)
    }
    let year = attribute("year", .string)
    year.renamingIdentifier = "born"
    let title = attribute("title", .string, "")
    title.preservesValueInHistoryOnDeletion = true
    let author = EntityDescription(name: "Author", properties: [attribute("name", .string, ""), year])
    author.uniquenessConstraints = [["name"]]
    let book = EntityDescription(
      name: "Book", properties: [title, attribute("price", .double, 0.0), attribute("copies", .integer32, 3)])
    let tag = EntityDescription(name: "Tag", properties: [attribute("word", .string, "")])
    tag.uniquenessConstraints = [["word"]]
    let anthology = EntityDescription(name: "Anthology", properties: [attribute("name", .string)])
    func pair(
      _ one: RelationshipDescription, of owner: EntityDescription, _ other: RelationshipDescription,
      of destination: EntityDescription
    ) {
      (one.inverseRelationship, other.inverseRelationship) = (other, one)
      owner.ownProperties.append(one)
      if one !== other { destination.ownProperties.append(other) }
    }
    pair(
      RelationshipDescription(
        name: "books", destination: book, isToMany: true, isOrdered: true, deleteRule: .cascade),
      of: author, RelationshipDescription(name: "author", destination: author, isToMany: false), of: book)
    pair(
      RelationshipDescription(name: "tags", destination: tag, isToMany: true), of: book,
      RelationshipDescription(name: "books", destination: book, isToMany: true), of: tag)
    let friends = RelationshipDescription(
      name: "friends", destination: author, isToMany: true, isOrdered: true)
    pair(friends, of: author, friends, of: author)
    return ManagedObjectModel(entities: [anthology, author, book, tag])
  }

  static func open(
    _ path: String, _ given: ManagedObjectModel? = nil, seed: String = "graph"
  ) throws -> PersistentContainer {
    let model = try given ?? ManagedObjectModel(types: [Author.self, Book.self, Tag.self])
    let container = PersistentContainer(name: "Golden", managedObjectModel: model)
    let description = PersistentStoreDescription(url: URL(filePath: path))
    description.engineOptions = GoldenRecipe.options(seed)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  /// Inserts only one object of an entity per save if the order of several would not be deterministic.
  private static func fill(_ context: ManagedObjectContext) throws {
    let first = Author(context: context)
    first.name = "Ada"
    first.born = 1815
    try context.save()
    let second = Author(context: context)
    second.name = "Émilie"
    second.friends = [first]
    try context.save()
    for (number, title) in ["Notes", "Letters", "Poems"].enumerated() {
      let book = Book(context: context)
      book.title = title
      book.price = Double(number) + 0.5
      book.cover = number == 1 ? Data(repeating: 7, count: 40) : nil
      book.author = first
      try context.save()
    }
    let tag = Tag(context: context)
    tag.word = "old"
    tag.books = Set(first.books.prefix(2))
    try context.save()
    first.books = [first.books[2], first.books[0], first.books[1]]
    second.born = 1706
    try context.save()
    context.delete(first.books[1])
    try context.save()
  }
}

/// Changes of the anchor that do not damage it: the checksum is recalculated.
enum AnchorEditing {
  /// Sets the format of a slot, and the oldest format whose readers can read it, to the same number.
  static func setFormat(_ format: UInt32, ofSlot slot: Int, _ bytes: inout [UInt8]) {
    bytes.withWritableBytes { bytes in
      let sector = bytes.bytes(slot * Format.anchorBlockBytes, 512)
      sector.setField(8, format)
      sector.setField(12, format)
      let seed: UInt64 = 0x4865_6172_7477_6F6F ^ UInt64(slot)
      sector.setField(504, XXH64.hash(sector.bytes.bytes(0, 504).buffer, seed: seed))
    }
  }
}
