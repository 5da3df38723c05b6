import Foundation
import Testing

@testable import Heartwood
@testable import HeartwoodModel

@Suite struct StoreConditionTests {
  @Test func `random conditions that are resolved for a store select the same objects`() throws {
    let seed: UInt64 = 20_261_129
    print("conditions for stores with seed \(seed)")
    var random = RandomConditions(seed: seed)
    let world = try random.world(cities: 40, countries: 6)
    let evaluation = StoreConditionEvaluation(world: world)
    var resolvedCount = 0
    for _ in 0..<600 {
      let isCity = Bool.random(using: &random.source)
      let entity = isCity ? world.city : world.country
      let condition = random.condition(isCity ? .city : .country, depth: 3)
      guard let resolved = try Self.resolved(condition, entity) else { continue }
      let found = world.keys(entity).filter { key in
        evaluation.holds(resolved, [0: world.objects[entity.displayName]?[key]])
      }
      try #require(try world.keys(entity, condition) == found, "\(condition)")
      resolvedCount += 1
    }
    #expect(resolvedCount > 300)
  }

  /// The condition as an incremental store gets it; nil for one that cannot be translated.
  private static func resolved(_ condition: Condition, _ entity: EntityDescription) throws -> StoreCondition?
  {
    let compiled = try CompiledPredicate(condition, entity: entity)
    var lowering = StoreConditionLowering(entity, in: StoreIdentity(uuid: PredicateWorld.storeUUID))
    do {
      return try lowering.condition(compiled.condition)
    } catch {
      guard error.code == .persistentStoreUnsupportedRequestType else { throw error }
      return nil
    }
  }
}

/// A plain evaluation of resolved conditions: what a store that translates them must do.
private struct StoreConditionEvaluation {
  typealias Objects = [Int: PredicateObject?]

  let world: PredicateWorld

  func holds(_ condition: StoreCondition, _ objects: Objects) -> Bool {
    switch condition {
    case .constant(let value): value
    case .all(let parts): parts.allSatisfy { holds($0, objects) }
    case .any(let parts): parts.contains { holds($0, objects) }
    case .not(let part): !holds(part, objects)
    case .comparison(let left, let comparator, let right, let options):
      PlainEvaluation(world: world).holds(
        value(left, objects), comparator.comparator, value(right, objects), options)
    case .exists(let destinations): !self.destinations(destinations, objects).isEmpty
    }
  }

  private func value(_ expression: StoreExpression, _ objects: Objects) -> Value {
    switch expression {
    case .constant(let constant): return value(of: constant)
    case .list(let constants): return .list(constants.map(value))
    case .attribute(let attribute, let path): return object(path, objects)?.values[attribute.name] ?? .null
    case .object(let path): return identifier(path, objects)
    case .entityName(let path): return object(path, objects).map { .string($0.entity.displayName) } ?? .null
    case .aggregate(let name, let destinations): return aggregate(name, destinations, objects)
    case .arithmetic(let name, let left, let right):
      return ArithmeticOperator(rawValue: name)?.apply(value(left, objects), value(right, objects)) ?? .null
    case .function(let name, let arguments):
      return ConditionFunction(rawValue: name)?.apply(arguments.map { value($0, objects) }) ?? .null
    case .conditional(let condition, let first, let second):
      return value(holds(condition, objects) ? first : second, objects)
    }
  }

  private func value(of constant: (any Sendable)?) -> Value {
    switch constant {
    case let value as Bool: .bool(value)
    case let value as Int64: .int(value)
    case let value as Double: .double(value)
    case let value as Decimal: .decimal(value)
    case let value as String: .string(value)
    case let value as Date: .date(value.timeIntervalSinceReferenceDate)
    case let value as Data: .data(value)
    case let value as UUID: .uuid(value)
    case let value as URL: .url(value.absoluteString)
    case let value as ManagedObjectID: .object(value)
    default: .null
    }
  }

  private func aggregate(_ name: String, _ destinations: StoreDestinations, _ objects: Objects) -> Value {
    guard let function = Aggregate.Function(rawValue: name) else { return .null }
    var state = AggregateState(function)
    for destination in self.destinations(destinations, objects) {
      guard let element = destinations.element else {
        state.addObject()
        continue
      }
      state.add(value(element, objects.merging([destinations.variable: destination]) { $1 }))
    }
    return state.value()
  }

  private func destinations(_ destinations: StoreDestinations, _ objects: Objects) -> [PredicateObject] {
    let root = destinations.entity.rootEntity.displayName
    let keys = object(destinations.source, objects)?.many[destinations.relationship.name] ?? []
    return keys.compactMap { world.objects[root]?[$0] }.filter { destination in
      guard let filter = destinations.filter else { return true }
      return holds(filter, objects.merging([destinations.variable: destination]) { $1 })
    }
  }

  /// The object at the end of a path; nil if a relationship has none, or its row is missing.
  private func object(_ path: StorePath, _ objects: Objects) -> PredicateObject? {
    var object = objects[path.variable] ?? nil
    for relationship in path.relationships { object = self.object(object?.values[relationship.name]) }
    return object
  }

  private func object(_ value: Value?) -> PredicateObject? {
    guard case .object(let identifier)? = value else { return nil }
    return world.objects[identifier.entity.rootEntity.displayName]?[identifier.key]
  }

  /// The identifier at the end of a path, also that of a missing row.
  private func identifier(_ path: StorePath, _ objects: Objects) -> Value {
    guard let last = path.relationships.last else {
      return (objects[path.variable] ?? nil).map { .object(world.identifier($0.entity, $0.key)) } ?? .null
    }
    let owner = StorePath(
      variable: path.variable, relationships: path.relationships.dropLast(), entity: path.entity)
    return object(owner, objects)?.values[last.name] ?? .null
  }
}
