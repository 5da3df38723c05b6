import Foundation

/// The source of a property's value in a migration: the value of a property of the source, of an expression, what a closure returns, or its default.
public final class PropertyMapping: NSObject, @unchecked Sendable {
  /// The name of the destination's property.
  @_disfavoredOverload public var name: String
  /// The name of the source's property whose value it has; nil for the one of the same name, if the source has one that fits.
  public var sourceName: String?
  /// Whether it has its default, and a relationship no destinations, also where the source has a property of its name. A `sourceName`, an
  /// expression and code go before it.
  public var usesDefault = false
  /// Whether it also has its default where the property of its name has values that it cannot take, as a mapping of Xcode's editor without a source.
  var allowsDefault = false
  /// The text of the expression whose value it has; nil if there is none.
  @_disfavoredOverload public private(set) var valueExpression: String?
  private(set) var expression: MappingExpression?
  /// Computes the value from the source's object; of a relationship, the objects of the destination. It goes before an expression and a
  /// name.
  public var value: (@Sendable (ManagedObject, MigrationManager) throws -> Any?)?
  /// Annotations for the program's own use.
  @_disfavoredOverload public var userInfo: [String: String] = [:]
  /// Annotations of other types, of the module `CoreData`.
  package var otherAnnotations: [AnyHashable: Any] = [:]

  /// A mapping of a property.
  ///
  /// - Parameters:
  ///   - name: The name of the destination's property.
  ///   - source: The name of the source's property; nil for the one of the same name, if the source has one that fits.
  public init(name: String, from source: String? = nil) {
    self.name = name
    sourceName = source
  }

  /// A mapping without a name.
  public override convenience init() { self.init(name: "") }

  /// A mapping of a property whose values of the source are not wanted.
  ///
  /// - Parameters:
  ///   - name: The name of the destination's property.
  ///   - usesDefault: Whether it has its default, also where the source has a property of this name.
  public init(name: String, usesDefault: Bool) {
    self.name = name
    self.usesDefault = usesDefault
  }

  /// A mapping of a property by an expression.
  ///
  /// It may have the variables `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping` and `$entityPolicy`, paths of
  /// properties, `@count`, constants, lists in braces, arithmetic, and functions: of the manager
  /// `destinationInstancesForEntityMappingNamed:sourceInstances:` and `sourceInstancesForEntityMappingNamed:destinationInstances:`, of the
  /// policy those of its `value(forFunction:arguments:manager:)`.
  ///
  /// ```swift
  /// PropertyMapping(name: "hours", valueExpression: "$source.days * 24")
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the destination's property.
  ///   - text: The expression.
  /// - Throws: `.invalidPredicate` with the place of what is wrong in the text.
  public init(name: String, valueExpression text: String) throws {
    self.name = name
    valueExpression = text
    expression = try MappingExpression(text)
  }

  /// Sets the expression, as `init(name:valueExpression:)`; nil for none.
  package func setExpression(_ text: String?) throws {
    expression = try text.map { try MappingExpression($0) }
    valueExpression = text
  }

  /// A mapping of a property by code.
  ///
  /// - Parameters:
  ///   - name: The name of the destination's property.
  ///   - value: Computes the value from the source's object; of a relationship, the objects of the destination.
  public init(name: String, value: @escaping @Sendable (ManagedObject, MigrationManager) throws -> Any?) {
    self.name = name
    self.value = value
  }
}
