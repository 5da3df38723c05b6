import CoreData
import Testing

/// The former methods for metadata, which are deprecated as those of classes.
private protocol FormerMetadata {
  static func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any]
  static func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
  ) throws
}
extension NSPersistentStoreCoordinator: FormerMetadata {}

@Suite struct `Shapes of Core Data's interface` {
  @Test
  func `an object is made without a context, and a class without a model has an entity without properties`()
    throws
  {
    let model = Library.makeModel()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let author = Author()
    #expect(author.managedObjectContext == nil && author.entity.name == "Author")
    author.name = "A"
    #expect(author.name == "A")
    let context = NSManagedObjectContext(concurrencyType: .confinementLike)
    context.persistentStoreCoordinator = coordinator
    final class Stranger: NSManagedObject {}
    #expect(Stranger.entity().properties.isEmpty && Stranger().managedObjectContext == nil)
    #expect(Stranger.entity() === Stranger.entity())
    let request: NSFetchRequest<any NSFetchRequestResult> = Stranger.fetchRequest()
    #expect(request.predicate == nil)
  }

  @Test func `the entity of a class is known once its model was read or used`() throws {
    final class Leaf: NSManagedObject {
      override class func entity() -> NSEntityDescription { super.entity() }
    }
    let entity = NSEntityDescription()
    entity.name = "Leaf"
    entity.managedObjectClassName = NSStringFromClass(Author.self).replacingOccurrences(
      of: "Author", with: "Leaf")
    #expect(entity.managedObjectClassName == "CoreDataTests.Leaf")
    entity.managedObjectClassName = nil
    #expect(entity.managedObjectClassName == "NSManagedObject")
    entity.managedObjectClassName = "Leaf"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    _ = NSPersistentStoreCoordinator(managedObjectModel: model)
    #expect(Leaf.entity() === entity)
    #expect((Leaf.fetchRequest() as NSFetchRequest<any NSFetchRequestResult>).entityName == "Leaf")
  }

