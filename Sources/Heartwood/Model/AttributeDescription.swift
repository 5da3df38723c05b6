/// An attribute: a property with a value of its own.
public final class AttributeDescription: PropertyDescription, @unchecked Sendable {
  /// The type of the value.
  public var type: AttributeType = .undefined { willSet { willEdit() } }
  /// The type of the value; Core Data's older name.
  public var attributeType: AttributeType {
    get { type }
    set { type = newValue }
  }
  /// Whether the history keeps the value when the object is deleted.
  public var preservesValueInHistoryOnDeletion = false { willSet { willEdit() } }
  /// A hint that large values may be stored outside the rows. Unlike Core Data, this version stores all of them in the
  /// rows.
  public var allowsExternalBinaryDataStorage = false { willSet { willEdit() } }

  /// What a save requires of the value.
  ///
  /// - Precondition: The rules fit the attribute's type when the model is first used.
  public var validationRules: [ValidationRule] = [] { willSet { willEdit() } }

  /// The value of new objects, of the attribute's type; nil for none.
  ///
  /// - Precondition: The value fits the attribute's type when the model is first used.
  public var defaultValue: Any? {
    get { isFrozen ? defaultStoredValue.anyValue(type) : givenDefault ?? defaultStoredValue.anyValue(type) }
    set {
      willEdit()
      givenDefault = newValue
      defaultStoredValue = .null
    }
  }

  /// The default as the program set it. Freezing the model converts it to `defaultStoredValue`, or throws if it does not
  /// fit.
  var givenDefault: Any?
  var defaultStoredValue: Value = .null

  /// A new attribute; set at least its name and type.
  public override init() { super.init() }

  /// A new attribute with the most common options.
  ///
  /// - Parameters:
  ///   - name: The name, unique in the entity.
  ///   - type: The type of the value.
  ///   - isOptional: Whether it may be saved without a value.
  ///   - defaultValue: The value of new objects.
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
