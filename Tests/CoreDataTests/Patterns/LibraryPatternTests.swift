import CoreData
import Foundation
import Testing

// Declarations as public libraries over Core Data write them.

private protocol Entity: AnyObject {}
extension Entity where Self: NSManagedObject {
  init(in context: NSManagedObjectContext) { self.init(entity: Self.entity(), insertInto: context) }
}

extension NSManagedObject {
  fileprivate class func create(in context: NSManagedObjectContext) -> Self {
    self.init(entity: entity(), insertInto: context)
  }
}

extension Author: Entity {}

private func make<T: NSManagedObject>(_ type: T.Type, _ context: NSManagedObjectContext) -> T {
  T(entity: type.entity(), insertInto: context)
}

/// A class with a subscript and an initialiser of its own.
final class TitledEntity: NSManagedObject {
  subscript(key: String) -> Any? { "\(key)!" }
  var mark = 0

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    mark = 1
  }
}

@Suite struct `What libraries over Core Data write` {
  private func context() throws -> NSManagedObjectContext { try Library.makeContext(Library.makeModel()) }

  @Test func `an object is made by a class that is known when the program runs`() throws {
    let context = try context()
    let type: NSManagedObject.Type = Author.self
    for author in [
      Author.create(in: context), type.create(in: context), make(Author.self, context), Author(in: context),
    ] {
      #expect(author is Author && author.managedObjectContext === context)
      #expect(author.value(forKey: "name") as? String == "new")
    }
    #expect(context.insertedObjects.count == 4)
  }

  @Test func `a class has a subscript of its own in place of that of the values`() throws {
    let context = try context()
    let author = Author(context: context)
    author["name"] = "Ada"
    #expect(author["name"] as? String == "Ada" && author.name == "Ada")
    let entity = NSEntityDescription()
    entity.name = "Titled"
    entity.managedObjectClassName = NSStringFromClass(TitledEntity.self)
    entity.properties = [Library.attribute("name", .stringAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let titled = make(TitledEntity.self, try Library.makeContext(model))
    titled.setValue("Bob", forKey: "name")
    #expect(titled["name"] as? String == "name!" && titled.mark == 1)
    #expect((titled as NSManagedObject)["name"] as? String == "Bob")
  }

  @Test func `models with the same contents are equal, and so are mapping models`() throws {
    let (one, other) = (Library.makeModel(), Library.makeModel())
    #expect(one == other && one.hash == other.hash)
    #expect([other].contains(one))
    other.entitiesByName["Book"]?.userInfo = ["kind": "paper"]
    #expect(one != other)
    let former = Library.makeModel()
    former.entitiesByName["Book"]?.properties.removeAll { $0.name == "pages" }
    #expect(one != former)
    func mapping() throws -> NSMappingModel {
      try NSMappingModel.inferredMappingModel(forSourceModel: former, destinationModel: one)
    }
    #expect(try mapping() == mapping())
    let changed = try mapping()
    changed.entityMappings.removeLast()
    #expect(try changed != mapping())
  }

  @Test func `a format takes the arguments of a list`() throws {
    func predicate(_ format: String, _ arguments: any CVarArg...) -> NSPredicate {
      withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
    }
    let expected = NSPredicate(format: "name == %@ AND pages > %d", "Ada", 3)
    #expect(predicate("name == %@ AND pages > %d", "Ada", 3) == expected)
    #expect(NSPredicate(format: "name == %@ AND pages > %d", arguments: getVaList(["Ada", 3])) == expected)
    #expect(
      NSExpression(format: "%d + pages", arguments: getVaList([3])) == NSExpression(format: "3 + pages"))
    // A text that C formats has the list of Swift.
    let text = withVaList([7]) { NSString(format: "%d", arguments: $0) }
    #expect(text == "7")
  }

  @Test func `a format takes the arguments that passed through functions of the program`() {
    func predicate(_ format: String, arguments: CVaListPointer) -> NSPredicate {
      NSPredicate(format: format, arguments: arguments)
    }
    func find(_ format: String, _ arguments: any CVarArg...) -> NSPredicate {
      withVaList(arguments) { predicate(format, arguments: $0) }
    }
    func text(_ format: String, _ arguments: CVaListPointer) -> String {
      NSString(format: format, arguments: arguments) as String
    }
    let expected = NSPredicate(format: "name == %@ AND pages > %d", "Ada", 3)
    #expect(find("name == %@ AND pages > %d", "Ada", 3) == expected)
    let list = getVaList(["Ada", 3])
    #expect(predicate("name == %@ AND pages > %d", arguments: list) == expected)
    let given: CVaListPointer = getVaList(["Ada", 3])
    #expect(NSPredicate(format: "name == %@ AND pages > %d", arguments: given) == expected)
    #expect(text("%d pages", getVaList([7])) == "7 pages")
    let id = UUID()
    #expect(
      text("%@ %@ %@ %@", getVaList(["a" as NSString, NSNumber(value: 3), id as CVarArg, "b"]))
        == "a 3 \(id) b")
    #expect(String(format: "%@ %@", [1] as CVarArg, Decimal(2) as CVarArg) == "[1] 2")
    // A type of Swift's that a function of C takes.
    let length = withVaList([12_345]) { (pointer: Swift.CVaListPointer) in vsnprintf(nil, 0, "%d", pointer) }
    #expect(length == 5 && vsnprintf(nil, 0, "%d", getVaList([12_345])) == 5)
  }

