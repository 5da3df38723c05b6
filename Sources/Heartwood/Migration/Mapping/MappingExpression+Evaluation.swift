import Foundation

/// The values of the variables in a mapping's expressions.
struct MappingScope {
  let source: ManagedObject?
  let destination: ManagedObject?
  let manager: MigrationManager
  let mapping: EntityMapping
  let property: PropertyMapping
}

/// The value of an expression: of Swift's and Foundation's types, objects, arrays and sets.
extension MappingExpression {
  /// - Throws: `.entityMigrationPolicy` if a function or property does not exist, and what policies throw.
  func value(in scope: MappingScope) throws -> Any? { try Self.value(root, scope) }

  private static func value(_ node: Node, _ scope: MappingScope) throws -> Any? {
    switch node {
    case .constant(let value): return value.anyValue(.undefined)
    case .variable(let name): return variable(name, scope)
    case .property(let owner, let name): return try property(name, of: value(owner, scope), scope)
    case .collection(let owner, let name, let path):
      return try collected(name, path, of: value(owner, scope), scope)
    case .call(let function, let arguments):
      return evaluation.result(of: function, try arguments.map { try value($0, scope) })
    case .list(let parts): return try parts.map { try value($0, scope) }
    case .arithmetic(let operation, let left, let right):
      return try combined(operation, value(left, scope), value(right, scope), scope)
    case .function(let target, let name, let arguments):
      return try function(name, of: value(target, scope), try arguments.map { try value($0, scope) }, scope)
    }
  }

  private static func variable(_ name: String, _ scope: MappingScope) -> Any? {
    switch name {
    case "source": scope.source
    case "destination": scope.destination
    case "manager": scope.manager
    case "entityMapping": scope.mapping
    case "propertyMapping": scope.property
    default: scope.mapping.policy
    }
  }

  /// Computes as conditions do.
  private static var evaluation: InMemoryEvaluation {
    InMemoryEvaluation(
      property: { _, _ in nil }, members: objects, identifier: { ($0 as? ManagedObject)?.objectID })
  }

  // MARK: Properties

  private static func collected(
    _ name: String, _ path: [String], of owner: Any?, _ scope: MappingScope
  ) throws -> Any? {
    guard let owner else { return nil }
    guard let objects = objects(in: owner) else {
      throw scope.error("\(name) follows what is no relationship to several objects")
    }
    var ends: [Any] = []
    for object in objects {
      var end: Any? = object
      for step in path { end = try property(step, of: end, scope) }
      if let end { ends.append(end) }
    }
    return evaluation.result(of: name, over: ends)
  }

  private static func property(_ name: String, of owner: Any?, _ scope: MappingScope) throws -> Any? {
    guard let owner else { return nil }
    if let objects = objects(in: owner) {
      return try objects.flatMap { object in
        try property(name, of: object, scope).map { self.objects(in: $0) ?? [$0] } ?? []
      }
    }
    switch owner {
    case let object as ManagedObject:
      guard object.entity.slot(named: name) != nil else {
        throw scope.error("\(object.entity.displayName) has no property \(name)")
      }
      return object.value(forKey: name)
    case let values as [String: Any]: return values[name]
    case let values as [String: String]: return values[name]
    case let manager as MigrationManager where name == "userInfo": return manager.userInfo
    case let mapping as EntityMapping where name == "name": return mapping.name
    case let mapping as EntityMapping where name == "userInfo": return mapping.userInfo
    case let mapping as PropertyMapping where name == "name": return mapping.name
    case let mapping as PropertyMapping where name == "userInfo": return mapping.userInfo
    default: throw scope.error("a \(type(of: owner)) has no property \(name)")
    }
  }

  /// The parts of a collection; nil for other values.
  static func objects(in value: Any) -> [Any]? {
    if let array = value as? [Any] { return array }
    if let set = value as? Set<ManagedObject> { return set.sorted { $0.objectID.key < $1.objectID.key } }
    return nil
  }

  // MARK: Functions

  private static func function(
    _ name: String, of target: Any?, _ arguments: [Any?], _ scope: MappingScope
  ) throws -> Any? {
    if let policy = target as? EntityMigrationPolicy {
      return try policy.value(forFunction: name, arguments: arguments, manager: scope.manager)
    }
    guard target is MigrationManager else { return try message(name, to: target, arguments, scope) }
    guard arguments.count == 2 else {
      return try scope.manager.value(forFunction: name, arguments: arguments)
    }
    guard MappingFunction.all.contains(name) else {
      return try scope.manager.value(forFunction: name, arguments: arguments)
    }
    let objects = try managedObjects(in: arguments[1], name, scope)
    let mapping = name == MappingFunction.destinationsOfRelationship ? nil : arguments[0] as? String
    if let mapping { try require(mapping, scope) }
    guard name != MappingFunction.sources else {
      return scope.manager.sourceInstances(
        forEntityMappingName: mapping ?? scope.mapping.name, destinationInstances: objects)
    }
    let made = scope.manager.destinationInstances(forEntityMappingName: mapping, sourceInstances: objects)
    guard mapping == nil, let destination = scope.destination else { return made }
    return scope.manager.fitting(made, scope.property.name, destination)
  }

  /// The objects that a function of the manager gets: one, several or none.
  private static func managedObjects(
    in value: Any?, _ function: String, _ scope: MappingScope
  ) throws -> [ManagedObject] {
    guard let value else { return [] }
    return try (objects(in: value) ?? [value]).map { part in
      guard let object = part as? ManagedObject else {
        throw scope.error("\(function) gets \(part), which is no object")
      }
      return object
    }
  }

