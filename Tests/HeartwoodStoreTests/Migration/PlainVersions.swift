import Foundation
import Heartwood
import HeartwoodFaults

/// A model as plain values, of which versions are made by random changes.
struct PlainVersion {
  struct Entity {
    let id: Int
    var name: String
    /// The name in the version before, if it was another.
    var formerName: String?
    var parent: Int?
  }

  enum Kind {
    case attribute(type: AttributeType, isOptional: Bool, fallback: PlainValue?, isIndexed: Bool)
    case relationship(destination: Int, inverse: Int, isToMany: Bool, isOrdered: Bool)
  }

  struct Property {
    let id: Int
    var owner: Int
    var name: String
    var formerName: String?
    var kind: Kind
  }

  var entities: [Entity] = []
  var properties: [Property] = []
  var nextID = 1

  mutating func newID() -> Int {
    nextID += 1
    return nextID - 1
  }

  func entity(_ id: Int) -> Entity { entities.first { $0.id == id }! }
  func place(ofEntity id: Int) -> Int { entities.firstIndex { $0.id == id }! }
  func place(ofProperty id: Int) -> Int { properties.firstIndex { $0.id == id }! }

  func isKind(_ entity: Int, of ancestor: Int) -> Bool {
    var next: Int? = entity
    while let id = next {
      if id == ancestor { return true }
      next = self.entity(id).parent
    }
    return false
  }

  func children(_ id: Int) -> [Entity] { entities.filter { $0.parent == id } }
  func properties(of entity: Int) -> [Property] { properties.filter { isKind(entity, of: $0.owner) } }

  /// A name that no entity of the model has, in no particular order among others.
  mutating func newName(_ random: inout SplitMix64) -> String {
    let letters = ["A", "D", "G", "K", "P", "T", "Z"]
    return "\(random.pick(letters))\(newID())"
  }

  mutating func newPropertyName(_ random: inout SplitMix64) -> String {
    let letters = ["a", "c", "h", "m", "q", "w"]
    return "\(random.pick(letters))\(newID())"
  }

  func model() -> ManagedObjectModel {
    var made: [Int: EntityDescription] = [:]
    for entity in entities {
      let description = EntityDescription(name: entity.name, properties: [])
      description.renamingIdentifier = entity.formerName
      made[entity.id] = description
    }
    for entity in entities {
      if let parent = entity.parent { made[parent]!.subentities.append(made[entity.id]!) }
    }
    var relationships: [Int: RelationshipDescription] = [:]
    for property in properties {
      let owner = made[property.owner]!
      let description: PropertyDescription
      switch property.kind {
      case .attribute(let type, let isOptional, let fallback, let isIndexed):
        let attribute = AttributeDescription(
          name: property.name, type: type, isOptional: isOptional, defaultValue: fallback?.any(type))
        description = attribute
        owner.ownProperties.append(attribute)
        if isIndexed {
          owner.indexes.append(
            FetchIndexDescription(
              name: "i\(property.id)", elements: [FetchIndexElementDescription(property: attribute)]))
        }
      case .relationship(let destination, _, let isToMany, let isOrdered):
        let relationship = RelationshipDescription(
          name: property.name, destination: made[destination]!, isToMany: isToMany, isOrdered: isOrdered)
        relationships[property.id] = relationship
        description = relationship
        owner.ownProperties.append(relationship)
      }
      description.renamingIdentifier = property.formerName
    }
    for property in properties {
      if case .relationship(_, let inverse, _, _) = property.kind {
        relationships[property.id]!.inverseRelationship = relationships[inverse]!
      }
    }
    return ManagedObjectModel(entities: entities.map { made[$0.id]! })
  }
}

/// A value of an attribute, whatever its type is now.
enum PlainValue: Equatable {
  case int(Int)
  case double(Double)
  case bool(Bool)
  case text(String)

  func any(_ type: AttributeType) -> Any {
    switch self {
    case .int(let number): type == .decimal ? Decimal(number) : type == .string ? "\(number)" : number
    case .double(let number): number
    case .bool(let flag): flag
    case .text(let text): text
    }
  }

  /// The value after a change of its attribute's type.
  func widened(to type: AttributeType) -> PlainValue {
    switch (self, type) {
    case (.int(let number), .double), (.int(let number), .float): .double(Double(number))
    case (.int(let number), .string): .text("\(number)")
    case (.double(let number), .string): .text("\(number)")
    case (.bool(let flag), .string): .text("\(flag)")
    case (.bool(let flag), .integer16), (.bool(let flag), .integer32), (.bool(let flag), .integer64):
      .int(flag ? 1 : 0)
    default: self
    }
  }

  static func random(_ type: AttributeType, _ random: inout SplitMix64) -> PlainValue {
    switch type {
    case .integer16, .integer32, .integer64, .decimal: .int(random.below(2000) - 1000)
    case .double: .double(Double(random.below(100)) / 4)
    case .boolean: .bool(random.below(2) == 0)
    default: .text("t\(random.below(50))")
    }
  }

  var description: String {
    switch self {
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .bool(let flag): "\(flag)"
    case .text(let text): text
    }
  }
}

/// The objects of a store as plain values.
struct PlainObjects {
  struct Object {
    var entity: Int
    let key: UInt64
    /// Texts of the values, by property; nil for no value.
    var values: [Int: PlainValue] = [:]
    /// Places of the destinations in `objects`.
    var targets: [Int: [Int]] = [:]
  }

  var objects: [Object?] = []

  var living: [(place: Int, object: Object)] {
    objects.enumerated().compactMap { place, object in object.map { (place, $0) } }
  }
}
