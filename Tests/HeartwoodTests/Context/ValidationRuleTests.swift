import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFiles
import TestSupport
import Testing

/// A class that declares every kind of rule.
private final class Ruled: ManagedObject {
  @Attribute(validated: .length(1...5), .pattern("[a-z]*")) var code: String?
  @Attribute(validated: .range(-3...10)) var rank: Int?
  @Attribute(validated: .number(atLeast: 0.5, atMost: 2)) var factor: Double?
  @Attribute(validated: .date(notBefore: Date(timeIntervalSinceReferenceDate: 100))) var begin: Date?
  @Attribute(validated: .condition("end == NIL OR end >= begin").orElse("the end is before the begin"))
  var end: Date?
  @Attribute(validated: .length(...3)) var bytes: Data?
  @Attribute var room = 0
  @Attribute var seat = 0
  @Relationship(inverse: { $0.parts }, count: .required) var whole: RuledWhole?
  var coerces = false

  override class var uniquenessConstraints: [[String]] { [["room", "seat"]] }
  override class var compoundIndexes: [[String]] { [["rank", "code"]] }

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    if coerces, key == "code", let text = value as? String { value = text.lowercased() }
  }
}

private final class RuledWhole: ManagedObject {
  @Relationship(inverse: { $0.whole }, count: .range(1...2)) var parts: Set<Ruled>
}

/// The last seat that was given to an object, as seats are unique.
private let seats = Guarded(1000)

private let ruledTypes: [ManagedObject.Type] = [Ruled.self, RuledWhole.self]

@Suite struct `Validation rules` {
  private func makeContext() throws -> ManagedObjectContext {
    try PersistentContainer(name: "Ruled", types: ruledTypes, at: URL(fileURLWithPath: "/dev/null"))
      .newBackgroundContext()
  }

  private func makeRuled(_ context: ManagedObjectContext) -> Ruled {
    let object = Ruled(context: context)
    object.seat = seats.withLock { seat in
      seat += 1
      return seat
    }
    object.whole = RuledWhole(context: context)
    return object
  }

  // VAL-01, VAL-02, VAL-04
  @Test func `values at the limits are saved, values beyond them are refused with Core Data's codes`() throws
  {
    let context = try makeContext()
    let object = makeRuled(context)
    try context.save()
    func code(_ change: () -> Void) -> Int? {
      change()
      defer { context.rollback() }
      return heartwoodError { try context.save() }?.code.rawValue
    }
    #expect(code { object.rank = -3 } == nil)
    #expect(code { object.rank = 10 } == nil)
    #expect(code { object.rank = -4 } == 1620)
    #expect(code { object.rank = 11 } == 1610)
    #expect(code { object.factor = 0.5 } == nil)
    #expect(code { object.factor = 0.49 } == 1620)
    #expect(code { object.factor = 2.01 } == 1610)
    #expect(code { object.code = "abcde" } == nil)
    #expect(code { object.code = "" } == 1670)
    #expect(code { object.code = "abcdef" } == 1660)
    #expect(code { object.code = "A" } == 1680)
    #expect(code { object.begin = Date(timeIntervalSinceReferenceDate: 99) } == 1640)
    #expect(code { object.begin = Date(timeIntervalSinceReferenceDate: 100) } == nil)
    #expect(code { object.bytes = Data([1, 2, 3]) } == nil)
    #expect(code { object.bytes = Data([1, 2, 3, 4]) } == 1660)
    #expect(code { object.whole = nil } == 1560)
    #expect(code { (object.rank, object.code, object.factor) = (nil, nil, nil) } == nil)
  }

