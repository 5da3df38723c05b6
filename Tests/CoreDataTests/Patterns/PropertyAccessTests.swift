import CoreData
import CoreDataTranslation
import SwiftTokens
import Foundation
import Heartwood
import HeartwoodFaults
import Testing

/// Generated code finds properties by the hashes of their names.
@Suite struct `Properties by the hashes of their names` {
  final class Reading: NSManagedObject {
    subscript<Value: AttributeValue>(name: String) -> Value {
      get { _managedGet(name, PropertyHash.of(name)) }
      set { _managedSet(name, PropertyHash.of(name), newValue) }
    }
    var parent: Reading? {
      get { _managedGet("parent", PropertyHash.of("parent")) }
      set { _managedSet("parent", PropertyHash.of("parent"), newValue) }
    }
  }

  static let types: [NSAttributeType] = [
    .integer64AttributeType, .stringAttributeType, .doubleAttributeType, .booleanAttributeType,
    .dateAttributeType, .integer16AttributeType,
  ]

  static func container(_ names: [String]) throws -> NSPersistentContainer {
    let entity = NSEntityDescription()
    entity.name = "Reading"
    entity.managedObjectClassName = "Reading"
    entity.properties = names.enumerated().map {
      Library.attribute($1, types[$0 % types.count])
    }
    let parent = Library.relationship("parent", entity, many: false, .nullifyDeleteRule)
    let children = Library.relationship("children", entity, many: true, .nullifyDeleteRule)
    parent.inverseRelationship = children
    children.inverseRelationship = parent
    entity.properties += [parent, children]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let container = NSPersistentContainer(name: "Readings", managedObjectModel: model)
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    ]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  /// The properties that libraries declare for attributes of any type.
  final class Loose: NSManagedObject {
    var any: Any { get { _managedGet("value", PropertyHash.of("value")) } }
    var maybe: Any? { get { _managedGet("value", PropertyHash.of("value")) } }
    var object: AnyObject { get { _managedGet("value", PropertyHash.of("value")) } }
    var maybeObject: AnyObject? { get { _managedGet("value", PropertyHash.of("value")) } }
    var parent: Loose? { get { _managedGet("parent", PropertyHash.of("parent")) } }
    var parentAsAny: Any? { get { _managedGet("parent", PropertyHash.of("parent")) } }
  }

  @Test func `a property that is declared as any value reads values and destinations`() throws {
    let entity = NSEntityDescription()
    entity.name = "Loose"
    entity.managedObjectClassName = "Loose"
    let parent = Library.relationship("parent", entity, many: false, .nullifyDeleteRule)
    entity.properties = [Library.attribute("value", .stringAttributeType), parent]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try Library.makeContext(model)
    let (a, b) = (Loose(entity: entity, insertInto: context), Loose(entity: entity, insertInto: context))
    #expect(a.maybe == nil && a.maybeObject == nil && a.parentAsAny == nil)
    a.setValue("text", forKey: "value")
    a.setValue(b, forKey: "parent")
    #expect(a.any as? String == "text")
    #expect(a.maybe as? String == "text")
    #expect(a.object as? String == "text")
    #expect(a.maybeObject as? String == "text")
    #expect(a.parent === b && a.parentAsAny as? Loose === b)
  }

  @Test func `the generator and the library hash names alike`() {
    var random = SplitMix64(seed: 28)
    for _ in 0..<500 {
      let count = Int.random(in: 0..<40, using: &random)
      let name = String(
        (0..<count).map { _ in
          "aZ_9äß漢🎈".randomElement(using: &random) ?? "a"
        })
      #expect(PropertyHash.of(name) == _PropertyHash.of(name), "\(name)")
    }
    #expect(PropertyHash.of("name") != PropertyHash.of("Name"))
  }

  @Test(arguments: [3, 7, 60])
  func `random values of many properties are read as they were set, by type and by name`(count: Int) throws {
    var random = SplitMix64(seed: UInt64(count))
    let names = (0..<count).map { "property\($0)" }
    let context = try Self.container(names).newBackgroundContext()
    try context.performAndWait {
      let object = Reading(context: context)
      var plain: [String: Any] = [:]
      for round in 0..<300 {
        let index = Int.random(in: 0..<count, using: &random)
        let (name, value) = (names[index], Int64(Int.random(in: 0..<1000, using: &random)))
        let isNil = Int.random(in: 0..<5, using: &random) == 0
        switch index % Self.types.count {
        case 0: object[name] = isNil ? nil : value
        case 1: object[name] = isNil ? nil : "\(value)"
        case 2: object[name] = isNil ? nil : Double(value) / 4
        case 3: object[name] = isNil ? nil : value % 2 == 0
        case 4: object[name] = isNil ? nil : Date(timeIntervalSinceReferenceDate: Double(value))
        default: object[name] = isNil ? nil : Int16(value)
        }
        let set: [Any] = [
          value, "\(value)", Double(value) / 4, value % 2 == 0,
          Date(timeIntervalSinceReferenceDate: Double(value)), Int16(value),
        ]
        plain[name] = isNil ? nil : set[index % Self.types.count]
        if round % 20 == 0 { try context.save() }
        if round % 60 == 0 { context.refresh(object, mergeChanges: false) }
        for (index, name) in names.enumerated() {
          switch index % Self.types.count {
          case 0:
            #expect(object[name] as Int64? == plain[name] as? Int64)
            #expect(object[name] as Int64 == plain[name] as? Int64 ?? 0)
            #expect(object.value(forKey: name) as? Int64 == plain[name] as? Int64)
          case 1:
            #expect(object[name] as String? == plain[name] as? String)
            #expect(object.value(forKey: name) as? String == plain[name] as? String)
          case 2:
            #expect(object[name] as Double? == plain[name] as? Double)
            #expect((object.value(forKey: name) as? NSNumber)?.doubleValue == plain[name] as? Double)
          case 3:
            #expect(object[name] as Bool? == plain[name] as? Bool)
            #expect((object.value(forKey: name) as? NSNumber)?.boolValue == plain[name] as? Bool)
          case 4:
            #expect(object[name] as Date? == plain[name] as? Date)
            #expect(object.value(forKey: name) as? Date == plain[name] as? Date)
          default:
            #expect(object[name] as Int16? == plain[name] as? Int16)
            #expect(object[name] as Int64? == (plain[name] as? Int16).map(Int64.init))
            #expect((object.value(forKey: name) as? NSNumber)?.int16Value == plain[name] as? Int16)
          }
        }
      }
      let parent = Reading(context: context)
      object.parent = parent
      try context.save()
      context.refreshAllObjects()
      #expect(object.parent === parent)
      object.parent = nil
      #expect(object.parent == nil)
    }
  }
}
