import Foundation
import GraphTestSupport
import Heartwood
import Testing

private enum Grade: String, AttributeValue {
  case low, high
}

private enum Level: Int16, AttributeValue {
  case first = 1
  case second = 2
}

private struct Metres: RawRepresentable, AttributeValue, Equatable {
  var rawValue: Double
}

/// Declares each kind of type that differs from its attribute's type.
private final class Sample: ManagedObject {
  @Attribute(.preservesValueInHistoryOnDeletion) var count = 1
  @Attribute var limit: Int?
  @Attribute var small: Int16 = 2
  @Attribute var medium: Int32? = 3
  @Attribute var share: Float = 0.5
  @Attribute var ratio: Float? = 0.25
  @Attribute(.preservesValueInHistoryOnDeletion) var grade = Grade.low
  @Attribute var formerGrade: Grade?
  @Attribute var level: Level? = .second
  @Attribute var height = Metres(rawValue: 2)
  @Attribute(.unique) var code = 0

  nonisolated(unsafe) static var seen: [String: Any?] = [:]
  override func validateValue(_ value: inout Any?, forKey key: String) throws { Self.seen[key] = value }
}

private func makeSamples() throws -> (PersistentContainer, ManagedObjectContext) {
  let container = try PersistentContainer(
    name: "Samples", types: [Sample.self], at: URL(fileURLWithPath: "/dev/null"))
  return (container, container.newBackgroundContext())
}

/// The dynamic type of a value, without optionals inside `Any`.
private func typeName(_ value: Any?) -> String {
  guard let value else { return "nil" }
  return "\(type(of: value))"
}

private let expectedTypes = [
  "count": "Int", "limit": "Int", "small": "Int16", "medium": "Int32", "share": "Float", "ratio": "Float",
  "grade": "Grade", "formerGrade": "Grade", "level": "Level", "height": "Metres", "code": "Int",
]

@Suite(.serialized) struct `Values by name have the declared type` {
  private func filled(_ context: ManagedObjectContext) -> Sample {
    let sample = Sample(context: context)
    sample.limit = 7
    sample.formerGrade = .high
    return sample
  }

  @Test func `value(forKey:) gives the type that the class declares, without its optional`() throws {
    let sample = filled(try makeSamples().1)
    for (key, type) in expectedTypes { #expect(typeName(sample.value(forKey: key)) == type, "\(key)") }
    #expect(sample.value(forKey: "limit") as? Int == 7)
    #expect(sample.value(forKey: "formerGrade") as? Grade == .high)
    sample.limit = nil
    #expect(sample.value(forKey: "limit") == nil)
  }

  @Test func `validateValue gets the type that the class declares`() throws {
    let (_, context) = try makeSamples()
    _ = filled(context)
    Sample.seen = [:]
    try context.save()
    for (key, type) in expectedTypes { #expect(typeName(Sample.seen[key] ?? nil) == type, "\(key)") }
  }

  @Test func `changedValues and committedValues have the declared types`() throws {
    let (_, context) = try makeSamples()
    let sample = filled(context)
    let changed = sample.changedValues()
    #expect(typeName(changed["limit"]) == "Int")
    #expect(typeName(changed["formerGrade"]) == "Grade")
    try context.save()
    context.refresh(sample, mergeChanges: false)
    let committed = sample.committedValues(forKeys: nil)
    for (key, type) in expectedTypes { #expect(typeName(committed[key]) == type, "\(key)") }
  }

  @Test func `a tombstone in the history has the declared types`() throws {
    let (container, context) = try makeSamples()
    let sample = filled(context)
    try context.save()
    context.delete(sample)
    try context.save()
    let tombstone = try #require(try container.history().last?.changes?.first?.tombstone)
    #expect(tombstone["count"] as? Int == 1)
    #expect(tombstone["grade"] as? Grade == .low)
  }

  @Test func `the values of a uniqueness conflict have the declared types`() throws {
    let (_, context) = try makeSamples()
    _ = (filled(context), filled(context))
    let error = heartwoodError { try context.save() }
    #expect(error?.constraintConflicts.first?.constraintValues.first as? Int == 0)
  }

  @Test func `setValue accepts the declared type and the stored type`() throws {
    let sample = filled(try makeSamples().1)
    sample.setValue(Grade.high, forKey: "grade")
    #expect(sample.grade == .high)
    sample.setValue("low", forKey: "grade")
    #expect(sample.grade == .low)
    sample.setValue(12, forKey: "limit")
    #expect(sample.limit == 12)
  }

  @Test func `assign refuses a stored value that the declared type does not have`() throws {
    let sample = filled(try makeSamples().1)
    let error = heartwoodError { try sample.assign("middling", forKey: "grade") }
    #expect(error?.code == .managedObjectValidation)
    #expect(error?.property == "grade")
    #expect(sample.grade == .low)
  }

  @Test func `without a class, values have the attribute type's own Swift type`() throws {
    let attributes: [(String, AttributeType, Any)] = [
      ("a", .integer16, Int16(1)), ("b", .integer32, Int32(1)), ("c", .integer64, Int64(1)),
      ("d", .float, Float(1)), ("e", .double, 1.0),
    ]
    let entity = EntityDescription(
      name: "Plain",
      properties: attributes.map { AttributeDescription(name: $0.0, type: $0.1, defaultValue: $0.2) })
    let container = PersistentContainer(
      name: "Plain", managedObjectModel: ManagedObjectModel(entities: [entity]))
    container.persistentStoreDescriptions = [
      PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    ]
    try container.loadPersistentStores()
    let object = ManagedObject(entity: entity, insertInto: container.newBackgroundContext())
    for (name, _, value) in attributes {
      #expect(typeName(object.value(forKey: name)) == typeName(value), "\(name)")
    }
  }
}
