import Foundation
import Heartwood

/// Boxes with items, in three versions of their model, and the ways between these.
enum MigratedBoxes {
  /// Edits the description that a store is opened with: its file system, above all.
  typealias Edit = (PersistentStoreDescription) -> Void

  private static func add(
    _ url: URL, to coordinator: PersistentStoreCoordinator, _ edit: Edit, _ own: Edit = { _ in }
  ) throws {
    let description = PersistentStoreDescription(url: url)
    edit(description)
    own(description)
    try coordinator.addPersistentStore(with: description)
  }

  static let first = model(1)
  static let second = model(2)
  static let last = model(3)

  /// Version 2: another name, a wider type, a mandatory attribute, a constraint, an order, a to-many inverse, and no toys. Version 3:
  /// sizes as text.
  private static func model(_ version: Int) -> ManagedObjectModel {
    let isNew = version > 1
    let name = AttributeDescription(name: isNew ? "title" : "name", type: .string)
    if isNew { name.renamingIdentifier = "name" }
    let size = AttributeDescription(name: "size", type: [.integer16, .integer64, .string][version - 1])
    let item = EntityDescription(name: "Item", properties: [name, size])
    let (tool, toy) = (EntityDescription(name: "Tool"), EntityDescription(name: "Toy"))
    item.subentities = isNew ? [tool] : [tool, toy]
    let box = EntityDescription(
      name: "Box", properties: [AttributeDescription(name: isNew ? "title" : "name", type: .string)])
    if isNew { box.ownProperties[0].renamingIdentifier = "name" }
    let items = RelationshipDescription(name: "items", destination: item, isToMany: true, isOrdered: isNew)
    let inBox = RelationshipDescription(name: "box", destination: box, isToMany: isNew)
    (items.inverseRelationship, inBox.inverseRelationship) = (inBox, items)
    box.ownProperties.append(items)
    item.ownProperties.append(inBox)
    if isNew {
      item.uniquenessConstraints = [["title"]]
      item.ownProperties.append(
        AttributeDescription(name: "note", type: .string, isOptional: false, defaultValue: "none"))
    }
    return ManagedObjectModel(entities: isNew ? [item, tool, box] : [item, tool, toy, box])
  }

  /// A store of version 1.
  static func make(_ url: URL, items: Int, _ edit: Edit = { _ in }) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: first)
    try add(url, to: coordinator, edit)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait {
      func make(_ name: String, _ title: String) -> ManagedObject {
        let object = ManagedObject(entity: first.entitiesByName[name]!, insertInto: context)
        object.setValue(title, forKey: "name")
        return object
      }
      let boxes = (0..<3).map { make("Box", "box \($0)") }
      for number in 0..<items {
        let object = make(["Item", "Tool", "Toy"][number % 3], "number \(number)")
        object.setValue(number, forKey: "size")
        object.setValue(boxes[number % 2], forKey: "box")
      }
      try context.save()
    }
    try coordinator.close()
  }

  // MARK: Ways

  /// Items get a note of what they were.
  static func mapping() -> MappingModel {
    MappingModel(
      entityMappings: [("Item", "Item"), ("Tool", "Tool"), ("Box", "Box")].map { source, destination in
        let mapping = EntityMapping(from: source, to: destination)
        mapping.attributeMappings = [PropertyMapping(name: "title", from: "name")]
        guard source != "Box" else {
          mapping.relationshipMappings = [PropertyMapping(name: "items", from: "items")]
          return mapping
        }
        mapping.attributeMappings += [
          PropertyMapping(name: "size", from: "size"),
          PropertyMapping(name: "note") { object, _ in "was \(object.value(forKey: "name") ?? "")" },
        ]
        return mapping
      })
  }

  static func stages() -> StagedMigrationManager {
    let references = [first, second, last].map { ManagedObjectModelReference(model: $0) }
    return StagedMigrationManager([
      stage(references[0], references[1], withCode: true),
      LightweightMigrationStage(models: Array(references[1...])),
    ])
  }

  private static func stage(
    _ current: ManagedObjectModelReference, _ next: ManagedObjectModelReference, withCode: Bool
  ) -> CustomMigrationStage {
    let stage = CustomMigrationStage(migratingFrom: current, to: next)
    stage.label = "notes"
    stage.didMigrateHandler = { manager, _ in
      guard withCode, let context = manager.container?.newBackgroundContext() else { return }
      try context.performAndWait {
        for item in try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")) {
          item.setValue("was \(item.value(forKey: "title") ?? "")", forKey: "note")
        }
        try context.save()
      }
    }
    return stage
  }

  /// The first stage alone.
  static func step(_ url: URL, withCode: Bool, _ edit: Edit = { _ in }) throws {
    let references = [first, second].map { ManagedObjectModelReference(model: $0) }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: second)
    try add(url, to: coordinator, edit) {
      $0.stagedMigrationManager = StagedMigrationManager([
        stage(references[0], references[1], withCode: withCode)
      ])
    }
    try coordinator.close()
  }

  // MARK: Facts

  /// The checksum of the model of a store that is not open, by its metadata and by the model itself.
  static func version(_ url: URL) throws -> String {
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: url)
    let model = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url)
    try require(
      model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata),
      "the model and the metadata of a store do not agree")
    return model.versionChecksum
  }

  /// The contents of a store, opened with the model that it was written with, and what `verify` finds. Objects are named by their
  /// names, as a mapping gives them other identifiers.
  static func facts(_ url: URL, _ edit: Edit = { _ in }) throws -> [String] {
    let coordinator: PersistentStoreCoordinator
    do {
      coordinator = try open(url, edit)
    } catch let error as HeartwoodError where error.code == .migration {
      // A stage is not finished: only its manager may write to the store.
      coordinator = try open(url, isReadOnly: true, edit)
    }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let lines = try context.performAndWait {
      var lines = try coordinator.verify().findings.map { "finding: \($0)" }
      for name in ["Item", "Box"] {
        for object in try context.fetch(FetchRequest<ManagedObject>(entityName: name)) {
          lines.append(fact(object))
        }
      }
      return lines.sorted()
    }
    try coordinator.close()
    return lines
  }

  /// Opens a store with the one of its models that it has.
  private static func open(
    _ url: URL, isReadOnly: Bool = false, _ edit: Edit
  ) throws -> PersistentStoreCoordinator {
    for model in [last, second, first] {
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      do {
        try add(url, to: coordinator, edit) {
          $0.shouldMigrateStoreAutomatically = false
          $0.isReadOnly = isReadOnly
          $0.createsStore = false
        }
        return coordinator
      } catch let error as HeartwoodError where error.code == .persistentStoreIncompatibleVersionHash {
        continue
      }
    }
    throw Finding("the store has none of the models")
  }

  private static func fact(_ object: ManagedObject) -> String {
    let attributes = object.entity.attributesByName.values.sorted { $0.name < $1.name }
    let values = attributes.map { "\($0.name): \($0.type) \(object.value(forKey: $0.name) ?? "-")" }
    let links = object.entity.relationshipsByName.keys.sorted().map { name in
      let value = object.value(forKey: name)
      let targets =
        (value as? [ManagedObject]) ?? (value as? Set<ManagedObject>).map(Array.init)
        ?? (value as? ManagedObject).map { [$0] } ?? []
      return "\(name) \(targets.map(title).sorted())"
    }
    return "\(object.entity.name ?? "") \(values) \(links)"
  }

  static func title(_ object: ManagedObject) -> String {
    let key = object.entity.attributesByName["title"] == nil ? "name" : "title"
    return object.value(forKey: key) as? String ?? "-"
  }
}
