import CoreData
import Foundation
import TestSupport
import Testing

/// Uses of models, as applications write them.
@Suite struct `Patterns over models` {
  final class Sketch: NSManagedObject {
    var tags: [String]? {
      get { _managedGet("tags") }
      set { _managedSet("tags", newValue) }
    }
    var primitiveTitle: String? {
      get { _managedGet("primitiveTitle") }
      set { _managedSet("primitiveTitle", newValue) }
    }
    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String)
      throws
    {
      try super.validateValue(value, forKey: key)
      if key == "title", value.pointee as? String == "bad" {
        throw CocoaError(.validationStringPatternMatching)
      }
      if key == "title", value.pointee as? String == "trim " { value.pointee = "trim" as AnyObject }
    }
    override func value(forUndefinedKey key: String) -> Any? {
      key == "made" ? "up" : super.value(forUndefinedKey: key)
    }
  }

  /// A value whose class has no `isEqual(_:)`.
  final class Cover: NSObject {
    let text: String
    init(_ text: String) { self.text = text }
  }

  /// Encodes equal values in other bytes each time, as archives of dictionaries are.
  final class CoverTransformer: ValueTransformer {
    private var number: UInt8 = 0
    override func transformedValue(_ value: Any?) -> Any? {
      number &+= 1
      return (value as? Cover).map { Data([number]) + Data($0.text.utf8) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).map { Cover(String(decoding: $0.dropFirst(), as: UTF8.self)) }
    }
  }

  /// As the plugin writes it for a class of transformers.
  final class _TransformerNamed_FoundTransformer: _NamedTransformerClass {
    override class func make() -> ValueTransformer? { CoverTransformer() }
  }

  /// Properties that are declared with other types than the model has.
  final class Mixed: NSManagedObject {
    var small: Int16 {
      get { _managedGet("small") }
      set { _managedSet("small", newValue) }
    }
    var large: Int {
      get { _managedGet("large") }
      set { _managedSet("large", newValue) }
    }
    var when: TimeInterval {
      get { _managedGet("when") }
      set { _managedSet("when", newValue) }
    }
    var share: Float {
      get { _managedGet("share") }
      set { _managedSet("share", newValue) }
    }
  }

  @Test func `properties may have other types of numbers than their attributes, and dates be numbers`() throws
  {
    let entity = NSEntityDescription()
    entity.name = "Mixed"
    entity.managedObjectClassName = "Mixed"
    entity.properties = [
      Library.attribute("small", .integer64AttributeType),
      Library.attribute("large", .integer32AttributeType),
      Library.attribute("when", .dateAttributeType), Library.attribute("share", .doubleAttributeType),
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let mixed = Mixed(context: context)
      #expect(mixed.small == 0 && mixed.large == 0 && mixed.when == 0 && mixed.share == 0)
      (mixed.small, mixed.large, mixed.when, mixed.share) = (-3, 70_000, 1.5, 0.25)
      try context.save()
      context.reset()
      let found = try #require(try context.fetch(NSFetchRequest<Mixed>(entityName: "Mixed")).first)
      #expect(found.small == -3 && found.large == 70_000 && found.when == 1.5 && found.share == 0.25)
      #expect(found.value(forKey: "when") as? Date == Date(timeIntervalSinceReferenceDate: 1.5))
      // As read from the row.
      #expect(found.small == -3 && found.large == 70_000 && found.when == 1.5 && found.share == 0.25)
    }
  }

  func makeContext(
    transformer: String = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
  ) throws -> NSManagedObjectContext {
    let entity = NSEntityDescription()
    entity.name = "Sketch"
    entity.managedObjectClassName = "Sketch"
    let tags = Library.attribute("tags", .transformableAttributeType)
    tags.valueTransformerName = transformer
    let title = Library.attribute("title", .stringAttributeType)
    title.setValidationPredicates([NSPredicate(format: "length < 20")], withValidationWarnings: ["too long"])
    title.userInfo = ["note": "text"]
    entity.properties = [tags, title]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `settings for Apple's systems are kept with a property, and written to its model`() throws {
    let title = Library.attribute("title", .stringAttributeType)
    #expect(!title.isIndexedBySpotlight && !title.isStoredInExternalRecord)
    title.isIndexedBySpotlight = true
    title.isStoredInExternalRecord = true
    title.isStoredInExternalRecord = false
    let copy = try #require(title.copy() as? NSAttributeDescription)
    let entity = NSEntityDescription()
    entity.name = "Page"
    entity.properties = [copy]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Pages.xcdatamodeld")
    try model.writeXcodeModel(to: url)
    let read = try #require(
      NSManagedObjectModel(contentsOf: url)?.entitiesByName["Page"]?.attributesByName["title"])
    #expect(read.isIndexedBySpotlight && !read.isStoredInExternalRecord)
  }

  @Test func `a uniqueness constraint of no properties constrains nothing`() throws {
    let entity = NSEntityDescription()
    entity.name = "Page"
    entity.properties = [Library.attribute("title", .stringAttributeType)]
    entity.uniquenessConstraints = [[], ["title"], []]
    #expect(entity.uniquenessConstraints.count == 3)
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      for _ in 0..<2 {
        NSEntityDescription.insertNewObject(forEntityName: "Page", into: context).setValue(
          "A", forKey: "title")
      }
      #expect(throws: (any Error).self) { try context.save() }
    }
  }

  @Test func `transformable values are archived, and read again`() throws {
    let context = try makeContext()
    try context.performAndWait {
      let sketch = NSEntityDescription.insertNewObject(forEntityName: "Sketch", into: context) as! Sketch
      sketch.tags = ["a", "b"]
      try context.save()
      context.reset()
      let found = try context.fetch(NSFetchRequest<Sketch>(entityName: "Sketch")).first
      #expect(found?.tags == ["a", "b"])
      #expect(found?.value(forKey: "made") as? String == "up")
      #expect(found?.entity.attributesByName["title"]?.userInfo?["note"] as? String == "text")
      #expect(found?.entity.attributesByName["title"]?.validationPredicates.count == 1)
      #expect(found?.entity.managedObjectModel === context.persistentStoreCoordinator?.managedObjectModel)
    }
  }

  @Test(arguments: [
    "NSSecureUnarchiveFromDataTransformer", "NSSecureUnarchiveFromDataTransformerName",
    "NSKeyedUnarchiveFromData", "NSUnarchiveFromData",
    "NSUnarchiveFromDataTransformer", "",
  ])
  func `a transformer of archives is known by Foundation's names and by those of its classes`(name: String)
    throws
  {
    let context = try makeContext(transformer: name)
    try context.performAndWait {
      let sketch = NSEntityDescription.insertNewObject(forEntityName: "Sketch", into: context) as! Sketch
      sketch.tags = ["a", "b"]
      try context.save()
      context.refreshAllObjects()
      #expect(sketch.tags == ["a", "b"])
    }
  }

  @Test func `a transformable value without equality is saved as it is`() throws {
    ValueTransformer.setValueTransformer(CoverTransformer(), forName: "CoverTransformer")
    let context = try makeContext(transformer: "CoverTransformer")
    try context.performAndWait {
      let sketch = NSEntityDescription.insertNewObject(forEntityName: "Sketch", into: context) as! Sketch
      for text in ["a", "b"] {
        sketch.setValue(Cover(text), forKey: "tags")
        sketch.setValue(text, forKey: "title")
        try context.save()
        context.refreshAllObjects()
        #expect((sketch.value(forKey: "tags") as? Cover)?.text == text)
      }
    }
  }

  @Test(arguments: ["FoundTransformer", "Sketches.FoundTransformer"])
  func `a transformer that is not registered is found by the name of its class`(name: String) throws {
    let context = try makeContext(transformer: name)
    try context.performAndWait {
      let sketch = NSEntityDescription.insertNewObject(forEntityName: "Sketch", into: context) as! Sketch
      sketch.setValue(Cover("a"), forKey: "tags")
      try context.save()
      context.refreshAllObjects()
      #expect((sketch.value(forKey: "tags") as? Cover)?.text == "a")
    }
    #expect(ValueTransformer(forName: NSValueTransformerName(name)) is CoverTransformer)
  }

  @Test func `a transformable value may have decimal numbers within`() throws {
    let context = try makeContext()
    try context.performAndWait {
      let sketch = NSEntityDescription.insertNewObject(forEntityName: "Sketch", into: context)
      let price = try #require(Decimal(string: "12.34"))
      let given: [Any] = [1, "2", ["price": price, "all": [price, 3]]]
      sketch.setValue(given, forKey: "tags")
      try context.save()
      context.reset()
      let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Sketch")).first
      let read = try #require(found?.value(forKey: "tags") as? NSArray)
      #expect(read.isEqual(to: given))
    }
  }

  @Test func `values are validated by the class and by the model, and replaced by the class`() throws {
    let context = try makeContext()
    try context.performAndWait {
      let sketch = Sketch(context: context)
      sketch.setValue("bad", forKey: "title")
      do {
        try context.save()
        Issue.record("the class refuses the value")
      } catch { #expect((error as? CocoaError)?.code == .validationStringPatternMatching) }
      sketch.setValue("a title of more than twenty letters", forKey: "title")
      do {
        try context.save()
        Issue.record("the model refuses the value")
      } catch { #expect((error as NSError).domain == NSCocoaErrorDomain) }
      sketch.primitiveTitle = "raw"
      #expect(sketch.primitiveTitle == "raw")
      sketch.setValue("trim ", forKey: "title")
      try context.save()
      #expect(sketch.value(forKey: "title") as? String == "trim")
    }
  }

  @Test func `several invalid objects are one error with details`() throws {
    let context = try makeContext()
    context.performAndWait {
      let sketches = (0..<2).map { _ in Sketch(context: context) }
      for sketch in sketches { sketch.setValue("bad", forKey: "title") }
      do {
        try context.save()
        Issue.record("both are refused")
      } catch {
        let error = error as NSError
        #expect(error.code == NSValidationMultipleErrorsError)
        let details = error.userInfo[NSDetailedErrorsKey] as? [NSError]
        #expect(
          details?.map(\.code) == [
            NSValidationStringPatternMatchingError, NSValidationStringPatternMatchingError,
          ])
      }
    }
  }
}

