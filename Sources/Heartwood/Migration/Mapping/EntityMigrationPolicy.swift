import Foundation

/// The code of an entity mapping. Subclass it, or give its work as closures with `ClosureMigrationPolicy`.
///
/// For each mapping the methods are called in this order: `begin`, `createDestinationInstances` for each object of the source and
/// `endInstanceCreation` in the first pass; `createRelationships` for each object of the destination and `endRelationshipCreation` in
/// the second; `performCustomValidation` and `end` in the third. An error ends the migration. The manager's contexts are reset between parts of
/// a pass: do not keep objects.
open class EntityMigrationPolicy: NSObject, @unchecked Sendable {
  /// A policy.
  public override init() {}

  /// Called before the mapping's first object.
  ///
  /// - Parameters:
  ///   - mapping: The mapping.
  ///   - manager: The manager.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// Makes the objects that an object of the source becomes, and associates them with it. This implementation makes one, with the values of the
  /// mapping's attributes, and those of the source under the same name in others: a value has the attribute's type, if that can be inferred
  /// without a loss, and a missing value of a mandatory attribute is its default. An override that does not call it calls the manager's `associate`.
  ///
  /// - Parameters:
  ///   - source: An object of the source.
  ///   - mapping: The mapping.
  ///   - manager: The manager.
  open func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let object = try manager.makeDestinationInstance(of: mapping)
    for property in try manager.resolved(mapping).attributes {
      switch property.origin {
      case .computed(let given):
        try object.assign(manager.value(of: given, source, object, mapping), forKey: property.name)
      case .property(let name): try manager.assignAttribute(property.name, of: object, from: source, name)
      case .none: break
      }
    }
    manager.associate(sourceInstance: source, withDestinationInstance: object, for: mapping)
  }

  /// Called after the mapping's last object was made.
  ///
  /// - Parameters:
  ///   - mapping: The mapping.
  ///   - manager: The manager.
  open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Sets the relationships of an object. This implementation sets those of the mapping, and those of the source with the same name: to the
  /// objects that the source's destinations have become.
  ///
  /// - Parameters:
  ///   - destination: An object of the destination.
  ///   - mapping: The mapping.
  ///   - manager: The manager.
  open func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard
      let source = manager.sourceInstances(
        forEntityMappingName: mapping.name, destinationInstances: [destination]
      ).first
    else { return }
    for property in try manager.resolved(mapping).relationships {
      switch property.origin {
      case .computed(let given):
        let value = try manager.value(of: given, source, destination, mapping)
        if given.value != nil {
          try destination.assign(value, forKey: property.name)
        } else {
          let destinations = try manager.destinations(value, of: given, source, destination, mapping)
          try manager.assign(destinations, to: property.name, of: destination)
        }
      case .property(let name):
        try manager.assignRelationship(property.name, of: destination, from: source, name)
      case .none: break
      }
    }
  }

  /// The value of a function that an expression calls with `FUNCTION($entityPolicy, name, …)`. This implementation throws: override it
  /// for the functions that the mapping's expressions have.
  ///
  /// - Parameters:
  ///   - name: The name of the function, as the expression has it.
  ///   - arguments: The values of its arguments.
  ///   - manager: The manager.
  open func value(forFunction name: String, arguments: [Any?], manager: MigrationManager) throws -> Any? {
    throw HeartwoodError(
      .entityMigrationPolicy,
      "\(type(of: self)) has no function \(name): override value(forFunction:arguments:manager:)")
  }

  /// Called after the relationships of the mapping's last object were set.
  ///
  /// - Parameters:
  ///   - mapping: The mapping.
  ///   - manager: The manager.
  open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called after all objects were validated.
  ///
  /// - Parameters:
  ///   - mapping: The mapping.
  ///   - manager: The manager.
  open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called at the end.
  ///
  /// - Parameters:
  ///   - mapping: The mapping.
  ///   - manager: The manager.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}

/// A policy by closures.
public final class ClosureMigrationPolicy: EntityMigrationPolicy, @unchecked Sendable {
  private let edit: @Sendable (ManagedObject, ManagedObject, MigrationManager) throws -> Void

  /// A policy that makes an object as the mapping says, and then edits it.
  ///
  /// - Parameter edit: Gets an object of the source, the object that it becomes, without relationships yet, and the manager.
  public init(edit: @escaping @Sendable (ManagedObject, ManagedObject, MigrationManager) throws -> Void) {
    self.edit = edit
    super.init()
  }

  /// Makes the object and edits it.
  public override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
    for object in made { try edit(source, object, manager) }
  }
}