  @Test func `an object and its identifier say of which class they are, and which methods they have`() throws
  {
    final class Listener {
      func hear(_ notification: Notification) {}
    }
    let context = try Library.makeContainer().newBackgroundContext()
    context.performAndWait {
      let author = Author(name: "Ada", context: context)
      for name in [
        "name", "setName:", "books", "addBooksObject:", "removeBooks:", "objectID", "willSave",
        "setValue:forKey:",
      ] {
        #expect(author.responds(to: NSSelectorFromString(name)), "\(name)")
      }
      for name in ["age", "setAge:", "addNameObject:", "setName:forKey:", "name:", "set:", ""] {
        #expect(!author.responds(to: Selector(name)), "\(name)")
      }
      #expect(author.responds(to: Selector("willSave()", Author.willSave)))
      #expect(!author.responds(to: Selector("hear:", Listener.hear)))
      #expect(
        Author.instancesRespond(to: Selector("born")) && !Author.instancesRespond(to: Selector("pages")))
      #expect(author.objectID.isKind(of: NSManagedObjectID.self) && author.objectID.isKind(of: NSObject.self))
      #expect(
        author.objectID.isMember(of: NSManagedObjectID.self) && !author.objectID.isKind(of: NSString.self))
      #expect(author.objectID.copy() as? NSManagedObjectID == author.objectID)
      #expect(
        (\Author.name)._kvcKeyPathString == "name" && (\Book.author?.name)._kvcKeyPathString == "author.name")
      #expect((\String.count)._kvcKeyPathString == nil)
    }
  }

  @Test func `a place for a value is made of a variable`() {
    var text = "a" as NSString
    let place = AutoreleasingUnsafeMutablePointer<AnyObject?>(&text)
    #expect(place.pointee as? NSString == "a")
    var none: NSObject?
    #expect(AutoreleasingUnsafeMutablePointer<AnyObject?>(&none).pointee == nil)
  }

  @Test func `the lock of an object is held by one thread, several times`() async {
    final class Counter: @unchecked Sendable { var count = 0 }
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<500 {
            objc_sync_enter(counter)
            objc_sync_enter(counter)
            counter.count += 1
            objc_sync_exit(counter)
            objc_sync_exit(counter)
          }
        }
      }
    }
    #expect(counter.count == 2000)
    #expect(objc_sync_exit(counter) == -1)
  }

  @Test func `collections of Foundation and classes have what iterates and names them`() {
    let iterator: _NSFastEnumerationIterator = NSSet(object: 1).makeIterator()
    #expect(iterator.next() as? Int == 1)
    #expect(NSDate.classForCoder() == NSDate.self)
  }

  @available(*, deprecated)
  @Test func `the names of documents in iCloud are there`() {
    #expect(
      Notification.Name.NSPersistentStoreDidImportUbiquitousContentChanges.rawValue
        == "com.apple.coredata.ubiquity.importer.didfinishimport")
    #expect(NSPersistentStoreUbiquitousTransitionType(rawValue: 3) == .contentRemoved)
  }
}
