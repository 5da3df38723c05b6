import Foundation

@testable import Heartwood

/// Sheets with an attribute of every type, with data outside its row, metadata and a history that begins later.
enum GoldenValues {
  struct Colour: TransformableValue, Codable {
    let name: String
    static var valueTransformerName: String { "GoldenColour" }
  }

  @Sendable static func make(_ path: String) throws {
    ValueTransformers.register(Colour.self)
    let container = try GoldenGraph.open(path, model(), seed: "values")
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    context.transactionAuthor = "golden"
    try context.performAndWait {
      for (number, name) in ["Sheet", "Sheet", "Poster"].enumerated() {
        guard let entity = container.managedObjectModel.entitiesByName[name] else { continue }
        fill(ManagedObject(entity: entity, insertInto: context), number)
        try context.save()
      }
      let token = coordinator.currentPersistentHistoryToken()
      if let first = try context.fetch(FetchRequest<ManagedObject>(entityName: "Sheet")).first {
        first.setValue(Data(repeating: 9, count: 33_000), forKey: "scan")
        first.setValue(nil, forKey: "size")
      }
      if let store = coordinator.persistentStores.first {
        let notes: [String: Any] = ["title": "golden", "numbers": [1, 2], "more": ["isOpen": true]]
        try coordinator.setMetadata(notes, for: store)
      }
      try context.save()
      if let token { _ = try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: token)) }
    }
    try container.close()
  }

  private static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binaryData,
    .uuid,
    .uri,
  ]

  private static func model() -> ManagedObjectModel {
    let sheet = EntityDescription(name: "Sheet", properties: [])
    for type in types { sheet.ownProperties.append(AttributeDescription(name: "\(type)", type: type)) }
    let scan = AttributeDescription(name: "scan", type: .binaryData)
    scan.allowsExternalBinaryDataStorage = true
    let colour = AttributeDescription(name: "colour", type: .transformable)
    colour.valueTransformerName = Colour.valueTransformerName
    let draft = AttributeDescription(name: "draft", type: .string)
    draft.isTransient = true
    let size = CompositeAttributeDescription()
    size.name = "size"
    size.elements = ["width", "height"].map { AttributeDescription(name: $0, type: .double) }
    sheet.ownProperties += [scan, colour, draft, size]
    let poster = EntityDescription(
      name: "Poster", properties: [AttributeDescription(name: "place", type: .string)])
    sheet.subentities = [poster]
    return ManagedObjectModel(entities: [sheet, poster])
  }

  private static func fill(_ object: ManagedObject, _ number: Int) {
    let values: [Any] = [
      -7, 70_000, 7_000_000_000, Decimal(string: "12.345") ?? 0, 0.5, Float(0.25), "text", true,
      Date(timeIntervalSinceReferenceDate: 86_400.5), Data([1, 2, 3]),
      UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), URL(filePath: "/golden"),
    ]
    for (place, (type, value)) in zip(types, values).enumerated() where (place + number) % 5 > 0 {
      object.setValue(value, forKey: "\(type)")
    }
    object.setValue(Data(repeating: UInt8(number), count: 33_000), forKey: "scan")
    object.setValue(Colour(name: "red"), forKey: "colour")
    object.setValue("not stored", forKey: "draft")
    object.setValue(["width": 2.0, "height": Double(number)], forKey: "size")
    if object.entity.name == "Poster" { object.setValue("wall", forKey: "place") }
  }
}

/// A store with rows of three versions of its model, none of them written again.
enum GoldenVersions {
  @Sendable static func make(_ path: String) throws {
    for version in 1...3 {
      let container = try GoldenGraph.open(path, model(version), seed: "versions \(version)")
      let context = container.newBackgroundContext()
      try context.performAndWait {
        for (name, key) in [("Item", version < 3 ? "name" : "title"), ("Tool", "use"), ("Box", "label")] {
          guard let entity = container.managedObjectModel.entitiesByName[name] else { continue }
          let object = ManagedObject(entity: entity, insertInto: context)
          object.setValue("of version \(version)", forKey: key)
          if name == "Item" { object.setValue(version < 3 ? version : "three", forKey: "size") }
          try context.save()
        }
        // The history's record of the deleted tool names properties by the numbers that they have now.
        let request = FetchRequest<ManagedObject>(entityName: "Tool")
        if version < 3, let tool = try context.fetch(request).last {
          tool.setValue("gone", forKey: "use")
          try context.save()
          context.delete(tool)
          try context.save()
        }
      }
      try container.close()
    }
  }

  /// Version 2: a wider type, a new mandatory attribute, an entity whose name comes first. Version 3: a text, another name, an
  /// attribute that moves up.
  private static func model(_ version: Int) -> ManagedObjectModel {
    let size = AttributeDescription(name: "size", type: [.integer16, .integer64, .string][version - 1])
    let name = AttributeDescription(name: version < 3 ? "name" : "title", type: .string)
    if version == 3 { name.renamingIdentifier = "name" }
    let item = EntityDescription(name: "Item", properties: [size, name])
    if version > 1 {
      item.ownProperties.append(
        AttributeDescription(name: "note", type: .string, isOptional: false, defaultValue: "new in 2"))
    }
    let use = AttributeDescription(name: "use", type: .string)
    use.preservesValueInHistoryOnDeletion = true
    let tool = EntityDescription(name: "Tool", properties: version < 3 ? [use] : [])
    if version == 3 { item.ownProperties.append(use) }
    item.subentities = [tool]
    let label = AttributeDescription(name: "label", type: .string)
    let box = EntityDescription(name: "Box", properties: [label])
    let items = RelationshipDescription(name: "items", destination: item, isToMany: version > 1)
    box.ownProperties.append(items)
    let first = EntityDescription(name: "Afterthought")
    return ManagedObjectModel(entities: [item, tool] + (version > 1 ? [first] : []) + [box])
  }
}
