import Heartwood

/// Which entity of the model a number in the file means.
struct EntityNumbers {
  private(set) var entities: [Int64: EntityDescription] = [:]
  private(set) var numbers: [ObjectIdentifier: Int64] = [:]
  /// The entities of the file that the model does not have.
  private(set) var unknown: [AppleStoreFile.Entity] = []

  /// By names; where the model has another name, by the former one that it notes, or by the place below the superentity if there is only one
  /// left: after a migration the file may still have the former names.
  init(_ file: AppleStoreFile, _ model: ManagedObjectModel) {
    let byName = model.entitiesByName
    var left = file.entities
    func take(_ matches: (AppleStoreFile.Entity) -> EntityDescription?) {
      left.removeAll { stored in
        guard let entity = matches(stored), numbers[ObjectIdentifier(entity)] == nil else { return false }
        entities[stored.number] = entity
        numbers[ObjectIdentifier(entity)] = stored.number
        return true
      }
    }
    take { byName[$0.name] }
    take { stored in model.entities.first { $0.formerName == stored.name } }
    for stored in left {
      let missing = model.entities.filter { entity in
        numbers[ObjectIdentifier(entity)] == nil
          && entity.superentity.map { numbers[ObjectIdentifier($0)] ?? -1 } ?? 0 == stored.superentity
      }
      guard missing.count == 1, stored.superentity != 0,
        left.count(where: { $0.superentity == stored.superentity }) == 1
      else { continue }
      entities[stored.number] = missing[0]
      numbers[ObjectIdentifier(missing[0])] = stored.number
    }
    unknown = left.filter { entities[$0.number] == nil }
  }

  func number(of entity: EntityDescription) -> Int64? { numbers[ObjectIdentifier(entity)] }
}
