import Foundation

/// Conversion of values that are accessed by name. Their type is the one that the class declares for the property,
/// without its optional; if no class declares it, the attribute type's own Swift type.
extension EntityDescription {
  /// A stored value in the declared type; nil for null. If the declared type has no such value, like an enum without that
  /// case, the value in the attribute type's own Swift type.
  package func anyValue(_ stored: Value, at slot: Int) -> Any? {
    guard let attribute = attribute(at: slot), !stored.isNull else { return nil }
    guard let declared = compiled.convertedTypes[slot] else {
      return attribute.transformed(stored) ?? stored.anyValue(attribute.type)
    }
    return declared.made(of: stored) ?? stored.anyValue(attribute.type)
  }

  /// The stored form of a value of a usual type for an attribute that takes it without a look at anything else; nil for others.
  package func plainValue(_ value: Any, at slot: Int) -> Value? {
    compiled.plainTypes[slot].flatMap { Value.usual(value)?.fitted(to: $0) }
  }

  /// The stored form of a value for an attribute. The value must fit the attribute's type, and the declared type must have
  /// it.
  ///
  /// - Throws: `.managedObjectValidation` if the value does not fit.
  package func storedValue(_ value: Any?, at slot: Int) throws(HeartwoodError) -> Value {
    if let value, let plain = plainValue(value, at: slot) { return plain }
    guard let attribute = attribute(at: slot) else { throw .unknownProperty(property(at: slot).name, self) }
    guard let stored = attribute.storedForm(of: value) else {
      throw .unfitting(value, attribute, "\(attribute.type)")
    }
    if !stored.isNull, let declared = compiled.convertedTypes[slot], declared.made(of: stored) == nil {
      throw .unfitting(value, attribute, "\(declared)")
    }
    return stored
  }

  /// By slot, the declared types without their optionals; nil for those that are the attribute type's own Swift type.
  static func convertedTypes(
    _ declarations: [DeclaredAttribute?], _ attributes: [AttributeDescription?]
  ) -> [(any AttributeValue.Type)?] {
    zip(declarations, attributes).map { declared, attribute in
      guard let attribute, let type = declared?.valueType.withoutOptional else { return nil }
      return type == attribute.type.swiftType ? nil : type
    }
  }
}

extension AttributeValue {
  fileprivate static func made(of stored: Value) -> Any? { Self(stored).map { $0 as Any } }

  package static var withoutOptional: any AttributeValue.Type {
    (self as? any OptionalAttribute.Type)?.wrappedType.withoutOptional ?? self
  }
}

private protocol OptionalAttribute {
  static var wrappedType: any AttributeValue.Type { get }
}

extension Optional: OptionalAttribute where Wrapped: AttributeValue {
  fileprivate static var wrappedType: any AttributeValue.Type { Wrapped.self }
}

extension AttributeType {
  /// The type of `Value.anyValue(_:)`; nil for an undefined attribute.
  var swiftType: (any AttributeValue.Type)? {
    switch self {
    case .undefined, .transformable, .composite: nil
    case .integer16: Int16.self
    case .integer32: Int32.self
    case .integer64: Int64.self
    case .decimal: Decimal.self
    case .double: Double.self
    case .float: Float.self
    case .string: String.self
    case .boolean: Bool.self
    case .date: Date.self
    case .binaryData: Data.self
    case .uuid: UUID.self
    case .uri: URL.self
    }
  }
}

extension HeartwoodError {
  fileprivate static func unfitting(
    _ value: Any?, _ attribute: AttributeDescription, _ type: String
  ) -> HeartwoodError {
    HeartwoodError(
      .managedObjectValidation,
      "\(attribute.displayName) holds \(type), which \(value.map { "\(Swift.type(of: $0)) (\($0))" } ?? "nil") "
        + "does not fit",
      property: attribute.name)
  }

  package static func unknownProperty(_ name: String, _ entity: EntityDescription) -> HeartwoodError {
    HeartwoodError(
      .managedObjectValidation,
      "\(entity.displayName) has no property called \"\(name)\"; it has "
        + ModelChecks.list(entity.propertiesByName.keys),
      property: name)
  }
}
