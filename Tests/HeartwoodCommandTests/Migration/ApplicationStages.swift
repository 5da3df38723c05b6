import Foundation
import Heartwood

/// The stages between the versions of an application: its code where it has some, and inference.
extension Application {
  func stages() throws -> StagedMigrationManager {
    let references = try Self.versions.map { ManagedObjectModelReference(model: try model($0)) }
    let steps = try steps()
    return StagedMigrationManager(
      steps.map { step in
        let (current, next) = (references[step.from - 1], references[step.to - 1])
        guard let code = step.code else { return LightweightMigrationStage(models: [current, next]) }
        let stage = CustomMigrationStage(migratingFrom: current, to: next)
        stage.label = code.map(\.do).joined(separator: ", ")
        func handler(_ when: String) -> (
          @Sendable (StagedMigrationManager, CustomMigrationStage) throws -> Void
        )? {
          let changes = code.filter { $0.when == when }
          guard !changes.isEmpty else { return nil }
          return { manager, _ in
            guard let context = manager.container?.newBackgroundContext() else { return }
            try context.performAndWait {
              for change in changes { try StageCode(change: change).run(context) }
              try context.save()
            }
          }
        }
        stage.willMigrateHandler = handler("before")
        stage.didMigrateHandler = handler("after")
        return stage
      })
  }
}

/// A change by code, on the objects of a container.
struct StageCode {
  let change: Application.Change

  private var name: String { change.name ?? "" }
  private var parts: [String] { change.parts ?? [] }

  func run(_ context: ManagedObjectContext) throws {
    let objects = try context.fetch(FetchRequest<ManagedObject>(entityName: change.entity))
    switch change.do {
    case "split text": for object in objects { split(object) }
    case "multiply by 100":
      for object in objects { object.setValue(Self.cents(object, name), forKey: parts[0]) }
    case "keep first of equal": keepFirst(objects, context)
    case "move out": for object in objects { try moveOut(object, context) }
    default: fatalError("there is no code for \(change.do)")
    }
  }

  private func split(_ object: ManagedObject) {
    let words = (object.value(forKey: name) as? String ?? "").split(separator: " ").map(String.init)
    object.setValue(words.first, forKey: parts[0])
    object.setValue(words.last, forKey: parts[1])
  }

  static func cents(_ object: ManagedObject, _ name: String) -> Int64? {
    (object.value(forKey: name) as? Double).map { Int64(($0 * 100).rounded()) }
  }

  private func keepFirst(_ objects: [ManagedObject], _ context: ManagedObjectContext) {
    var seen: Set<String> = []
    for object in objects.sorted(by: { Self.uid($0) < Self.uid($1) }) {
      guard let value = object.value(forKey: name) as? String else { continue }
      if !seen.insert(value).inserted { context.delete(object) }
    }
  }

  private func moveOut(_ object: ManagedObject, _ context: ManagedObjectContext) throws {
    // The code may run twice.
    guard object.value(forKey: name) == nil,
      let entity = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[change.to ?? ""]
    else { return }
    let made = ManagedObject(entity: entity, insertInto: context)
    made.setValue("\(name) of \(Self.uid(object))", forKey: "uid")
    for part in parts { made.setValue(object.value(forKey: part), forKey: part) }
    object.setValue(made, forKey: name)
  }

  private static func uid(_ object: ManagedObject) -> String { object.value(forKey: "uid") as? String ?? "" }
}

/// A mapping model from a version of the shop to a later one.
extension Application {
  func mapping(from former: Int, to version: Int) throws -> MappingModel {
    let (source, destination) = (try model(former), try model(version))
    return MappingModel(
      entityMappings: destination.entities.filter { !$0.isAbstract }.map { entity in
        let name = source.entities.first { $0.name == entity.renamingIdentifier }?.name ?? entity.name
        let mapping = EntityMapping(from: name, to: entity.name)
        let named = name.flatMap { source.entitiesByName[$0] }
        for attribute in entity.attributesByName.values {
          mapping.attributeMappings.append(
            attribute.name == "priceInCents"
              ? PropertyMapping(name: attribute.name) { source, _ in StageCode.cents(source, "price") ?? 0 }
              : PropertyMapping(name: attribute.name, from: attribute.name))
        }
        for relationship in entity.relationshipsByName.values {
          let former = named?.relationshipsByName[relationship.name]?.name ?? relationship.renamingIdentifier
          mapping.relationshipMappings.append(PropertyMapping(name: relationship.name, from: former))
        }
        return mapping
      })
  }
}