  /// - Throws: If the mapping model has no mapping of a name.
  private static func require(_ name: String, _ scope: MappingScope) throws {
    let named = scope.manager.namedMappings
    guard !named.all.isEmpty, named[name] == nil else { return }
    throw scope.error(MappingFunction.noMapping(name, named.all))
  }

  /// The answer of an object or value to a message that Foundation has for its kind.
  private static func message(
    _ name: String, to target: Any?, _ arguments: [Any?], _ scope: MappingScope
  ) throws -> Any? {
    guard let target else { return nil }
    let text = arguments.first.flatMap { $0 } as? String
    if name == "valueForKey:" || name == "valueForKeyPath:", let text {
      var end: Any? = target
      var names = text.split(separator: ".").map(String.init)[...]
      while let step = names.popFirst() {
        if step.hasPrefix("@"), CollectionOperator.exists(step) {
          return try collected(step, Array(names), of: end, scope)
        }
        end = try property(step, of: end, scope)
      }
      return end
    }
    switch name {
    case "stringValue", "description": return evaluation.result(of: .function(.cast), [target, "NSString"])
    // The number at the beginning of a text, or 0.
    case "intValue", "integerValue", "longLongValue":
      if let target = target as? String { return NSString(string: target).longLongValue }
      return evaluation.result(of: .function(.cast), [target, "NSInteger"])
    case "doubleValue", "floatValue":
      if let target = target as? String { return NSString(string: target).doubleValue }
      return evaluation.result(of: .function(.cast), [target, "NSNumber"])
    case "boolValue": return evaluation.result(of: .function(.cast), [target, "Bool"])
    case "capitalizedString": return (target as? String)?.capitalized
    case "componentsSeparatedByString:":
      guard let target = target as? String, let text else { break }
      return target.components(separatedBy: text)
    case "stringByReplacingOccurrencesOfString:withString:":
      guard let target = target as? String, let text, let other = arguments.last.flatMap({ $0 }) as? String
      else { break }
      return target.replacing(text, with: other)
    case "allObjects", "array", "set": return objects(in: target)
    case "anyObject", "firstObject", "lastObject":
      guard let objects = objects(in: target) else { break }
      return name == "lastObject" ? objects.last : objects.first
    case "objectAtIndex:": return evaluation.result(of: .function(.item), [target, arguments.first ?? nil])
    case "count" where objects(in: target) != nil: return objects(in: target).map { Int64($0.count) }
    default:
      if let function = NamedFunction(name: name) {
        return evaluation.result(of: function, [target] + arguments)
      }
    }
    throw scope.error("a \(type(of: target)) has no function \(name) with \(arguments.count) arguments")
  }

  // MARK: Arithmetic

  private static func combined(
    _ operation: ArithmeticOperator, _ left: Any?, _ right: Any?, _ scope: MappingScope
  ) throws -> Any? {
    guard let left, let right else { return nil }
    if operation == .add, let left = left as? String, let right = right as? String { return left + right }
    if let left = left as? any BinaryInteger, let right = right as? any BinaryInteger, operation != .divide {
      return try whole(operation, Int64(clamping: left), Int64(clamping: right), scope)
    }
    if let numbers = doubles(left, right) { return computed(operation, numbers.0, numbers.1) }
    guard let left = decimal(left), let right = decimal(right) else {
      throw scope.error("\(left) and \(right) are no numbers")
    }
    switch operation {
    case .add: return left + right
    case .subtract: return left - right
    case .multiply: return left * right
    case .divide:
      guard right != 0 else { throw scope.error("\(left) cannot be divided by 0") }
      return Decimal.quotient(left, right)
    }
  }

  private static func whole(
    _ operation: ArithmeticOperator, _ left: Int64, _ right: Int64, _ scope: MappingScope
  ) throws -> Int64 {
    let (result, overflows) =
      switch operation {
      case .add: left.addingReportingOverflow(right)
      case .subtract: left.subtractingReportingOverflow(right)
      default: left.multipliedReportingOverflow(by: right)
      }
    if overflows { throw scope.error("\(left) \(operation.rawValue) \(right) does not fit into 64 bits") }
    return result
  }

  /// Two numbers of which one is infinite or none, which decimal numbers cannot be.
  private static func doubles(_ left: Any, _ right: Any) -> (Double, Double)? {
    guard let left = double(left), let right = double(right), !left.isFinite || !right.isFinite else {
      return nil
    }
    return (left, right)
  }

  private static func double(_ value: Any) -> Double? {
    switch value {
    case let number as Double: number
    case let number as Float: Double(number)
    case let number as Decimal: NSDecimalNumber(decimal: number).doubleValue
    case let number as any BinaryInteger: Double(Int64(clamping: number))
    default: nil
    }
  }

  private static func computed(_ operation: ArithmeticOperator, _ left: Double, _ right: Double) -> Double {
    switch operation {
    case .add: left + right
    case .subtract: left - right
    case .multiply: left * right
    case .divide: left / right
    }
  }

  private static func decimal(_ value: Any) -> Decimal? {
    switch value {
    case let number as Decimal: number
    case let number as any BinaryInteger: Decimal(Int64(clamping: number))
    case let number as Double: Decimal(number)
    case let number as Float: Decimal(Double(number))
    default: nil
    }
  }
}

extension MappingScope {
  func error(_ reason: String) -> HeartwoodError {
    HeartwoodError(
      .entityMigrationPolicy,
      "the value of \(property.name) in the mapping \(mapping.name) cannot be computed: \(reason)",
      objectIDs: source.map { [$0.objectID] } ?? [], property: property.name)
  }
}
