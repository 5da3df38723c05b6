import CoreData
import Foundation
import Testing

@Suite struct `Managed objects of Core Data's names` {
  let container: NSPersistentContainer
  let context: NSManagedObjectContext

  init() throws {
    container = try Library.makeContainer()
    context = container.newBackgroundContext()
  }

  @Test func `objects are of their classes, made by context, by entity and by fetches`() throws {
    try context.performAndWait {
      let author = Author(name: "Ursula", context: context)
      #expect(author.events == ["insert"])
      #expect("\(author)" == "Author Ursula")
      let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context) as! Book
      book.title = "The Dispossessed"
      book.pages = 341
      book.price = NSDecimalNumber(string: "12.50")
      book.rating = 4.5
      book.author = author
      #expect(author.books == [book])
      try context.save()
      context.reset()

      let found = try context.fetch(Book.fetchRequest())
      #expect(found.map(\.title) == ["The Dispossessed"])
      #expect(found.first?.cover == "blue")
      #expect(found.first?.pages == 341)
      #expect(found.first?.price == NSDecimalNumber(string: "12.50"))
      #expect(found.first?.rating?.doubleValue == 4.5)
      #expect(found.first?.author?.name == "Ursula")
      #expect(found.first?.author?.letters == 0)
    }
  }

  @Test func `a number is a decimal one where it is declared so, whatever type the model has`() {
    context.performAndWait {
      let book = Book(context: context)
      (book.pages, book.rating) = (12, 4.5)
      let pages: NSDecimalNumber? = book._managedGet("pages")
      let rating: NSDecimalNumber = book._managedGet("rating")
      #expect(pages == 12 && rating == NSDecimalNumber(string: "4.5"))
    }
  }

  @Test func `an object that is made of its entity by a superclass is of the entity's class`() throws {
    try context.performAndWait {
      // As the plugin translates `NSManagedObject(entity: entity, insertInto: context)`.
      let entity = try #require(NSEntityDescription.entity(forEntityName: "Book", in: context))
      let book = NSManagedObject._made(entity: entity, insertInto: context)
      #expect(book is Book && book.managedObjectContext === context)
      #expect(NSManagedObject._made(entity: entity, insertInto: nil) is Book)
      func made<Object: NSManagedObject>(_ type: Object.Type) -> Object {
        Object(entity: entity, insertInto: context)
      }
      #expect(made(Book.self).cover == "blue")
      let author = try #require(NSEntityDescription.entity(forEntityName: "Author", in: context))
      let named = NSManagedObject._made(entity: author, insertInto: context)
      #expect((named as? Author)?.events == ["insert"] && named.value(forKey: "name") as? String == "new")
    }
  }

  @Test func `an entity without a class has objects of NSManagedObject, used by names`() throws {
    try context.performAndWait {
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      #expect(type(of: note) == NSManagedObject.self)
      note.setValue("text", forKey: "text")
      note.setValue(7, forKey: "count")
      #expect(note.value(forKey: "count") as? Int == 7)
      #expect(note.value(forKey: "count") as? NSNumber == 7)
      #expect(note.value(forKey: "text") as? String == "text")
      #expect(note.changedValues()["text"] as? String == "text")
      note.setValue(nil, forKey: "text")
      #expect(note.value(forKey: "text") == nil)
      #expect(note.entity.name == "Note")
      #expect(note.managedObjectContext === context)
      try context.save()
      #expect(!note.objectID.isTemporaryID)
      let same: NSManagedObject = context.object(with: note.objectID)
      #expect(same === note)
      #expect(try context.existingObject(with: note.objectID) === note)
      #expect(context.registeredObjects == [note])
    }
  }

  @Test func `to-many relationships are sets of Foundation by name, and mutable ones write through`() {
    context.performAndWait {
      let author = Author(name: "A", context: context)
      let (first, second) = (Book(context: context), Book(context: context))
      author.mutableSetValue(forKey: "books").add(first)
      author.mutableSetValue(forKey: "books").addObjects(from: [second])
      #expect((author.value(forKey: "books") as? NSSet)?.count == 2)
      #expect(author.value(forKey: "books") as? Set<Book> == [first, second])
      #expect(second.author === author)
      author.mutableSetValue(forKey: "books").remove(first)
      #expect(author.books == [second])
      #expect(first.author == nil)

      let shelf = author.mutableOrderedSetValue(forKey: "shelf")
      shelf.add(first)
      shelf.insert(second, at: 0)
      #expect(author.shelf?.array as? [Book] == [second, first])
      shelf.removeObject(at: 0)
      #expect(author.shelf?.array as? [Book] == [first])
      author.setValue(nil, forKey: "books")
      #expect(author.books.isEmpty)
      first.readers = NSSet(object: Reader(context: context))
      #expect(first.readers?.count == 1)
    }
  }

  @Test func `key paths and aggregates go over relationships`() {
    context.performAndWait {
      let author = Author(name: "A", context: context)
      for pages in [10, 30] as [Int32] {
        let book = Book(context: context)
        book.pages = pages
        book.author = author
      }
      #expect(author.value(forKeyPath: "books.@count") as? Int == 2)
      #expect(author.value(forKeyPath: "books.@sum.pages") as? Int == 40)
      #expect(author.value(forKeyPath: "books.@max.pages") as? Int == 30)
      let book = author.books.first
      book?.setValue("B", forKeyPath: "author.name")
      #expect(author.name == "B")
      #expect(book?.value(forKeyPath: "author.name") as? String == "B")
      #expect(author.dictionaryWithValues(forKeys: ["name", "born"])["born"] is NSNull)
      author.setValuesForKeys(["name": "C", "born": NSNull()])
      #expect(author.name == "C")
      // Both names are those of the accessor `setName:`.
      author.setValue("D", forKey: "Name")
      #expect(author.name == "D")
    }
  }

  @Test func `key paths of properties have names`() {
    let descriptor = NSSortDescriptor(keyPath: \Book.author?.name, ascending: true)
    #expect(descriptor.key == "author.name")
    #expect(NSSortDescriptor(keyPath: \Book.pages, ascending: false).key == "pages")
    #expect(NSSortDescriptor(keyPath: \NumberedEntry.kind, ascending: false).key == "kind")
    #expect(NSExpression(forKeyPath: \NumberedEntry.level).keyPath == "level")
    #expect(NSExpression(forKeyPath: \NumberedEntry.other?.counts).keyPath == "other.counts")
  }

  @Test func `the comparator of a sort descriptor compares values of the property`() {
    let given = NSSortDescriptor(key: "pages", ascending: false) { left, _ in
      left is Book ? .orderedSame : .orderedAscending
    }
    #expect(given.comparator(1, 2) == .orderedAscending)
    #expect(NSSortDescriptor(key: "pages", ascending: true).comparator(2, 1) == .orderedDescending)
    let texts = NSSortDescriptor(
      key: "title", ascending: true, selector: NSSelectorFromString("caseInsensitiveCompare:"))
    #expect(texts.comparator("a", "B") == .orderedAscending && texts.comparator("A", "a") == .orderedSame)
  }

  @Test func `an enumeration and a dictionary without a value are zero and empty`() {
    let entity = NSEntityDescription()
    (entity.name, entity.managedObjectClassName) = ("NumberedEntry", NSStringFromClass(NumberedEntry.self))
    entity.properties = [
      Library.attribute("kind", .integer16AttributeType), Library.attribute("level", .integer16AttributeType),
      Library.attribute("counts", .transformableAttributeType),
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let entry = NumberedEntry(entity: entity, insertInto: nil)
    #expect(entry.kind == .plain && entry.counts.isEmpty)
    (entry.kind, entry.level) = (.fancy, .high)
    #expect(entry.kind == .fancy && entry.level == .high)
  }

  @Test func `an entity that is in no model has objects outside of contexts`() {
    #expect(NSManagedObject(entity: NSEntityDescription(), insertInto: nil).managedObjectContext == nil)
    let entity = NSEntityDescription()
    entity.name = "Note"
    entity.properties = [Library.attribute("text", .stringAttributeType)]
    let notes = ["a", "b"].map { text in
      let note = NSManagedObject(entity: entity, insertInto: nil)
      note.setValue(text, forKey: "text")
      return note
    }
    #expect(notes.map { $0.value(forKey: "text") as? String } == ["a", "b"])
    #expect(notes[0].entity === entity && notes[0].objectID != notes[1].objectID)
  }

  @Test func `a save validates, and its errors have codes and keys of Cocoa`() throws {
    try context.performAndWait {
      let author = Author(context: context)
      author.setValue(nil, forKey: "name")
      do {
        try context.save()
        Issue.record("the save should fail")
      } catch {
        let error = error as NSError
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSValidationMissingMandatoryPropertyError)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "name")
      }
      _ = Author(context: context)
      author.name = "x"
      try context.save()
      #expect(author.events.contains("willSave"))
    }
  }

  @Test func `undo goes through the undo manager`() {
    context.performAndWait {
      let manager = UndoManager()
      context.undoManager = manager
      let author = Author(name: "first", context: context)
      context.processPendingChanges()
      author.name = "second"
      context.processPendingChanges()
      #expect(manager.canUndo)
      context.undo()
      #expect(author.name == "first")
      context.redo()
      #expect(author.name == "second")
      #expect(context.undoManager === manager)
    }
  }
}

/// A class with enumerations, which are attributes with numbers.
final class NumberedEntry: NSManagedObject {
  enum Kind: Int16 { case plain, fancy }
  enum Level: Int16 { case low = 7, high }
  var kind: Kind {
    get { _managedGet("kind") }
    set { _managedSet("kind", newValue) }
  }
  var level: Level {
    get { _managedGet("level") }
    set { _managedSet("level", newValue) }
  }
  var counts: [String: Int] {
    get { _managedGet("counts") }
    set { _managedSet("counts", newValue) }
  }
  var other: NumberedEntry? {
    get { _managedGet("other") }
    set { _managedSet("other", newValue) }
  }
}
