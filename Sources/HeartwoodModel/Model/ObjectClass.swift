/// A class of managed objects, as far as models know it.
package protocol ObjectClass: AnyObject, SendableMetatype {
  /// Whether it is the class of objects without a class of their own.
  static var isPlain: Bool { get }

  /// The class as that of an entity's objects.
  ///
  /// - Throws: `.coreData` if the class declares a property that the entity does not have, or has with another kind.
  static func bound(to entity: EntityDescription) throws(HeartwoodError) -> any BoundObjectClass

  /// The names of the declared properties that a key path reads, starting at objects of this class; nil if it reads anything else.
  static func declaredNames(of keyPath: AnyKeyPath) -> [String]?

  /// The names of the properties that a key path from this class reads, starting at objects of an entity; nil if these are of another class.
  ///
  /// - Throws: `.coreData` if the path reads anything but modelled properties.
  static func propertyNames(
    of keyPath: AnyKeyPath, in entity: EntityDescription
  ) throws(HeartwoodError) -> [String]?
}

/// A class together with the entity of its objects.
package protocol BoundObjectClass {
  /// The columns of the properties in an instance.
  ///
  /// - Precondition: The properties have their slots.
  func accessTable(_ layout: RowLayout) -> AccessTable

  /// The class's declaration of each property; nil for relationships, and for those that it does not declare.
  func declarations(_ properties: [PropertyDescription]) -> [DeclaredAttribute?]
}

/// The declaration of an attribute in a class.
package struct DeclaredAttribute {
  package let valueType: any AttributeValue.Type
  /// The default in stored form; null for nil.
  package let defaultValue: Value
  /// Whether the default differs between objects.
  package let hasChangingDefault: Bool
  /// The index of the wrapper among those of an instance, in initialisation order.
  package let reportIndex: Int
  /// How many wrappers an instance has.
  package let reportCount: Int

  package init(
    valueType: any AttributeValue.Type, defaultValue: Value, hasChangingDefault: Bool, reportIndex: Int,
    reportCount: Int
  ) {
    self.valueType = valueType
    self.defaultValue = defaultValue
    self.hasChangingDefault = hasChangingDefault
    self.reportIndex = reportIndex
    self.reportCount = reportCount
  }
}

/// Evaluates the changing defaults of an entity by the wrappers of a prototype, or of a new object, which all report in the order of their initialisation,
/// and no others.
package final class RecordedDefaults {
  private let entity: ObjectIdentifier
  private let wanted: [(slot: Int, reportIndex: Int)]
  private let wrapperCount: Int
  private var values: [Value] = []
  private var count = 0
  private var isTaken = false

  package init(_ entity: EntityDescription) {
    self.entity = ObjectIdentifier(entity)
    (wanted, wrapperCount) = (entity.compiled.changingDefaults, entity.compiled.wrapperCount)
  }

  /// Called for each wrapper.
  ///
  /// - Returns: The mark of the wrapper: 0, as it is not looked for.
  package func note(_ makeDefault: () -> Value) -> UInt8 {
    defer { count += 1 }
    while values.count < wanted.count, wanted[values.count].reportIndex == count {
      values.append(makeDefault())
    }
    return 0
  }

  /// Takes the defaults for a new object, once.
  ///
  /// - Returns: Whether they are the object's: its wrappers have reported, and no other one's between.
  package func take(for entity: EntityDescription) -> Bool {
    defer { isTaken = true }
    return !isTaken && ObjectIdentifier(entity) == self.entity && count == wrapperCount
  }

  /// Calls `body` with the slots and the defaults.
  package func forEach(_ body: (Int, Value) -> Void) {
    for (attribute, value) in zip(wanted, values) { body(attribute.slot, value) }
  }
}
