import Foundation

/// Transformable attributes.
extension AttributeDescription {
  /// The registered transformer; nil if the attribute is not transformable, or its transformer is not registered.
  var transformer: RegisteredTransformer? {
    guard type == .transformable, let valueTransformerName else { return nil }
    return ValueTransformers.transformer(named: valueTransformerName)
  }

  /// The value of a stored one; nil if the attribute is not transformable, or the bytes are not those of a value.
  func transformed(_ stored: Value) -> Any? {
    guard case .data(let bytes) = stored else { return nil }
    return transformer?.value(bytes)
  }

  /// The value of bytes; nil for others, or if they are not those of a value.
  package func transformed(any bytes: Any?) -> Any? { (bytes as? Data).flatMap { transformed(.data($0)) } }

  /// The stored form of a value given as `Any`; nil if the value does not fit.
  package func storedForm(of value: Any?) -> Value? {
    guard let transformer else { return Value(any: value, for: type) }
    guard let value, !(value is NSNull) else { return .null }
    // A value of a declared type, which may be wrapped in an optional.
    if let declared = value as? any TransformableValue { return transformer.stored(declared) }
    if let optional = value as? any AttributeValue, optional._value.isNull { return .null }
    return transformer.stored(value)
  }

  /// Registers the transformer of a declared type, and names it; does nothing for a type that is not transformable.
  package func noteTransformer(of type: any AttributeValue.Type) {
    guard let type = type.withoutOptional as? any TransformableValue.Type else { return }
    ValueTransformers.register(type)
    valueTransformerName = type.valueTransformerName
    attributeValueClassName = String(reflecting: type)
  }
}

extension PropertyDescription {
  package final var isTransformable: Bool { (self as? AttributeDescription)?.type == .transformable }
}

extension EntityDescription {
  /// Whether two values of a transformable attribute are equal although their bytes differ.
  package func areEqual(_ left: Value, _ right: Value, at slot: Int) -> Bool {
    guard case .data(let left) = left, case .data(let right) = right, let attribute = attribute(at: slot),
      let transformer = attribute.transformer
    else { return false }
    return transformer.areEqual(left, right)
  }
}

extension ManagedObjectModel {
  /// Has transformable values without a registered transformer be the bytes that are stored, as in a model that was read from a store.
  package func keepsBytesWithoutTransformers() { isReadFromStore = true }

  /// - Throws: `.coreData` if a transformer that the model names is not registered.
  package func checkTransformers() throws(HeartwoodError) {
    guard !isReadFromStore else { return }
    for entity in entities {
      for case let attribute as AttributeDescription in entity.ownColumns
      where attribute.type == .transformable && attribute.transformer == nil {
        throw .model(
          "the transformer \"\(attribute.valueTransformerName ?? "")\" of \(attribute.displayName) is not registered: "
            + "call ValueTransformers.register before a store is opened; registered are "
            + ModelChecks.list(ValueTransformers.names))
      }
    }
  }
}

extension HeartwoodError {
  package static func unencodable(
    _ object: ManagedObjectID?, _ property: PropertyDescription, _ reason: String
  ) -> HeartwoodError {
    HeartwoodError(
      .managedObjectValidation,
      "\(property.displayName) cannot be stored, because its transformer has no bytes for the value: \(reason)",
      objectIDs: object.map { [$0] } ?? [], property: property.name)
  }
}
