import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

/// Numbers that are the same for a seed.
private struct Numbers {
  var state: UInt64

  mutating func below(_ limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % limit
  }
  mutating func chance(_ parts: Int) -> Bool { below(parts) == 0 }
}

/// `import` reads everything that `export` writes: the same model, and the same objects, whatever the number of
/// transactions is.
@Suite struct `An export that is imported` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  // MARK: Models

  private static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binaryData,
    .uuid,
    .uri,
  ]

  /// Entities with properties of all kinds; the names of ordered relationships begin with o.
  private static func model(_ numbers: inout Numbers) -> ManagedObjectModel {
    let base = EntityDescription(name: "Base")
    base.isAbstract = true
    base.properties = [
      AttributeDescription(name: "serial", type: .integer64, isOptional: false, defaultValue: 0)
    ]
    base.uniquenessConstraints = [["serial"]]
    let entities = ["A", "B", "C"].map { EntityDescription(name: $0) }
    for (place, entity) in entities.enumerated() {
      for number in 0..<(2 + numbers.below(3)) {
        let type = types[numbers.below(types.count)]
        let attribute = AttributeDescription(name: "x\(place)\(number)", type: type, isOptional: true)
        if type == .binaryData { attribute.allowsExternalBinaryDataStorage = numbers.chance(2) }
        if numbers.chance(3), type != .binaryData { attribute.defaultValue = value(type, &numbers) }
        attribute.preservesValueInHistoryOnDeletion = numbers.chance(3)
        attribute.versionHashModifier = numbers.chance(4) ? "2" : nil
        attribute.userInfo = numbers.chance(3) ? ["why": "ü\(number)"] : [:]
        entity.ownProperties.append(attribute)
        if numbers.chance(4), type != .binaryData {
          entity.indexes.append(
            FetchIndexDescription(
              name: "byX\(place)\(number)", elements: [FetchIndexElementDescription(property: attribute)]))
        }
      }
      if numbers.chance(2) {
        entity.ownProperties.append(
          CompositeAttributeDescription(
            name: "place\(place)",
            elements: [
              AttributeDescription(name: "city", type: .string),
              AttributeDescription(
                name: "height", type: .double, defaultValue: numbers.chance(2) ? 2.5 : nil),
            ]))
      }
      if numbers.chance(2) {
        let passing = AttributeDescription(name: "passing\(place)", type: .string, isOptional: true)
        passing.isTransient = true
        entity.ownProperties.append(passing)
      }
    }
    base.subentities = [entities[0], entities[1]]
    entities[1].subentities = [entities[2]]
    for number in 0..<5 {
      let ends = (entities[numbers.below(3)], entities[numbers.below(3)])
      let many = (numbers.chance(2), numbers.chance(2))
      let ordered = (many.0 && numbers.chance(3), many.1 && numbers.chance(3))
      let one = RelationshipDescription(
        name: "\(ordered.0 ? "o" : "r")\(number)", destination: ends.1, isToMany: many.0)
      let other = RelationshipDescription(
        name: "\(ordered.1 ? "o" : "s")\(number)back", destination: ends.0, isToMany: many.1)
      (one.isOrdered, other.isOrdered) = ordered
      ends.0.ownProperties.append(one)
      // A few have no inverse.
      guard !numbers.chance(5) else { continue }
      (one.inverseRelationship, other.inverseRelationship) = (other, one)
      ends.1.ownProperties.append(other)
      if !many.0, many.1, ends.0 !== ends.1 {
        one.isOptional = numbers.chance(2)
        if numbers.chance(2) { ends.0.uniquenessConstraints = [[one.name, "serial"]] }
      }
      other.deleteRule = numbers.chance(2) ? .cascade : .nullify
    }
    let friends = RelationshipDescription(name: "friends", destination: entities[0], isToMany: true)
    friends.inverseRelationship = friends
    entities[0].ownProperties.append(friends)
    return ManagedObjectModel(entities: [base] + entities)
  }

  private static func value(_ type: AttributeType, _ numbers: inout Numbers) -> Any? {
    let number = numbers.below(20_000) - 10_000
    return switch type {
    case .integer16: Int16(number)
    case .integer32: Int32(number * 1000)
    case .integer64: Int64(number) << 40
    case .decimal: Decimal(number) / 100
    case .double: Double(number) / 7
    case .float: Float(number) / 7
    case .string: ["", "ä\"\\", "line\nline", "\u{1F600}", "x\(number)"][numbers.below(5)]
    case .boolean: number > 0
    case .date: Date(timeIntervalSinceReferenceDate: Double(number) * 1000.25)
    case .binaryData:
      Data(
        repeating: UInt8(truncatingIfNeeded: number), count: numbers.chance(3) ? 100_000 : numbers.below(50))
    case .uuid: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(numbers.below(256))))
    case .uri: URL(string: "https://example.org/\(number)")
    default: nil
    }
  }

  // MARK: Stores

  private func fill(_ path: String, _ model: ManagedObjectModel, _ numbers: inout Numbers) throws {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: URL(filePath: path)))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let entities = model.entitiesByName
    var objects: [String: [ManagedObject]] = [:]
    for serial in 0..<30 {
      let name = ["A", "B", "C"][serial < 3 ? serial : numbers.below(3)]
      let object = ManagedObject(entity: try #require(entities[name]), insertInto: context)
      object.setValue(serial, forKey: "serial")
      for case let attribute as AttributeDescription in object.entity.properties where !attribute.isTransient
      {
        guard attribute.name != "serial", !numbers.chance(5) else { continue }
        if numbers.chance(4) {
          // No value, also where there is a default.
          try object.assign(nil, forKey: attribute.name)
        } else if attribute is CompositeAttributeDescription {
          try object.assign(
            ["city": "Lyon", "height": numbers.chance(2) ? 1.5 : nil], forKey: attribute.name)
        } else {
          object.setValue(Self.value(attribute.type, &numbers), forKey: attribute.name)
        }
      }
      for kind in name == "C" ? ["B", "C"] : [name] { objects[kind, default: []].append(object) }
    }
    for object in (objects["A"] ?? []) + (objects["B"] ?? []) {
      for relationship in object.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
        let all = objects[relationship.destinationEntity.name ?? ""] ?? []
        guard !all.isEmpty else { continue }
        if !relationship.isToMany {
          guard !relationship.isOptional || numbers.chance(2) else { continue }
          object.setValue(all[numbers.below(all.count)], forKey: relationship.name)
        } else if relationship.inverseRelationship?.isOptional != false {
          var destinations: [ManagedObject] = []
          for _ in 0..<numbers.below(5) { destinations.append(all[numbers.below(all.count)]) }
          var seen: Set<ManagedObject> = []
          object.setValue(destinations.filter { seen.insert($0).inserted }, forKey: relationship.name)
        }
      }
    }
    try context.save()
    try coordinator.close()
  }

  /// The exported objects by their serials, with destinations as serials: in order where that has a meaning.
  private func objects(_ export: String) throws -> [Int: [String: String]] {
    let parsed = try JSONSerialization.jsonObject(with: Data(export.utf8))
    let all = try #require((parsed as? [String: Any])?["objects"] as? [[String: Any]])
    var serials: [String: Int] = [:]
    for object in all { serials[object["@id"] as? String ?? ""] = object["serial"] as? Int }
    func shown(_ value: Any, _ name: String) -> String {
      if let reference = (value as? [String: Any])?["@ref"] as? String {
        return "\(serials[reference] ?? -1)"
      }
      if let list = value as? [Any] {
        let shown = list.map { shown($0, name) }
        return "\(name.hasPrefix("o") ? shown : shown.sorted())"
      }
      if let parts = value as? [String: Any] {
        return "\(parts.mapValues { "\($0)" }.sorted { $0.key < $1.key })"
      }
      return "\(value)"
    }
    return try Dictionary(
      uniqueKeysWithValues: all.map { object in
        var values: [String: String] = [:]
        for (name, value) in object where name != "@id" { values[name] = shown(value, name) }
        values["@entity"] = String((object["@id"] as? String ?? "").prefix { $0 != "/" })
        return (try #require(object["serial"] as? Int), values)
      })
  }

  private func model(_ path: String) throws -> ManagedObjectModel {
    try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: URL(filePath: path))
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `a random store of every kind of property has the same objects and model again`(
    seed: UInt64
  ) throws {
    var numbers = Numbers(state: seed)
    let model = Self.model(&numbers)
    let path = folder.path("first.heartwood")
    try fill(path, model, &numbers)
    let exported = CommandRun("export", path)
    #expect(exported.status == .success, "seed \(seed): \(exported.notes)")
    let file = try folder.file("export.json", exported.output)
    let expected = try objects(exported.output)
    let kinds = ["log", "binary", "json", "xml"]
    for (place, batch) in ["1", "7", "1000"].enumerated() {
      let copy = folder.path("copy\(batch)")
      let run = CommandRun("import", copy, file, "--batch", batch, "--type", kinds[(place + Int(seed)) % 4])
      #expect(run.status == .success, "seed \(seed), batch \(batch): \(run.notes)")
      guard run.status == .success else { continue }
      let again = CommandRun("export", copy)
      let actual = try objects(again.output)
      for (serial, values) in expected where actual[serial] != values {
        Issue.record("seed \(seed), batch \(batch), \(serial): \(values) became \(actual[serial] ?? [:])")
        break
      }
      #expect(actual.count == expected.count)
      let (first, second) = (try self.model(path), try self.model(copy))
      #expect(first.versionChecksum == second.versionChecksum, "seed \(seed)")
      #expect(CommandRun("model", copy).output == CommandRun("model", path).output, "seed \(seed)")
      for entity in first.entities {
        for (name, attribute) in entity.attributesByName {
          let other = second.entitiesByName[entity.name ?? ""]?.attributesByName[name]
          #expect(attribute.allowsExternalBinaryDataStorage == other?.allowsExternalBinaryDataStorage)
          #expect(attribute.userInfo == other?.userInfo && attribute.isTransient == other?.isTransient)
        }
      }
      #expect(CommandRun("verify", copy).status == .success)
    }
  }

  @Test func `a bundled model is one of a file, in the form of the command and of programs`() throws {
    var numbers = Numbers(state: 99)
    let model = Self.model(&numbers)
    let document = folder.path("model.json")
    try model.encodedDocument().write(to: URL(filePath: document))
    let path = folder.path("made.heartwood")
    let run = CommandRun("import", path, try folder.file("none.json", "[]"), "--model", document)
    #expect(run.status == .success, "\(run.notes)")
    #expect(try self.model(path).versionChecksum == model.versionChecksum)
    let migrated = CommandRun("migrate", path, document)
    #expect(
      migrated.status == .success
        && CommandRun("model", "diff", path, document).output.contains("do not differ"))
  }
}
