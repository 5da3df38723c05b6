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

  private static func open(_ path: String) throws -> PersistentContainer {
    let model = try ManagedObjectModel(types: [Author.self, Book.self, Tag.self])
    let container = PersistentContainer(name: "Golden", managedObjectModel: model)
    let description = PersistentStoreDescription(url: URL(filePath: path))
    description.engineOptions = GoldenRecipe.options("graph")
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
    bytes.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress.map({ $0 + slot * Format.anchorBlockBytes }) else { return }
      base.setField(8, format)
      base.setField(12, format)
      let seed: UInt64 = 0x4865_6172_7477_6F6F ^ UInt64(slot)
      base.setField(504, XXH64.hash(UnsafeRawPointer(base).bytes(504), seed: seed))
    }
  }
}
