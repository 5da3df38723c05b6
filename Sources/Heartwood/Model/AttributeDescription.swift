/// An attribute: a property with a value of its own.
public final class AttributeDescription: PropertyDescription, @unchecked Sendable {
  /// The kind of value.
  public var type: AttributeType = .undefined { willSet { willEdit() } }
  /// The kind of value; the older name.
  public var attributeType: AttributeType {
    get { type }
    set { type = newValue }
  }
  /// Whether the value is kept in the history when its object is deleted.
  public var preservesValueInHistoryOnDeletion = false { willSet { willEdit() } }
  /// A hint that large values may be kept outside the rows. This version keeps all of them inside.
  public var allowsExternalBinaryDataStorage = false { willSet { willEdit() } }

  /// The value of new objects, of the attribute's type; nil for none.
  ///
  /// - Precondition: when the model is first used the value must fit the attribute's type.
  public var defaultValue: Any? {
    get { isFrozen ? defaultStoredValue.anyValue(type) : givenDefault ?? defaultStoredValue.anyValue(type) }
    set {
      willEdit()
      givenDefault = newValue
      defaultStoredValue = .null
    }
  }

  /// What the user gave; turned into `defaultStoredValue`, or refused, when the model is frozen.
  var givenDefault: Any?
  var defaultStoredValue: Value = .null

  /// A new attribute; set at least its name and type.
  public override init() { super.init() }

  /// A new attribute with what most attributes need.
  ///
  /// - Parameters:
  ///   - name: unique in the entity.
  ///   - type: the kind of value.
  ///   - isOptional: whether it may be saved without a value.
  ///   - defaultValue: the value of new objects.
  public convenience init(
    name: String, type: AttributeType, isOptional: Bool = true, defaultValue: Any? = nil
  ) {
    self.init()
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.defaultValue = defaultValue
  }
}
