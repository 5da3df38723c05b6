/// Objects of a store that the model of a migration does not allow.
public struct MigrationViolation: Sendable, CustomStringConvertible {
  /// The name of the entity: the destination's, or the source's if the migration cannot be done.
  public let entity: String
  /// The name of the property; nil if the violation is about several or none.
  public let property: String?
  /// The code of the error that the migration, or a save of such an object, throws.
  public let code: HeartwoodError.Code
  /// The fault of the first of the objects.
  public let message: String
  /// Whether the migration throws because of it. Other violations are of objects that cannot be saved as they are.
  public let preventsMigration: Bool
  /// How many objects there are.
  public internal(set) var count: Int
  /// The identifiers of the first 100 of them.
  public internal(set) var objectIDs: [ManagedObjectID]

  /// Entity, property and number of the objects, and what is wrong with the first.
  public var description: String {
    let name = property.map { "\(entity).\($0)" } ?? entity
    return "\(name): \(count) \(count == 1 ? "object" : "objects"): \(message)"
  }
}

/// The findings that a rehearsal collects, and a migration throws.
final class MigrationFindings {
  private struct Kind: Hashable {
    let entity: String
    let property: String?
    let code: Int
  }

  private var places: [Kind: Int] = [:]
  private(set) var violations: [MigrationViolation] = []
  /// Whether the migration would throw because of what was found.
  var preventsMigration: Bool { violations.contains(where: \.preventsMigration) }

  /// Notes an object.
  ///
  /// - Parameter message: The fault, for the first of its kind.
  func add(
    _ object: ManagedObjectID, _ property: String?, _ code: HeartwoodError.Code, preventsMigration: Bool,
    _ message: @autoclosure () -> String
  ) {
    // A violation that prevents the migration was counted before rows were validated.
    if code == .validationMissingMandatoryProperty,
      violations.contains(where: {
        $0.preventsMigration && $0.code == .migration && $0.property == property
          && $0.entity == object.entity.displayName
      })
    {
      return
    }
    let kind = Kind(entity: object.entity.displayName, property: property, code: code.rawValue)
    guard let place = places[kind] else {
      places[kind] = violations.count
      return violations.append(
        MigrationViolation(
          entity: kind.entity, property: property, code: code, message: message(),
          preventsMigration: preventsMigration, count: 1, objectIDs: [object]))
    }
    violations[place].count += 1
    if violations[place].objectIDs.count < InPlaceMigration.mostNamed {
      violations[place].objectIDs.append(object)
    }
  }
}
