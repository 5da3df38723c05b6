import Foundation
import Heartwood
import HeartwoodFaults
import Testing

/// Objects of all entities, with random values and links.
extension ApplicationStore {
  private static let objectsOfEach = 5

  /// Fills the entities that have no objects.
  func fill(_ context: ManagedObjectContext, _ version: Int) throws {
    var random = SplitMix64(seed: UInt64(25 + version))
    let unique = try uniqueAttributes(from: version)
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    let entities = model.entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
    var made: [ManagedObject] = []
    for entity in entities where try Self.isEmpty(entity, context) {
      for number in 0..<Self.objectsOfEach {
        let object = ManagedObject(entity: entity, insertInto: context)
        for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name }) {
          let value = Self.value(attribute, number, &random, isUnique: unique.contains(attribute.name))
          if !attribute.isOptional || random.below(4) > 0 { object.setValue(value, forKey: attribute.name) }
        }
        made.append(object)
      }
    }
    var all: [String: [ManagedObject]] = [:]
    for entity in model.entities {
      let name = try #require(entity.name)
      all[name] = try context.fetch(FetchRequest<ManagedObject>(entityName: name)).sorted {
        Self.uid($0) < Self.uid($1)
      }
    }
    for object in made { link(object, all, &random) }
    try context.save()
  }

  private static func isEmpty(_ entity: EntityDescription, _ context: ManagedObjectContext) throws -> Bool {
    let request = FetchRequest<ManagedObject>(entityName: entity.name ?? "")
    request.includesSubentities = false
    return try context.count(for: request) == 0
  }

  /// The attributes that are unique in a version or a later one, but for those that code makes unique.
  private func uniqueAttributes(from version: Int) throws -> Set<String> {
    var names: Set<String> = []
    for number in version...10 {
      names.formUnion(try application.model(number).entities.flatMap { $0.uniquenessConstraints.joined() })
    }
    let code = try application.steps().flatMap { $0.code ?? [] }
    return names.subtracting(code.filter { $0.do == "keep first of equal" }.compactMap(\.name))
  }

  private static func value(
    _ attribute: AttributeDescription, _ number: Int, _ random: inout SplitMix64, isUnique: Bool
  ) -> Any? {
    if let composite = attribute as? CompositeAttributeDescription {
      let pairs = composite.elements.map { ($0.name, value($0, number, &random, isUnique: false)) }
      return Dictionary(pairs, uniquingKeysWith: { first, _ in first }).compactMapValues { $0 }
    }
    switch attribute.type {
    case .string:
      return isUnique
        ? "\(attribute.entity?.name ?? "") \(attribute.name) \(number) \(random.below(1_000_000))"
        : "\(attribute.name) \(random.below(3))"
    case .integer16, .integer32, .integer64: return random.below(20_000) - 10_000
    case .double: return Double(random.below(4000)) / 4
    case .float: return Float(random.below(400)) / 4
    case .decimal: return Decimal(random.below(100_000)) / 100
    case .boolean: return random.below(2) == 0
    case .date: return Date(timeIntervalSince1970: Double(random.below(2_000_000_000)))
    case .binaryData: return Data((0..<random.below(40)).map { UInt8($0) })
    case .uuid:
      return UUID(uuidString: String(format: "0B1C2D3E-0000-4000-8000-%012X", random.below(1 << 40)))
    case .uri: return URL(string: "https://example.com/\(random.below(1000))")
    default: return nil
    }
  }

  private func link(_ object: ManagedObject, _ all: [String: [ManagedObject]], _ random: inout SplitMix64) {
    for relationship in object.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
      guard !relationship.isOptional || random.below(3) > 0 else { continue }
      let found = all[relationship.destinationEntity.name ?? ""] ?? []
      guard !found.isEmpty else { continue }
      if relationship.isToMany {
        var targets: [ManagedObject] = []
        for _ in 0..<random.below(4) {
          let target = random.pick(found)
          if !targets.contains(target) { targets.append(target) }
        }
        object.setValue(relationship.isOrdered ? targets : Set(targets), forKey: relationship.name)
      } else {
        object.setValue(random.pick(found), forKey: relationship.name)
      }
    }
  }

  private static func uid(_ object: ManagedObject) -> String { object.value(forKey: "uid") as? String ?? "" }
}
