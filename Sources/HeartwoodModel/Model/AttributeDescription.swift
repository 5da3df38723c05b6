/// An attribute: a property with a value of its own.
open class AttributeDescription: PropertyDescription, @unchecked Sendable {
  /// The type of the value.
  public var type: AttributeType = .undefined { willSet { willEdit() } }
  /// The type of the value; Core Data's older name.
  public var attributeType: AttributeType {
    get { type }
    set { type = newValue }
  }
  /// Whether the history keeps the value when the object is deleted.
  public var preservesValueInHistoryOnDeletion = false { willSet { willEdit() } }
  /// Whether the history keeps the former and the new value of each change of an object, which Core Data's does not. Not part of the version hash, and
  /// not in Xcode's files. See `PersistentHistoryChange.formerValues`.
  public var preservesValueInHistoryOnUpdate = false { willSet { willEdit() } }
  /// Whether values of more than 32 KiB are stored outside the rows. Reading an object then does not load them, and changing
  /// other properties does not write them again.
  ///
  /// They stay in the store's own files, unlike Core Data's. A value is loaded when it is used, from what the context reads then;
  /// `ManagedObject.readData(forKey:pieceBytes:_:)` reads it in pieces. Conditions can compare such an attribute with nil only, and
  /// it can have neither an index nor a uniqueness constraint. Without effect on other types than `.binaryData`. Not part of the
  /// version hash: values are moved when they are next set.
  public var allowsExternalBinaryDataStorage = false { willSet { willEdit() } }

  /// Whether values may be stored outside the rows.
  package var mayBeOutsideRow: Bool { allowsExternalBinaryDataStorage && type == .binaryData }

  /// The composite attribute that this is an element of; nil for an attribute of an entity.
  weak var composite: CompositeAttributeDescription?

  /// The name of the transformer of a transformable attribute, in `ValueTransformers`. It is not part of the version hash.
  ///
  /// - Precondition: A transformable attribute has one when the model is first used. Core Data uses keyed archiving otherwise.
  public var valueTransformerName: String? { willSet { willEdit() } }
  /// The name of the type of a transformable attribute's values, for information only.
  @_disfavoredOverload public var attributeValueClassName: String? { willSet { willEdit() } }

  /// The rules that a value must satisfy to be saved.
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
  package var givenDefault: Any?
  package var defaultStoredValue: Value = .null

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
