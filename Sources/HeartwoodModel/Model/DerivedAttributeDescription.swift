/// An attribute whose value the store computes from others at each save.
///
/// The value is that of the last save: a program that sets it changes nothing that lasts. Once a save returns, the saved objects
/// have the new values, and so have the objects that read values of saved ones. What other contexts, batch requests and
/// processes save is taken into account in the same way.
///
/// ```swift
/// DerivedAttributeDescription(name: "searchName", type: .string, derivationExpression: "canonical:(name)")
/// DerivedAttributeDescription(name: "trackCount", type: .integer64, derivationExpression: "tracks.@count")
/// ```
///
/// Unlike Core Data's, it may be computed by arithmetic and by every function with one value, all kinds of stores have it, and one
/// that is not optional needs no default value.
open class DerivedAttributeDescription: AttributeDescription, @unchecked Sendable {
  /// The expression of the value, in the language of `FormatExpression`.
  ///
  /// It reads attributes of the object (`name`), of others over to-one relationships (`company.name`), and of the destinations of a
  /// to-many relationship (`tracks.@count`, `tracks.@sum.seconds` or `tracks.seconds.@sum`, `@min`, `@max`, `@avg`); `now()` alone is the
  /// time of the last save of the object. Every relationship on the way has an inverse, and no attribute on it is derived itself. Part of the
  /// version hash: a migration computes the values again if it changes.
  ///
  /// The value of an aggregate is computed from all destinations when one of them changes; a count is not.
  @_disfavoredOverload public var derivationExpression = "" { willSet { willEdit() } }

  /// A new derived attribute; set at least its name, type and expression.
  public override init() { super.init() }

  /// A new derived attribute.
  ///
  /// - Parameters:
  ///   - name: The name, unique in the entity.
  ///   - type: The type of the value.
  ///   - derivationExpression: The expression of the value.
  public convenience init(name: String, type: AttributeType, derivationExpression: String) {
    self.init()
    self.name = name
    self.type = type
    self.derivationExpression = derivationExpression
  }
}

extension PropertyDescription {
  /// The expression of a derived attribute; nil for every other property.
  package final var derivation: String? { (self as? DerivedAttributeDescription)?.derivationExpression }
}

extension ModelChecks {
  /// Checks what the expression is not needed for.
  func check(_ attribute: DerivedAttributeDescription) throws(HeartwoodError) {
    let name = attribute.displayName
    guard !attribute.isTransient else {
      throw .model("\(name) is derived and transient: the store keeps a derived value, so that it cannot be")
    }
    guard attribute.type != .transformable, attribute.type != .composite else {
      throw .model("\(name) is derived: an attribute of type \(attribute.type) cannot be")
    }
    guard !attribute.derivationExpression.allSatisfy(\.isWhitespace) else {
      throw .model("\(name) is derived: set its `derivationExpression`")
    }
  }
}
