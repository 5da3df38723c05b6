import CoreData
import Testing

// Archives name classes at the top of a file only.

final class InsecureValue: NSObject, NSCoding {
  override init() {}
  init?(coder: NSCoder) {}
  func encode(with coder: NSCoder) {}
}

final class SecureValue: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let inner: NSObject
  init(_ inner: NSObject) { self.inner = inner }
  init?(coder: NSCoder) {
    inner = coder.decodeObject(of: NSNumber.self, forKey: "inner") ?? NSNumber(value: 0)
  }
  func encode(with coder: NSCoder) { coder.encode(inner, forKey: "inner") }
}

/// One that encodes values of Swift, as most classes do.
final class SecureTexts: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let name: String
  let tags: [String]
  let made: Date?
  init(_ name: String, _ tags: [String], _ made: Date?) {
    (self.name, self.tags, self.made) = (name, tags, made)
  }
  init?(coder: NSCoder) {
    name = coder.decodeObject(of: NSString.self, forKey: "name") as String? ?? ""
    tags = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: "tags") as? [String] ?? []
    made = coder.decodeObject(of: NSDate.self, forKey: "made") as Date?
  }
  func encode(with coder: NSCoder) {
    coder.encode(name, forKey: "name")
    coder.encode(tags, forKey: "tags")
    coder.encode(made, forKey: "made")
    coder.encode(UUID(), forKey: "id")
    coder.encode(["a": URL(filePath: "/")], forKey: "places")
  }
}

final class SecureValueTransformer: NSSecureUnarchiveFromDataTransformer {
  override static var allowedTopLevelClasses: [AnyClass] {
    [SecureValue.self, SecureTexts.self, `Hooks of classes`.Nested.self, NSArray.self]
  }
}

/// Classes with hooks, as Apple's guides write them.
@Suite struct `Hooks of classes` {
  final class Greeter: NSManagedObject {
    var name: String? {
      get { _managedGet("name") }
      set { _managedSet("name", newValue) }
    }
    var greeting: String? {
      get { _managedGet("greeting") }
      set { _managedSet("greeting", newValue) }
    }
    var length: Int64 {
      get { _managedGet("length") }
      set { _managedSet("length", newValue) }
    }

    override func awakeFromFetch() {
      super.awakeFromFetch()
      setPrimitiveValue("Hello \(primitiveValue(forKey: "name") ?? "")", forKey: "greeting")
      setPrimitiveValue(7, forKey: "length")
    }

    override func validateForInsert() throws {
      try super.validateForInsert()
      guard name == "wrong" else { return }
      let details = [NSError(domain: "own", code: 8), NSError(domain: "own", code: 9)]
      throw NSError(domain: "own", code: 7, userInfo: [NSDetailedErrorsKey: details, "more": "text"])
    }
  }

  private func makeContext() throws -> NSManagedObjectContext {
    let person = NSEntityDescription()
    person.name = "Greeter"
    person.managedObjectClassName = "Greeter"
    let greeting = Library.attribute("greeting", .stringAttributeType)
    greeting.isTransient = true
    let length = Library.attribute("length", .integer64AttributeType, 0)
    length.isTransient = true
    let any = Library.attribute("any", .transformableAttributeType)
    any.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
    person.properties = [Library.attribute("name", .stringAttributeType), greeting, length, any]
    let model = NSManagedObjectModel()
    model.entities = [person]
    return try Library.makeContainer(model).viewContext
  }

  @Test func `a transient attribute that awakeFromFetch sets is there at the first read`() throws {
    let context = try makeContext()
    let person = Greeter(context: context)
    person.name = "Ada"
    try context.save()
    let reads: [(Greeter) -> Any?] = [
      { $0.value(forKey: "greeting") }, { $0.greeting }, { $0.value(forKeyPath: "greeting") },
    ]
    let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    child.parent = context
    for context in [context, child] {
      let person = try #require(try context.existingObject(with: person.objectID) as? Greeter)
      for read in reads {
        context.refresh(person, mergeChanges: false)
        #expect(read(person) as? String == "Hello Ada")
      }
      context.refresh(person, mergeChanges: false)
      #expect(person.length == 7 && !context.hasChanges)
    }
  }

  @Test func `an error of a class is reported as it is, whatever its details are`() throws {
    let context = try makeContext()
    let person = Greeter(context: context)
    person.name = "wrong"
    for validate in [person.validateForInsert, context.save] {
      let error = try #require(throws: (any Error).self) { try validate() } as NSError
      #expect(error.domain == "own" && error.code == 7 && error.userInfo["more"] as? String == "text")
      #expect((error.userInfo[NSDetailedErrorsKey] as? [NSError])?.map(\.code) == [8, 9])
    }
    Greeter(context: context).name = "wrong"
    let both = try #require(throws: (any Error).self) { try context.save() } as NSError
    #expect(both.domain == NSCocoaErrorDomain && both.code == NSValidationMultipleErrorsError)
    #expect((both.userInfo[NSDetailedErrorsKey] as? [NSError])?.map(\.code) == [7, 7])
  }

  struct Own: Hashable { var number = 1 }
  final class Nested: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    override init() {}
    init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
  }

  @Test func `a value without an archive that can be read is an error of the save`() throws {
    let context = try makeContext()
    let person = Greeter(context: context)
    let refused: [Any] = [
      Own(), InsecureValue(), [Own()], ["a": [InsecureValue()]], Set([Own()]), [Own(): 1],
      SecureValue(NSNumber(value: 1)),
      [SecureValue(NSNumber(value: 1))],
    ]
    for value in refused {
      person.setValue(value, forKey: "any")
      let error = try #require(throws: (any Error).self) { try context.save() } as NSError
      #expect(error.code == NSManagedObjectValidationError, "\(value)")
      #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "any", "\(value)")
    }
    person.setValue(["a": [1, Date(timeIntervalSinceReferenceDate: 1)]] as [String: Any], forKey: "any")
    let request = NSFetchRequest<NSDictionary>(entityName: "Greeter")
    (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, ["any"])
    for isDistinct in [false, true] {
      request.returnsDistinctResults = isDistinct
      let row = try context.fetch(request).first
      #expect((row?["any"] as? [String: [Any]])?["a"]?.count == 2, "of an unsaved object")
    }
    try context.save()
    #expect((try context.fetch(request).first?["any"] as? [String: [Any]])?["a"]?.count == 2)
    context.refresh(person, mergeChanges: false)
    #expect((person.value(forKey: "any") as? [String: [Any]])?["a"]?.count == 2)
    let transformer = SecureValueTransformer()
    #expect(transformer.reverseTransformedValue(SecureValue(InsecureValue())) == nil)
    #expect(transformer.reverseTransformedValue([5]) == nil)
    #expect(transformer.reverseTransformedValue([Nested()]) == nil)
    let data = transformer.reverseTransformedValue([SecureValue(NSNumber(value: 5))])
    #expect((transformer.transformedValue(data) as? [SecureValue])?.first?.inner == NSNumber(value: 5))
    for made in [nil, Date(timeIntervalSinceReferenceDate: 3)] {
      let data = transformer.reverseTransformedValue(SecureTexts("a", ["b", "c"], made))
      let texts = transformer.transformedValue(data) as? SecureTexts
      #expect(texts?.name == "a" && texts?.tags == ["b", "c"] && texts?.made == made)
    }
  }
}
