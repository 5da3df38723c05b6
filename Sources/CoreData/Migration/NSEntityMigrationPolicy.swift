import Foundation
import Heartwood
import HeartwoodBytes

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
      forSource: sInstance as ManagedObject, in: mapping, manager: manager as MigrationManager)
  }

  /// Sets the relationships of an object. This implementation sets those of the mapping.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createRelationships(
      forDestination: dInstance as ManagedObject, in: mapping, manager: manager as MigrationManager)
  }

  /// Called before the mapping's first object; does nothing.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

  /// Called after the mapping's last object was made; does nothing.
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Called after the relationships of the mapping's last object were set; does nothing.
  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
  }

  /// Called after all objects were validated; does nothing.
  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
  }

  /// Called at the end; does nothing.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// The value of a function that an expression calls with `FUNCTION($entityPolicy, name, …)`. This implementation throws.
  open func value(forFunction name: String, arguments: [Any?], manager: NSMigrationManager) throws -> Any? {
    try super.value(forFunction: name, arguments: arguments, manager: manager as MigrationManager)
  }

  /// An argument of a function in the type of its parameter, for the code of the plugins.
  public static func _argument<Value>(_ arguments: [Any?], _ place: Int) -> Value {
    ManagedValue.cast(
      place < arguments.count ? arguments[place] : nil, "argument \(place) of a function of \(self)")
  }

  /// A policy of a class of the program; nil if there is none of this name.
  static func made(named name: String) -> NSEntityMigrationPolicy? {
    (ProgramClasses.named(name) as? NSEntityMigrationPolicy.Type)?.init()
  }

  // MARK: Calls by a migration

  /// Calls the method of this name with the types of this module.
  public final override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
    try begin(mapping, with: own(manager))
  }

  /// Calls the method of this name with the types of this module.
  public final override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws { try createDestinationInstances(forSource: own(source), in: mapping, manager: own(manager)) }

  /// Calls the method of this name with the types of this module.
  public final override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager)
    throws
  { try endInstanceCreation(forMapping: mapping, manager: own(manager)) }

  /// Calls the method of this name with the types of this module.
  public final override func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws { try createRelationships(forDestination: own(destination), in: mapping, manager: own(manager)) }

  /// Calls the method of this name with the types of this module.
  public final override func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { try endRelationshipCreation(forMapping: mapping, manager: own(manager)) }

  /// Calls the method of this name with the types of this module.
  public final override func performCustomValidation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { try performCustomValidation(forMapping: mapping, manager: own(manager)) }

  /// Calls the method of this name with the types of this module.
  public final override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
    try end(mapping, manager: own(manager))
  }

  /// Calls the method of this name with the types of this module.
  public final override func value(
    forFunction name: String, arguments: [Any?], manager: MigrationManager
  ) throws -> Any? {
    try value(forFunction: name, arguments: arguments, manager: own(manager)).flatMap(FoundationValue.plain)
  }

  private final func own(_ object: ManagedObject) throws -> NSManagedObject {
    guard let own = object as? NSManagedObject else { throw foreign(object) }
    return own
  }

  private final func own(_ manager: MigrationManager) throws -> NSMigrationManager {
    guard let own = manager as? NSMigrationManager else { throw foreign(manager) }
    return own
  }

  private final func foreign(_ given: AnyObject) -> HeartwoodError {
    HeartwoodError(
      .entityMigrationPolicy,
      "\(type(of: given)) is Heartwood's own, which a policy of Core Data's does not take: migrate with NSMigrationManager.migrateStore"
    )
  }
}

extension EntityMapping {
  /// The name of the class of the policy; nil for the usual one. A policy is made when the name is set.
  ///
  /// - Precondition: There is a class of this name that inherits from `NSEntityMigrationPolicy`.
  public var entityMigrationPolicyClassName: String? {
    get { policyName }
    set {
      policyName = newValue
      guard let newValue else { return policy = EntityMigrationPolicy() }
      guard let made = NSEntityMigrationPolicy.made(named: newValue) else {
        raise(
          "setEntityMigrationPolicyClassName:",
          "there is no class \(newValue) that inherits from NSEntityMigrationPolicy")
      }
      policy = made
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
  /// The value of the property: an expression with the variables `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping`
  /// and `$entityPolicy`. Set to nil, the property has its default; never set, it has the value of the source's property of its name.
  ///
  /// - Precondition: The expression can be evaluated in a migration.
  public var valueExpression: NSExpression? {
    get { expressionText.map { NSExpression(mapping: $0) } }
    set {
      usesDefault = newValue == nil
      do {
        try setExpression(newValue?.mappingText)
      } catch {
        programError("valueExpression of the mapping of \(name ?? ""): \(error)")
      }
    }
  }
}
