import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

/// Conditions as sources for Core Data have them.
@Suite struct `Conditions in Core Data's forms` {
  private let context: ManagedObjectContext

  init() throws {
    let item = EntityDescription(name: "Item")
    item.properties = [
      AttributeDescription(name: "name", type: .string), AttributeDescription(name: "score", type: .double),
      AttributeDescription(name: "price", type: .decimal),
      AttributeDescription(name: "number", type: .integer32),
      AttributeDescription(name: "day", type: .date),
    ]
    let special = EntityDescription(name: "Special")
    item.subentities = [special]
    let box = EntityDescription(name: "Box")
    box.properties = [AttributeDescription(name: "name", type: .string)]
    let found = FetchedPropertyDescription()
    found.name = "found"
    box.ownProperties.append(found)
    let inside = RelationshipDescription(name: "item", destination: item, isToMany: false)
    box.ownProperties.append(inside)
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.predicate = try FormatPredicate("%K == $FETCH_SOURCE.%K", "name", "name")
    found.fetchRequest = request
    let model = ManagedObjectModel(entities: [item, special, box])
    let coordinator = try PersistentStoreCoordinator(checking: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    for (entity, name, score, number) in [
      ("Item", "a", 0.0, 0), ("Item", "b", 1.0, 1), ("Special", "1", 1.0, 2), ("Special", "07", 2.5, 7),
    ] {
      let object = ManagedObject(entity: try context.entity(entity), insertInto: context)
      object.setValue(name, forKey: "name")
      object.setValue(score, forKey: "score")
      object.setValue(Decimal(score), forKey: "price")
      object.setValue(number, forKey: "number")
      object.setValue(Date(timeIntervalSinceReferenceDate: score), forKey: "day")
    }
    let object = ManagedObject(entity: try context.entity("Box"), insertInto: context)
    object.setValue("b", forKey: "name")
    object.setValue(
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Special")).first, forKey: "item")
    try context.save()
  }

  private func names(_ format: String, _ arguments: (any PredicateArgument)?..., entity: String = "Item")
    throws -> String
  {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = try FormatPredicate(format, argumentArray: arguments)
    return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted().joined(
      separator: " ")
  }

  // FET-35
  @Test func `an object is tested for its class or entity`() throws {
    for format in ["SELF isKindOfClass: %@", "self isKindOfClass: %@", "SELF isKindOfEntity: %@"] {
      #expect(try names(format, "Special") == "07 1", "\(format)")
    }
    #expect(try names("SELF isKindOfClass: Special AND number > 2") == "07")
    #expect(try names("NOT SELF isKindOfClass: Special") == "a b")
    #expect(try names("item isKindOfClass: %@", "Special", entity: "Box") == "b")
    #expect(throws: HeartwoodError.self) { try names("SELF isKindOfClass: %@", "Nothing") }
  }

  // FET-24
  @Test func `a placeholder for a name may follow the source of a fetched property`() throws {
    let box = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Box")).first)
    let found = try #require(box.value(forKey: "found") as? [ManagedObject])
    #expect(found.map { $0.value(forKey: "name") as? String } == ["b"])
  }

  // FET-27
  @Test func `numbers of all types are compared with YES and NO`() throws {
    for name in ["score", "price", "number"] {
      #expect(try names("\(name) == NO") == "a", "\(name)")
      #expect(try names("\(name) == YES", entity: "Special") == (name == "number" ? "" : "1"), "\(name)")
    }
    #expect(
      try names("score == %@", true) == "1 b" && names("price IN %@", [true, false] as [Bool]) == "1 a b")
  }

  // FET-27
  @Test func `members of lists are compared as numbers or texts where the attribute's type says so`() throws {
    #expect(try names("number IN %@", ["1", "7"] as [String]) == "07 b")
    #expect(try names("score IN {'2.5', '0'}") == "07 a" && names("price IN {'1'}") == "1 b")
    #expect(try names("name IN %@", [1, 7] as [Int]) == "1")
    let error = heartwoodError { _ = try names("number IN {'one'}") }
    #expect(error?.code == .invalidPredicate && error?.message.contains("number") == true)
    #expect(throws: HeartwoodError.self) { try names("day IN {'today'}") }
  }

  @Test func `habits of SQL are named with the form that is meant`() throws {
    for format in ["name IS NULL", "name IS NOT NULL"] {
      let message = heartwoodMessage { _ = try names(format) } ?? ""
      #expect(message.contains("IS NOT NULL != NIL") && message.contains("column 6"), "\(message)")
    }
    #expect(try names("name LIKE '%'") == "" && names("name LIKE '*'").split(separator: " ").count == 4)
  }

  // FET-24
  @Test func `a text that a user may have written has another code than a mistake of the program`() throws {
    for format in ["name ==", "nothing == 1", "number == 'x'", "name MATCHES '('"] {
      #expect(heartwoodError { _ = try names(format) }?.code == .invalidPredicate, "\(format)")
    }
    let request = FetchRequest<ManagedObject>(entityName: "Nothing")
    #expect(heartwoodError { _ = try context.fetch(request) }?.code == .coreData)
  }

  @Test func `a printed request has its order`() throws {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.predicate = try FormatPredicate("number > 1")
    request.sortDescriptors = [
      NamedSort("name", ascending: false), try ComputedSort("lowercase:(name)"), NamedSort("score"),
    ]
    request.fetchLimit = 5
    #expect("\(request)" == "Item where number > 1 by name descending, lowercase:(name), score limit 5")
  }

  private final class Note: ManagedObject {
    @Attribute var text = "abc"
    @Attribute var size: Int64 = 5
    @Relationship(inverse: { $0.replies }) var answers: Note?
    @Relationship(inverse: { $0.answers }) var replies: Set<Note>
  }

  @Test func `a dump of an object or a context is short, and has the values`() throws {
    let model = try ManagedObjectModel(types: [Note.self])
    let coordinator = try PersistentStoreCoordinator(checking: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let note = Note(context: context)
    note.answers = Note(context: context)
    try context.save()
    let read = try #require(try context.fetch(FetchRequest<Note>()).first)
    for (value, part) in [
      (note as Any, "abc"), (read, "text"), (context, "privateQueue"), (model, "text, size"),
      (coordinator, "persistentStores"),
      (note.entity, "answers"),
    ] {
      var text = ""
      dump(value, to: &text)
      #expect(text.split(separator: "\n").count < 40 && text.contains(part), "\(text)")
    }
  }
}