  @Test func `a store has metadata that is set, a place that may be missing, and a configuration`() throws {
    let container = try Library.makeContainer()
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    var metadata = try #require(store.metadata)
    metadata["version"] = 3
    metadata["ratios"] = [0.5]
    store.metadata = metadata
    #expect(
      store.metadata["version"] as? Int == 3 && store.metadata[NSStoreUUIDKey] as? String == store.identifier)
    // As of a property list: a number is one of each type.
    #expect(store.metadata["version"] as? Int64 == 3 && store.metadata["version"] as? NSNumber == 3)
    #expect(store.metadata["ratios"] as? [Float] == [0.5])
    for number in [0, 1, 2] {
      store.metadata["version"] = NSNumber(value: number)
      store.metadata = store.metadata
      #expect(store.metadata["version"] as? Int64 == Int64(number))
    }
    let url: URL? = store.url
    #expect(url?.path == "/dev/null" && store.configurationName == "PF_DEFAULT_CONFIGURATION_NAME")
    let other = NSPersistentStoreCoordinator(managedObjectModel: Library.makeModel())
    let second = try other.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: store.configurationName, at: nil)
    #expect(second.type == NSInMemoryStoreType)
  }

  @Test func `contexts, coordinators, requests and managers are objects with equality and descriptions`()
    throws
  {
    let container = try Library.makeContainer()
    let (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
    let objects: [NSObject] = [
      first, second, container, container.persistentStoreCoordinator, container.managedObjectModel,
      NSFetchRequest<Author>(entityName: "Author"), NSBatchUpdateRequest(entityName: "Author"),
      NSMergePolicy.error, NSStagedMigrationManager([]), NSMappingModel(), NSEntityMapping(),
      NSPropertyMapping(),
      container.managedObjectModel.entities[0], container.managedObjectModel.entities[0].properties[0],
      container.persistentStoreCoordinator.persistentStores[0],
      NSFetchedResultsController(
        fetchRequest: NSFetchRequest<Author>(entityName: "Author"), managedObjectContext: first,
        sectionNameKeyPath: nil,
        cacheName: nil),
    ]
    #expect(Set(objects).count == objects.count)
    for object in objects {
      #expect(!object.description.isEmpty && object.isEqual(object), "\(type(of: object))")
    }
    #expect(first == first && first != second && Set([first, second, first]).count == 2)
    let request = NSFetchRequest<Author>(entityName: "Author")
    request.predicate = NSPredicate(format: "name == 'A'")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
    #expect("\(request)".contains("name == \"A\"") && "\(request)".contains("descending"))
  }

  @Test func `performAndWait is a value, and a mapping and a version have annotations of any keys`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    let run: (() -> Void) -> Void = context.performAndWait
    var names: [String] = []
    run { names.append(Author(name: "A", context: context).name) }
    let later: (@escaping () -> Void) -> Void = context.perform
    later {}
    #expect(names == ["A"])
    let mapping = NSEntityMapping()
    mapping.userInfo = ["a": "b", 3: "c"]
    #expect(mapping.userInfo?["a"] as? String == "b")
    let model = NSManagedObjectModel()
    model.versionIdentifiers = ["1.0"]
    model.localizationDictionary = ["a": "b"]
    #expect(model.versionIdentifiers == ["1.0"] && model.localizationDictionary?["a"] == "b")
  }

  @Test func `enumerations have numbers`() {
    #expect(NSAttributeType(rawValue: 700 as UInt) == .stringAttributeType)
    #expect(NSAttributeType.stringAttributeType.rawValue as UInt == 700)
    #expect(NSDeleteRule(rawValue: 2 as UInt) == .cascadeDeleteRule)
    #expect(NSManagedObjectContextConcurrencyType(rawValue: 2) == .mainQueueConcurrencyType)
    #expect(NSManagedObjectContextConcurrencyType.privateQueueConcurrencyType.rawValue == 1)
    #expect([.union, .minus, .intersect, .set].map(\NSKeyValueSetMutationKind.rawValue) == [1, 2, 3, 4])
    #expect(NSFetchIndexElementType(rawValue: 1 as UInt) == .rTree)
    #expect(NSPersistentStoreRequestType(rawValue: 7 as UInt) == .batchDeleteRequestType)
    #expect(NSEntityMappingType(rawValue: 5 as UInt) == .transformEntityMappingType)
  }

  @Test func `an identifier of no object is unlike every other`() {
    let (first, second) = (NSManagedObjectID(), NSManagedObjectID())
    #expect(Set([first, second, first]).count == 2 && first.isEqual(first) && !first.isEqual(second))
    #expect(first.hash == first.hashValue && first.isTemporaryID && first.persistentStore == nil)
  }

  @Test func `metadata is read and set without the kind of the store`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let stores: any FormerMetadata.Type = NSPersistentStoreCoordinator.self
    for type in [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType] {
      let url = folder.appending(path: type)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.makeModel())
      let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
      try coordinator.remove(store)
      var metadata = try stores.metadataForPersistentStore(ofType: nil, at: url)
      #expect(metadata[NSStoreTypeKey] as? String == type)
      metadata["version"] = 3
      try stores.setMetadata(metadata, forPersistentStoreOfType: nil, at: url)
      #expect(try stores.metadataForPersistentStore(ofType: type, at: url)["version"] as? Int == 3)
    }
    #expect(throws: CocoaError.self) {
      try stores.metadataForPersistentStore(ofType: nil, at: folder.appending(path: "None"))
    }
  }

  @Test func `a primitive value of an unchanged object is no change of it`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    let author = Author(name: "Ada", context: context)
    try context.save()
    author.setPrimitiveValue("Eve", forKey: "name")
    #expect(author.name == "Eve" && author.changedValues().isEmpty && !author.hasChanges)
    author.born = .distantPast
    #expect(Set(author.changedValues().keys) == ["born", "name"])
  }

  @Test func `an accessor of an ordered relationship says which places change`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    let author = Author(name: "Ada", context: context)
    for place in [0, 0] {
      let places = IndexSet(integer: place)
      author.willChange(.insertion, valuesAt: places, forKey: "shelf")
      let shelf = NSMutableOrderedSet(orderedSet: author.shelf ?? NSOrderedSet())
      shelf.insert(Book(context: context), at: place)
      author.setPrimitiveValue(shelf, forKey: "shelf")
      author.didChange(.insertion, valuesAt: places, forKey: "shelf")
    }
    #expect(author.shelf?.count == 2)
    try context.save()
    context.refreshAllObjects()
    #expect(author.shelf?.count == 2)
  }

  @Test func `a class of objects has a superclass and a name`() {
    final class Poet: Author {}
    #expect(Poet.superclass() == Author.self && Author.superclass() == NSManagedObject.self)
    #expect(Author.description() == NSStringFromClass(Author.self))
    #expect(Poet.isSubclass(of: Author.self) && !Author.isSubclass(of: Poet.self))
    let object = NSManagedObject(entity: NSEntityDescription(), insertInto: nil)
    #expect(object.superclass == NSManagedObject.superclass() && object.classForCoder == NSManagedObject.self)
    #expect(object.isKind(of: NSManagedObject.self) && !object.isKind(of: Author.self))
  }

  @Test func `initialisers in extensions make models and entities`() throws {
    let (part, whole) = (NSEntityDescription(called: "Part"), NSEntityDescription(called: "Whole"))
    let text = Library.attribute("text", .stringAttributeType)
    part.properties = [text]
    part.indexes = [NSFetchIndexDescription(of: text)]
    let top = NSEntityDescription(called: "Top", subentities: [part, whole])
    let context = try Library.makeContext(NSManagedObjectModel(listing: [top, part, whole]))
    let object = NSEntityDescription.insertNewObject(forEntityName: "Part", into: context)
    object.setValue("a", forKey: "text")
    try context.save()
    #expect(part.superentity == top && part.managedObjectModel.entities.count == 3)
    #expect(part.indexes.first?.elements.first?.indexDescription === part.indexes.first)
    let number = Library.attribute("number", .integer64AttributeType)
    let other = NSEntityDescription(called: "Other", indexed: number)
    #expect(other.indexes.first?.entity === other && number.entity === other)
    #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Top")) == [object])
  }

  @Test func `descriptions of properties are inherited from`() throws {
    final class Named: NSRelationshipDescription, @unchecked Sendable { var note = "" }
    final class Counted: NSAttributeDescription, @unchecked Sendable { let count = 3 }
    let (entity, parent, number) = (NSEntityDescription(), Named(), Counted())
    entity.name = "Node"
    (parent.name, parent.destinationEntity, parent.maxCount, parent.note) = ("parent", entity, 1, "up")
    (number.name, number.attributeType) = ("number", .integer64AttributeType)
    entity.properties = [parent, number]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try Library.makeContext(model)
    let object = NSManagedObject(entity: entity, insertInto: context)
    object.setValue(object, forKey: "parent")
    object.setValue(number.count, forKey: "number")
    try context.save()
    #expect((entity.relationshipsByName["parent"] as? Named)?.note == "up")
    #expect(object.value(forKeyPath: "parent.number") as? Int == 3)
  }

  @Test func `an error of Cocoa has the parts of its user info, and its code as a pattern`() throws {
    let author = Author()
    let error = CocoaError(
      .validationMissingMandatoryProperty,
      userInfo: [NSValidationKeyErrorKey: "name", NSValidationObjectErrorKey: author])
    #expect(error.validationKey == "name" && error.validationObject as? Author === author)
    #expect(error.validationValue == nil && error.affectedObjects == nil)
    do {
      throw error
    } catch CocoaError.validationMissingMandatoryProperty {}
  }

  @Test func `a block of a coordinator returns any value`() async {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.makeModel())
    let list = NSMutableArray()
    let same = await coordinator.perform { list }
    #expect(same === list)
  }

  @Test func `a staged manager is an option of a description`() throws {
    let manager = NSStagedMigrationManager([])
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    #expect(description.options[NSPersistentStoreStagedMigrationManagerOptionKey] === manager)
    let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.makeModel())
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
  }

  private enum Outer {
    final class Inner: NSManagedObject {}
  }
  private final class Hidden {}

  @Test func `classes in others and private ones have names by which they are found`() {
    for type in [
      Outer.Inner.self, Hidden.self, Author.self, NSManagedObject.self, NSManagedObjectContext.self,
    ] as [AnyClass] {
      let name = CoreData._nameOfClass(type)
      #expect(!name.isEmpty && !name.contains("unknown context"))
    }
    #expect(CoreData._nameOfClass(Author.self) == "CoreDataTests.Author")
    #expect(CoreData._nameOfClass(NSManagedObjectContext.self) == "NSManagedObjectContext")
    #expect(CoreData._nameOfClass(NSManagedObject.self) == "NSManagedObject")
    #expect(CoreData._class(named: CoreData._nameOfClass(Outer.Inner.self)) == Outer.Inner.self)
    #expect(CoreData._class(named: "CoreDataTests.Author") == Author.self)
    #expect(CoreData._class(named: "Nowhere.Nothing") == nil)
  }

  @Test func `an autorelease pool runs its body`() throws {
    #expect(autoreleasepool { 3 } == 3)
    #expect(throws: CocoaError.self) { try autoreleasepool { throw CocoaError(.coreData) } }
  }

  @Test func `notifications are a sequence`() async {
    let name = Notification.Name("ShapePatternTests")
    let sequence = NotificationCenter.default.notifications(named: name)
    for number in 1...3 {
      NotificationCenter.default.post(name: name, object: nil, userInfo: ["number": number])
    }
    var numbers: [Int] = []
    for await notification in sequence {
      numbers.append(notification.userInfo?["number"] as? Int ?? 0)
      if numbers.count == 3 { break }
    }
    #expect(numbers == [1, 2, 3])
  }

  @Test func `descriptions are copied`() throws {
    let author = try #require(Library.makeModel().entitiesByName["Author"])
    author.uniquenessConstraints = [["name"]]
    let copy = try #require(author.copy() as? NSEntityDescription)
    #expect(
      copy !== author && copy.name == "Author"
        && copy.attributesByName["name"] !== author.attributesByName["name"])
    #expect(
      copy.attributesByName["name"]?.defaultValue as? String == ""
        && copy.attributesByName["name"]?.isOptional == false)
    #expect(copy.relationshipsByName["shelf"]?.isOrdered == true)
    #expect(copy.uniquenessConstraints as? [[String]] == [["name"]])
    copy.name = "Other"
    #expect(author.name == "Author")
  }

  /// A library makes the relationships of several pairs of entities from one pair of templates.
  @Test func `copies of relationships have the inverses of their names in the model`() throws {
    func relationship(_ name: String, maxCount: Int) -> NSRelationshipDescription {
      let made = NSRelationshipDescription()
      (made.name, made.maxCount, made.isOptional, made.deleteRule) = (
        name, maxCount, true, .nullifyDeleteRule
      )
      return made
    }
    let (node, tags) = (relationship("node", maxCount: 1), relationship("tags", maxCount: 0))
    (node.inverseRelationship, tags.inverseRelationship) = (tags, node)
    let model = NSManagedObjectModel()
    for name in ["City", "Person"] {
      let (entity, tag) = (NSEntityDescription(), NSEntityDescription())
      (entity.name, tag.name) = (name, "\(name)Tag")
      (node.destinationEntity, tags.destinationEntity) = (entity, tag)
      entity.properties = [try #require(tags.copy() as? NSRelationshipDescription)]
      tag.properties = [try #require(node.copy() as? NSRelationshipDescription)]
      model.entities += [entity, tag]
    }
    let copied = NSManagedObjectModel()
    copied.entities = model.entities.compactMap { $0.copy() as? NSEntityDescription }
    let lonely = NSManagedObjectModel()
    lonely.entities = model.entities.filter { !($0.name ?? "").hasPrefix("City") }
      .compactMap { $0.copy() as? NSEntityDescription }
    for model in [model, copied, lonely] {
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try context.persistentStoreCoordinator?.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
      for entity in model.entities {
        for relationship in entity.relationshipsByName.values {
          #expect(model.entities.contains { $0 === relationship.destinationEntity })
          #expect(relationship.inverseRelationship?.inverseRelationship === relationship)
          #expect(relationship.inverseRelationship?.entity === relationship.destinationEntity)
        }
      }
      context.performAndWait {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        let tag = NSEntityDescription.insertNewObject(forEntityName: "PersonTag", into: context)
        tag.setValue(person, forKey: "node")
        #expect(person.value(forKey: "tags") as? NSSet == NSSet(object: tag))
      }
    }
  }

  @Test func `a copied relationship whose inverse does not lead back has none`() throws {
    let model = Library.makeModel()
    let author = try #require(model.entitiesByName["Author"])
    let books = try #require(author.relationshipsByName["books"])
    let editor = NSEntityDescription()
    editor.name = "Editor"
    editor.properties = [try #require(books.copy() as? NSRelationshipDescription)]
    model.entities.append(editor)
    _ = try NSPersistentStoreCoordinator(managedObjectModel: model)
      .addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    #expect(editor.relationshipsByName["books"]?.inverseRelationship == nil)
    #expect(books.inverseRelationship?.inverseRelationship === books)
  }

  @Test func `values before and after changes are those of key-value coding`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    try context.performAndWait {
      let (author, book) = (Author(name: "A", context: context), Book(context: context))
      book.pages = 3
      book.author = author
      try context.save()
      book.pages = 4
      book.author = nil
      #expect(book.changedValues()["pages"] as? NSNumber == 4 && book.changedValues()["author"] is NSNull)
      #expect(book.committedValues(forKeys: ["pages"])["pages"] as? NSNumber == 3)
      #expect(book.committedValues(forKeys: ["author"])["author"] as? Author === author)
      #expect(book.changedValuesForCurrentEvent()["pages"] as? NSNumber == 3)
      #expect(author.committedValues(forKeys: ["books"])["books"] as? NSSet == NSSet(object: book))
    }
  }
}

extension NSManagedObjectContextConcurrencyType {
  /// The deprecated kind, by its number.
  fileprivate static var confinementLike: Self { Self(rawValue: 0) ?? .privateQueueConcurrencyType }
}

extension NSManagedObjectModel {
  fileprivate convenience init(listing entities: [NSEntityDescription]) {
    self.init()
    self.entities = entities
  }
}

extension NSFetchIndexDescription {
  fileprivate convenience init(of property: NSPropertyDescription) {
    self.init(name: "by\(property.name)", elements: [])
    elements = [NSFetchIndexElementDescription(property: property, collationType: .binary)]
  }
}

extension NSEntityDescription {
  fileprivate convenience init(called name: String, indexed property: NSPropertyDescription) {
    self.init()
    self.name = name
    properties = [property]
    indexes = [NSFetchIndexDescription(of: property)]
  }

  fileprivate convenience init(called name: String, subentities: [NSEntityDescription] = []) {
    self.init()
    self.name = name
    self.subentities = subentities
  }
}
