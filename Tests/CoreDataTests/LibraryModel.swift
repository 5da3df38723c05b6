import CoreData
import Foundation

// Classes as the plugins translate them: a file of an application has `@NSManaged` in these places.

class Author: NSManagedObject {
  var name: String {
    get { _managedGet("name") }
    set { _managedSet("name", newValue) }
  }
  var born: Date? {
    get { _managedGet("born") }
    set { _managedSet("born", newValue) }
  }
  var books: Set<Book> {
    get { _managedGet("books") }
    set { _managedSet("books", newValue) }
  }
  var shelf: NSOrderedSet? {
    get { _managedGet("shelf") }
    set { _managedSet("shelf", newValue) }
  }

  var letters = 0
  private(set) var events: [String] = []

  override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue("new", forKey: "name")
    events.append("insert")
  }

  override func willSave() {
    super.willSave()
    events.append("willSave")
  }

  convenience init(name: String, context: NSManagedObjectContext) {
    self.init(context: context)
    self.name = name
  }

  @nonobjc class func fetchRequest() -> NSFetchRequest<Author> {
    NSFetchRequest<Author>(entityName: "Author")
  }

  override var description: String { "Author \(name)" }
}

final class Book: NSManagedObject {
  let cover = "blue"

  var title: String? {
    get { _managedGet("title") }
    set { _managedSet("title", newValue) }
  }
  var pages: Int32 {
    get { _managedGet("pages") }
    set { _managedSet("pages", newValue) }
  }
  var price: NSDecimalNumber? {
    get { _managedGet("price") }
    set { _managedSet("price", newValue) }
  }
  var rating: NSNumber? {
    get { _managedGet("rating") }
    set { _managedSet("rating", newValue) }
  }
  var isRead: Bool {
    get { _managedGet("isRead") }
    set { _managedSet("isRead", newValue) }
  }
  var author: Author? {
    get { _managedGet("author") }
    set { _managedSet("author", newValue) }
  }
  var readers: NSSet? {
    get { _managedGet("readers") }
    set { _managedSet("readers", newValue) }
  }

  // Without `required`, and private, as real code does.
  private override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
  }

  @nonobjc class func fetchRequest() -> NSFetchRequest<Book> { NSFetchRequest<Book>(entityName: "Book") }
}

final class Reader: NSManagedObject {
  var email: String? {
    get { _managedGet("email") }
    set { _managedSet("email", newValue) }
  }
}

enum Library {
  /// Books with a number of pages of their own each.
  static func books(_ count: Int, in context: NSManagedObjectContext) -> [Book] {
    (0..<count).map { number in
      let book = Book(context: context)
      book.pages = Int32(number)
      book.price = NSDecimalNumber(value: number % 5)
      return book
    }
  }

  static func attribute(_ name: String, _ type: NSAttributeType, optional: Bool = true, _ value: Any? = nil)
    -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = optional
    attribute.defaultValue = value
    return attribute
  }

  static func relationship(_ name: String, _ entity: NSEntityDescription, many: Bool, _ rule: NSDeleteRule)
    -> NSRelationshipDescription
  {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = entity
    relationship.minCount = 0
    relationship.maxCount = many ? 0 : 1
    relationship.deleteRule = rule
    return relationship
  }

  static func makeModel() -> NSManagedObjectModel {
    let author = NSEntityDescription()
    author.name = "Author"
    author.managedObjectClassName = NSStringFromClass(Author.self)
    let book = NSEntityDescription()
    book.name = "Book"
    book.managedObjectClassName = "Book"
    let reader = NSEntityDescription()
    reader.name = "Reader"
    reader.managedObjectClassName = "Reader"
    let note = NSEntityDescription()
    note.name = "Note"

    let books = relationship("books", book, many: true, .cascadeDeleteRule)
    let writer = relationship("author", author, many: false, .nullifyDeleteRule)
    books.inverseRelationship = writer
    writer.inverseRelationship = books
    let readers = relationship("readers", reader, many: true, .nullifyDeleteRule)
    let reads = relationship("reads", book, many: true, .nullifyDeleteRule)
    readers.inverseRelationship = reads
    reads.inverseRelationship = readers
    let shelf = relationship("shelf", book, many: true, .nullifyDeleteRule)
    shelf.isOrdered = true
    let shelved = relationship("shelved", author, many: false, .nullifyDeleteRule)
    shelf.inverseRelationship = shelved
    shelved.inverseRelationship = shelf

    author.properties = [
      attribute("name", .stringAttributeType, optional: false, ""), attribute("born", .dateAttributeType),
      books, shelf,
    ]
    book.properties = [
      attribute("title", .stringAttributeType), attribute("pages", .integer32AttributeType, 0),
      attribute("price", .decimalAttributeType), attribute("rating", .doubleAttributeType),
      attribute("isRead", .booleanAttributeType, false), writer, readers, shelved,
    ]
    reader.properties = [attribute("email", .stringAttributeType), reads]
    reader.uniquenessConstraints = [["email"]]
    note.properties = [attribute("text", .stringAttributeType), attribute("count", .integer64AttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [author, book, reader, note]
    return model
  }

  /// A context with a queue of its own, of a model and a store in memory.
  static func makeContext(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    try makeContainer(model).newBackgroundContext()
  }

  /// A container with a store in memory.
  static func makeContainer(_ model: NSManagedObjectModel = makeModel()) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    ]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }
}