@Suite struct `Classes of models of Xcode` {
  @Test func `a class in the program's module has the name that the runtime gives it`() throws {
    let folder = try TemporaryFolder()
    let place = folder.url.appending(path: "Library.xcdatamodel")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let entities = [("Author", ".Author"), ("Book", "Book"), ("Other", ".Nowhere"), ("Plain", "")]
    let text = entities.map { "<entity name=\"\($0)\" representedClassName=\"\($1)\"/>" }.joined()
    try Data("<model>\(text)</model>".utf8).write(to: place.appending(path: "contents"))
    let names = try #require(NSManagedObjectModel(contentsOf: place)).entitiesByName.mapValues {
      $0.managedObjectClassName
    }
    #expect(
      names["Author"] == CoreData._nameOfClass(Author.self) && names["Author"] == "CoreDataTests.Author")
    #expect(names["Book"] == "Book" && names["Other"] == "Nowhere" && names["Plain"] == "NSManagedObject")
  }
}

@Suite struct `Fetch requests of a model that cannot be used` {
  @Test func `a fetch throws the reason, and the request finds nothing else`() throws {
    let folder = try TemporaryFolder()
    let place = folder.url.appending(path: "Shop.xcdatamodel")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let text = """
      <model>
        <entity name="Item" representedClassName="NSManagedObject">
          <attribute name="name" optional="YES" attributeType="String"/>
        </entity>
        <fetchRequest name="cut" entity="Item" predicateString="name =="/>
        <fetchRequest name="gone" entity="Item" predicateString="nome == 'a'"/>
      </model>
      """
    try Data(text.utf8).write(to: place.appending(path: "contents"))
    let model = try #require(NSManagedObjectModel(contentsOf: place))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    for name in ["cut", "gone"] {
      let request = try #require(model.fetchRequestTemplate(forName: name))
      #expect(request.predicate?.isEqual(NSPredicate(value: false)) == false)
      #expect(throws: (any Error).self, "\(name)") {
        try context.performAndWait { _ = try context.fetch(request) }
      }
      let copy = model.fetchRequestFromTemplate(withName: name, substitutionVariables: ["X": 1])
      #expect(throws: (any Error).self) {
        try context.performAndWait { _ = try context.fetch(#require(copy)) }
      }
    }
  }
}