  @Test func `a date that is no number is after every limit, and messages name dates with their fractions`()
    throws
  {
    final class Limited: ManagedObject {
      @Attribute(validated: .date(notAfter: Date(timeIntervalSinceReferenceDate: 100))) var latest: Date?
      @Attribute(validated: .number(atMost: 5)) var most: Double?
    }
    let context = try PersistentContainer(
      name: "Limited", types: [Limited.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    let object = Limited(context: context)
    for (seconds, shown) in [
      (.nan, "NaN"), (.infinity, "the infinite future"), (100.25, "2001-01-01T00:01:40.250Z"),
    ] as [(Double, String)] {
      object.latest = Date(timeIntervalSinceReferenceDate: seconds)
      let error = try #require(heartwoodError { try context.save() })
      #expect(error.code.rawValue == 1630 || error.code == .validationDateTooLate)
      #expect(
        error.message.contains("is \(shown), which must be not after 2001-01-01T00:01:40Z"),
        "\(error.message)")
    }
    (object.latest, object.most) = (nil, .nan)
    #expect(heartwoodError { try context.save() }?.code == .validationNumberTooLarge)
    (object.latest, object.most) = (Date(timeIntervalSinceReferenceDate: -.infinity), nil)
    try context.save()
  }

  // VAL-04, VAL-05
  @Test func `an error names object, property, value and rule, with the model's message`() throws {
    let context = try makeContext()
    let object = makeRuled(context)
    object.begin = Date(timeIntervalSinceReferenceDate: 200)
    object.end = Date(timeIntervalSinceReferenceDate: 150)
    let error = try #require(heartwoodError { try context.save() })
    #expect(error.code == .managedObjectValidation)
    #expect(error.message == "the end is before the begin")
    #expect(error.property == "end" && error.objectIDs == [object.objectID])
    #expect(error.value as? Date == object.end)
    #expect(error.validationRule?.description == "end == NIL OR end >= begin")
    #expect((error as NSError).userInfo["NSValidationErrorPredicate"] != nil)
    object.end = Date(timeIntervalSinceReferenceDate: 250)
    try context.save()
  }

  // VAL-03, T04
  @Test func `several failures come as one error that has them all`() throws {
    let context = try makeContext()
    let object = makeRuled(context)
    (object.rank, object.code) = (11, "TOOLONG")
    let error = try #require(heartwoodError { try context.save() })
    #expect(error.code == .validationMultipleErrors)
    #expect(Set(error.details.map(\.code.rawValue)) == [1610, 1660])
  }

  // VAL-09
  @Test func `a validator may replace a value, and the rules check what it assigns`() throws {
    let context = try makeContext()
    let object = makeRuled(context)
    object.coerces = true
    object.code = "ABC"
    #expect(heartwoodError { try context.save() }?.code.rawValue == 1680)
    object.code = "abc"
    try context.save()
    #expect(try object.validate("abcd", forKey: "code") as? String == "abcd")
    #expect(throws: HeartwoodError.self) { try object.validate("abcdefg", forKey: "code") }
    #expect(throws: HeartwoodError.self) { try object.validate(3, forKey: "nothing") }
  }

  // VAL-09; findings: what a validator changes is saved without validation
  @Test func `what a validator assigns is saved, and what it deletes follows its delete rules`() throws {
    final class Coercing: ManagedObject {
      @Attribute var title = ""
      @Relationship(inverse: { $0.parent }, deleteRule: .cascade) var children: Set<Coercing>
      @Relationship(inverse: { $0.children }) var parent: Coercing?
      override func validateValue(_ value: inout Any?, forKey key: String) throws {
        if key == "title", let text = value as? String { value = text.trimmingCharacters(in: .whitespaces) }
      }
      override func validateForInsert() throws {
        try super.validateForInsert()
        if title == "delete the others" { parent.map { managedObjectContext?.delete($0) } }
      }
    }
    let context = try PersistentContainer(
      name: "Coercing", types: [Coercing.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    let (parent, sibling) = (Coercing(context: context), Coercing(context: context))
    sibling.parent = parent
    parent.title = "  padded "
    try context.save()
    #expect(parent.title == "padded" && !parent.hasChanges)
    let new = Coercing(context: context)
    new.title = "delete the others"
    new.parent = parent
    try context.save()
    #expect(try context.count(Coercing.self) == 0)
  }

  @Test func `a class may declare constraints and indexes of several attributes`() throws {
    let context = try makeContext()
    let (first, second) = (makeRuled(context), makeRuled(context))
    (first.room, first.seat) = (1, 1)
    (second.room, second.seat) = (1, 2)
    try context.save()
    second.seat = 1
    #expect(heartwoodError { try context.save() }?.constraintConflicts.first?.constraint == ["room", "seat"])
    context.rollback()
    let plan = try context.plan(for: Ruled.self, where: { $0.rank == 3 && $0.code == "a" })
    #expect(plan.steps == ["index: Ruled.rank == 3 AND code == \"a\""])
  }

  // REL-02, VAL-08
  @Test func `a class may say how many destinations a relationship needs`() throws {
    let context = try makeContext()
    let whole = RuledWhole(context: context)
    #expect(heartwoodError { try context.save() }?.code == .validationRelationshipLacksMinimumCount)
    let parts = (0..<3).map { number -> Ruled in
      let part = Ruled(context: context)
      part.seat = number
      part.whole = whole
      return part
    }
    #expect(heartwoodError { try context.save() }?.code == .validationRelationshipExceedsMaximumCount)
    context.delete(parts[0])
    try context.save()
    parts[1].whole = nil
    #expect(heartwoodError { try context.save() }?.code == .validationMissingMandatoryProperty)
  }

  // MOD-35
  @Test func `rules are set and read as predicates on the value, with their messages`() throws {
    let folder = try TemporaryFolder()
    let attributes = [
      AttributeDescription(name: "rank", type: .integer64), AttributeDescription(name: "code", type: .string),
      AttributeDescription(name: "note", type: .string),
    ]
    attributes[0].setValidationPredicates(
      [try FormatPredicate("SELF IN %@", [1, 2, 4]), try FormatPredicate("NOT rank == 4 OR note != NIL")],
      withValidationWarnings: ["a power of two, please"])
    attributes[1].setValidationPredicates(
      [
        try FormatPredicate("length <= 5"), try FormatPredicate("length >= 2"),
        try FormatPredicate("SELF MATCHES[c] '[a-z]*' OR SELF == \"SELF\""),
      ], withValidationWarnings: nil)
    #expect(attributes[0].validationWarnings == ["a power of two, please", ""])
    #expect(
      attributes[1].validationPredicates.map(\.description) == [
        "length <= 5", "length >= 2", "SELF MATCHES[c] \"[a-z]*\" OR SELF == \"SELF\"",
      ])
    let entity = EntityDescription()
    entity.name = "Seat"
    entity.ownProperties = attributes
    let model = ManagedObjectModel(entities: [entity])
    let container = PersistentContainer(name: "Seats", managedObjectModel: model)
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: folder.store)]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    func failure(_ values: [String: Any]) -> HeartwoodError? {
      let seat = EntityDescription.insertNewObject(forEntityName: "Seat", into: context)
      for (key, value) in values { seat.setValue(value, forKey: key) }
      defer { context.rollback() }
      return heartwoodError { try context.save() }
    }
    #expect(failure([:]) == nil)
    #expect(failure(["rank": 2, "code": "abc"]) == nil)
    #expect(failure(["rank": 3])?.message == "a power of two, please")
    #expect(failure(["rank": 4])?.message.contains("NOT (rank == 4) OR note != NIL") == true)
    #expect(failure(["rank": 4, "note": "last"]) == nil)
    #expect(failure(["code": "a"])?.code == .validationStringTooShort)
    #expect(failure(["code": "abcdef"])?.code == .validationStringTooLong)
    #expect(failure(["code": "a1"])?.message.contains("does not satisfy the condition SELF MATCHES") == true)
    #expect(failure(["code": "SELF"]) == nil)
    try container.close()
    let stored = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.store)
    let rank = stored.entitiesByName["Seat"]?.attributesByName["rank"]
    #expect(
      rank?.validationPredicates.map(\.description) == attributes[0].validationPredicates.map(\.description))
    #expect(rank?.validationWarnings == ["a power of two, please", ""])
  }

  // MOD-35
  @Test func `every kind of rule is a predicate that can be read`() throws {
    let attribute = AttributeDescription(name: "a", type: .string)
    let day = Date(timeIntervalSinceReferenceDate: 100)
    attribute.validationRules = [
      .range(1...3), .number(atMost: 2.5), .date(notBefore: day), .length(1...4), .pattern("a\"b.*"),
      .condition("a == b"), .value("SELF != 3"),
    ]
    #expect(
      attribute.validationPredicates.map(\.description) == [
        "SELF >= 1 AND SELF <= 3", "SELF <= 2.5", "SELF >= CAST(100.0, \"NSDate\")",
        "length >= 1 AND length <= 4", "SELF MATCHES \"a\\\"b.*\"", "a == b", "SELF != 3",
      ])
  }

  // T77
  @Test func `rules are in the store's copy of the model, and changing them needs no migration`() throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(name: "Ruled", types: ruledTypes, at: folder.store)
    try container.close()
    let model = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.store)
    let rank = model.entitiesByName["Ruled"]?.attributesByName["rank"]
    #expect(rank?.validationRules == [.range(-3...10)])
    let other = try ManagedObjectModel(types: ruledTypes) { model in
      model.entitiesByName["Ruled"]?.attributesByName["rank"]?.validationRules = []
    }
    let again = PersistentContainer(name: "Ruled", managedObjectModel: other)
    again.persistentStoreDescriptions = [PersistentStoreDescription(url: folder.store)]
    try again.loadPersistentStores()
    let context = again.newBackgroundContext()
    let object = makeRuled(context)
    object.rank = 1000
    try context.save()
    try again.close()
  }

  @Test func `rules that do not fit the attribute are refused with the model`() throws {
    func problem(_ type: AttributeType, _ rule: ValidationRule) -> String? {
      let attribute = AttributeDescription(name: "value", type: type)
      attribute.validationRules = [rule]
      let entity = EntityDescription(name: "Thing")
      entity.properties = [attribute]
      let model = ManagedObjectModel(entities: [entity])
      return heartwoodError { _ = try PersistentStoreCoordinator(checking: model) }?.message
    }
    #expect(problem(.string, .range(1...2))?.contains("Thing.value") == true)
    #expect(problem(.integer64, .length(1...2)) != nil)
    #expect(problem(.string, .pattern("(")) != nil)
    #expect(problem(.string, .condition("value ==")) != nil)
    #expect(problem(.string, .length(1...)) == nil)
  }
}
