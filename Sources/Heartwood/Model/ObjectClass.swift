/// A class of managed objects, as far as models know it.
protocol ObjectClass: AnyObject, SendableMetatype {
  /// Whether it is the class of objects without a class of their own.
  static var isPlain: Bool { get }

  /// The class as that of an entity's objects.
  ///
  /// - Throws: `.coreData` if the class declares a property that the entity does not have, or has with another kind.
  static func bound(to entity: EntityDescription) throws(HeartwoodError) -> any BoundObjectClass

  /// The names of the declared properties that a key path reads, starting at objects of this class; nil if it reads anything else.
  static func declaredNames(of keyPath: AnyKeyPath) -> [String]?
}

/// A class together with the entity of its objects.
protocol BoundObjectClass {
  /// The columns of the properties in an instance.
  ///
  /// - Precondition: The properties have their slots.
  func accessTable(_ layout: RowLayout) -> AccessTable

  /// The class's declaration of each property; nil for relationships, and for those that it does not declare.
  func declarations(_ properties: [PropertyDescription]) -> [DeclaredAttribute?]
}

/// What a class declares of an attribute.
struct DeclaredAttribute {
  let valueType: any AttributeValue.Type
  /// The default in stored form; null for nil.
  let defaultValue: Value
  /// Whether the default differs between objects.
  let hasChangingDefault: Bool
  /// The index of the wrapper among those of an instance, in initialisation order.
  let reportIndex: Int
}
