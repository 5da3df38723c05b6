import Foundation
import Heartwood
import HeartwoodFaults
import HeartwoodFiles
import Testing

/// A store of plain objects, which is opened with one version of a model after the other.
struct PlainStore {
  let files = MemoryFileSystem()

  func description() -> PersistentStoreDescription {
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/store"))
    description.fileSystem = files
    // A random change may undo an earlier one.
    description.allowsMigrationToFormerModel = true
    return description
  }

  func with<Result>(
    _ version: PlainVersion, _ body: (ManagedObjectContext, PersistentStoreCoordinator) throws -> Result
  ) throws -> Result {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: version.model())
    try coordinator.addPersistentStore(with: description())
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let result = try context.performAndWait { try body(context, coordinator) }
    try coordinator.close()
    return result
  }

  static func objects(_ entity: PlainVersion.Entity, in context: ManagedObjectContext) throws
    -> [ManagedObject]
  {
    let request = FetchRequest<ManagedObject>(entityName: entity.name)
    request.includesSubentities = false
    return try context.fetch(request)
  }

  /// Inserts objects with random values and links.
  static func fill(
    _ context: ManagedObjectContext, _ version: PlainVersion, _ random: inout SplitMix64, each most: Int
  ) throws {
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    for entity in version.entities {
      let description = try #require(model.entitiesByName[entity.name])
      for _ in 0..<random.below(most + 1) {
        let object = ManagedObject(entity: description, insertInto: context)
        for property in version.properties(of: entity.id) {
          guard case .attribute(let type, let isOptional, _, _) = property.kind else { continue }
          let value = isOptional && random.below(3) == 0 ? nil : PlainValue.random(type, &random).any(type)
          object.setValue(value, forKey: property.name)
        }
      }
    }
    var all: [Int: [ManagedObject]] = [:]
    for entity in version.entities { all[entity.id] = try objects(entity, in: context) }
    for property in version.properties {
      guard case .relationship(let destination, _, let isToMany, let isOrdered) = property.kind else {
        continue
      }
      let sources = version.entities.filter { version.isKind($0.id, of: property.owner) }.flatMap {
        all[$0.id]!
      }
      let targets = version.entities.filter { version.isKind($0.id, of: destination) }.flatMap { all[$0.id]! }
      guard !targets.isEmpty else { continue }
      for source in sources where random.below(2) == 0 {
        let some = (0..<(isToMany ? random.below(4) : 1)).map { _ in random.pick(targets) }
        if isOrdered {
          var ordered: [ManagedObject] = []
          for target in some where !ordered.contains(target) { ordered.append(target) }
          source.setValue(ordered, forKey: property.name)
        } else if isToMany {
          source.setValue(Set(some), forKey: property.name)
        } else {
          source.setValue(some.first, forKey: property.name)
        }
      }
    }
    try context.save()
  }

  /// The contents of the store as plain objects. Orders of `unordered` relationships are as the store has
  /// them.
  static func read(_ context: ManagedObjectContext, _ version: PlainVersion) throws -> PlainObjects {
    var data = PlainObjects()
    var places: [ManagedObjectID: Int] = [:]
    var read: [(ManagedObject, Int)] = []
    for entity in version.entities {
      for object in try objects(entity, in: context) {
        places[object.objectID] = data.objects.count
        read.append((object, entity.id))
        data.objects.append(PlainObjects.Object(entity: entity.id, key: object.objectID.key))
      }
    }
    for (place, (object, entity)) in read.enumerated() {
      for property in version.properties(of: entity) {
        let value = object.value(forKey: property.name)
        switch property.kind {
        case .attribute: data.objects[place]!.values[property.id] = Self.plain(value)
        case .relationship:
          let targets =
            (value as? [ManagedObject]) ?? (value as? Set<ManagedObject>).map(Array.init)
            ?? (value as? ManagedObject).map { [$0] } ?? []
          data.objects[place]!.targets[property.id] = targets.map { places[$0.objectID] ?? -1 }
        }
      }
    }
    return data
  }

  private static func plain(_ value: Any?) -> PlainValue? {
    switch value {
    case let value as Bool: .bool(value)
    case let value as any BinaryInteger: .int(Int(value))
    case let value as Double: .double(value)
    case let value as Decimal: Int("\(value)").map(PlainValue.int)
    case let value as String: .text(value)
    default: nil
    }
  }

  /// Differences between expected and actual objects, one line each.
  static func differences(
    _ expected: PlainObjects, _ actual: PlainObjects, _ version: PlainVersion, unordered: Set<Int>
  ) -> [String] {
    lines(expected, version, unordered).symmetricDifference(lines(actual, version, unordered)).sorted()
  }

  static func lines(_ data: PlainObjects, _ version: PlainVersion, _ unordered: Set<Int>) -> Set<
    String
  > {
    var lines: Set<String> = []
    func name(_ place: Int) -> String {
      guard place >= 0, let object = data.objects[place] else { return "gone" }
      return "\(object.entity)/\(object.key)"
    }
    for (place, object) in data.living {
      lines.insert("\(name(place))")
      for property in version.properties(of: object.entity) {
        let prefix = "\(name(place)) \(property.name)(\(property.id))"
        switch property.kind {
        case .attribute: lines.insert("\(prefix) = \(object.values[property.id]?.description ?? "nil")")
        case .relationship(_, _, _, let isOrdered):
          var targets = (object.targets[property.id] ?? []).map(name)
          if !isOrdered || unordered.contains(property.id) { targets.sort() }
          lines.insert("\(prefix) → \(targets)")
        }
      }
    }
    return lines
  }
}
