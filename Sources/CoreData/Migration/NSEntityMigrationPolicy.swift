import Foundation
import Heartwood

/// Code for the migration of an entity. A mapping names its class in `entityMigrationPolicyClassName`.
open class NSEntityMigrationPolicy: EntityMigrationPolicy, @unchecked Sendable {
  /// A policy.
  public required override init() { super.init() }

  /// Makes the objects that an object of the source becomes, and associates them with it. This implementation makes one, with the values of
  /// the mapping's attributes.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(
      forSource: sInstance as ManagedObject, in: mapping, manager: manager)
  }

  /// Sets the relationships of an object. This implementation sets those of the mapping.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createRelationships(
      forDestination: dInstance as ManagedObject, in: mapping, manager: manager)
  }

  /// Calls `createDestinationInstances(forSource:in:manager:)` with an object of this module's class.
  public final override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws { try createDestinationInstances(forSource: own(source), in: mapping, manager: manager) }

  /// Calls `createRelationships(forDestination:in:manager:)` with an object of this module's class.
  public final override func createRelationships(
    forDestination destination: ManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws { try createRelationships(forDestination: own(destination), in: mapping, manager: manager) }

  private final func own(_ object: ManagedObject) throws -> NSManagedObject {
    guard let own = object as? NSManagedObject else {
      throw HeartwoodError(
        .entityMigrationPolicy,
        "\(type(of: object)) is no NSManagedObject: migrate with NSMigrationManager.migrateStore")
    }
    return own
  }
}

extension EntityMapping {
  /// A mapping without a name and entities.
  public convenience init() { self.init(from: nil, to: nil, type: .undefined) }

  /// The name of the class of the policy; nil for the usual one. A policy is made when the name is set.
  ///
  /// - Precondition: There is a class of this name that inherits from `NSEntityMigrationPolicy`.
  public var entityMigrationPolicyClassName: String? {
    get { policyName }
    set {
      policyName = newValue
      guard let newValue else { return policy = NSEntityMigrationPolicy() }
      guard let type = ProgramClasses.named(newValue) as? NSEntityMigrationPolicy.Type else {
        raise(
          "setEntityMigrationPolicyClassName:",
          "there is no class \(newValue) that inherits from NSEntityMigrationPolicy")
      }
      policy = type.init()
    }
  }

  /// The mappings of attributes; nil is none.
  public var attributeMappings: [NSPropertyMapping]? {
    get { anyAttributeMappings }
    set { anyAttributeMappings = newValue ?? [] }
  }

  /// The mappings of relationships; nil is none.
  public var relationshipMappings: [NSPropertyMapping]? {
    get { anyRelationshipMappings }
    set { anyRelationshipMappings = newValue ?? [] }
  }
}

extension PropertyMapping {
  /// A mapping without a name.
  public convenience init() { self.init(name: "") }

  /// The value of the property: an expression with the variables `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping`
  /// and `$entityPolicy`; nil for the default.
  ///
  /// - Precondition: The expression can be evaluated in a migration.
  public var valueExpression: NSExpression? {
    get { expressionText.map { NSExpression(mapping: $0) } }
    set {
      do {
        try setExpression(newValue?.mappingText)
      } catch {
        fatalError("valueExpression of the mapping of \(name): \(error)")
      }
    }
  }
}
