import Foundation
import Heartwood
import HeartwoodBytes

/// The entities of classes.
enum ClassEntities {
  /// The entity of a class; one without properties if no model has one.
  static func entity(of type: NSManagedObject.Type) -> NSEntityDescription {
    if let known = known(type) { return known }
    FileHandle.standardError.write(
      Data(
        "CoreData: warning: No NSEntityDescriptions in any model claim the NSManagedObject subclass '\(type)' so +entity is confused. Have you loaded your NSManagedObjectModel yet?\n"
          .utf8))
    return Substitutes.shared.entity(of: type)
  }

  /// The entity of a class in a model that is in use, or that was read; nil if there is none.
  static func known(_ type: NSManagedObject.Type) -> NSEntityDescription? {
    if let used = type.entitiesInUse.last(where: { !Substitutes.shared.contains($0) }) { return used }
    for model in ReadModels.shared.models.reversed() where !model.isFrozen {
      model.bindClasses()
      if let entity = model.entities.first(where: { $0.managedObjectClass == type }) { return entity }
    }
    return nil
  }

  /// Prepares an entity for its first object: finds the classes of its model, or gives it one if it is in none.
  static func prepare(_ entity: NSEntityDescription) {
    if entity.isInUse || entity.isOfPrototypes { return }
    guard let model = entity.owningModel else { return Substitutes.shared.makeModel(of: entity) }
    model.bindClasses()
  }
}

extension NSManagedObject {
  /// The entity of the class; nil if no model has one.
  static var knownEntity: NSEntityDescription? { ClassEntities.known(self) }
}

/// The models that were read and still exist.
final class ReadModels: @unchecked Sendable {
  static let shared = ReadModels()

  private struct Reference { weak var model: NSManagedObjectModel? }
  private let lock = NSLock()
  private var references: [Reference] = []

  func note(_ model: NSManagedObjectModel) {
    lock.withLock {
      references.removeAll { $0.model == nil }
      references.append(Reference(model: model))
    }
  }

  var models: [NSManagedObjectModel] { lock.withLock { references.compactMap(\.model) } }
}

/// Entities of classes that no model has.
private final class Substitutes: @unchecked Sendable {
  static let shared = Substitutes()

  private let lock = NSLock()
  private var entities: [ObjectIdentifier: NSEntityDescription] = [:]
  /// Those that a program has made, and that are in no model of its own.
  private var lone: [ObjectIdentifier: NSEntityDescription] = [:]

  func contains(_ entity: NSEntityDescription) -> Bool {
    lock.withLock {
      lone[ObjectIdentifier(entity)] != nil || entities.values.contains { $0 === entity }
    }
  }

  func entity(of type: NSManagedObject.Type) -> NSEntityDescription {
    if let known = lock.withLock({ entities[ObjectIdentifier(type)] }) { return known }
    let entity = NSEntityDescription()
    entity.name = "\(type)"
    entity.useClass(type)
    fix(entity)
    lock.withLock { entities[ObjectIdentifier(type)] = entity }
    return entity
  }

  /// Makes a model of an entity that is in none, so that it can have objects. It stays: objects do not keep their entity.
  func makeModel(of entity: NSEntityDescription) {
    if entity.name?.isEmpty ?? true { entity.name = "NSManagedObject" }
    fix(entity)
    lock.withLock { lone[ObjectIdentifier(entity)] = entity }
  }

  private func fix(_ entity: NSEntityDescription) {
    let model = NSManagedObjectModel()
    model.entities = [entity]
    model.bindClasses()
    do {
      try model.fix()
    } catch {
      programError("\(entity.name ?? "?") cannot be the entity of an object: \(error)")
    }
  }
}
