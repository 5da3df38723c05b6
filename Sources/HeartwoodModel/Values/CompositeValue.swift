/// A type of composite attributes: a struct whose elements are stored one by one, so that conditions, sort orders, indexes and
/// uniqueness constraints can use them.
///
/// ```swift
/// struct Address: CompositeValue {
///   var street = ""
///   var city = ""
///   static let elements = [CompositeElement("street", \Address.street), CompositeElement("city", \Address.city)]
/// }
/// …
/// @Attribute var address = Address()
/// …
/// context.fetch(Person.self, where: { $0.address.city == "Bern" })
/// ```
///
/// The name of an element in paths is that of the attribute, a dot and its own: `address.city`. An element may be composite
/// itself. An optional composite attribute distinguishes nil from a value whose elements are all nil.
public protocol CompositeValue: AttributeValue, Equatable, Sendable {
  /// A value with the default of each element.
  init()
  /// The elements. Properties that are not among them are not stored.
  static var elements: [CompositeElement<Self>] { get }
}

/// One element of a composite value.
public struct CompositeElement<Root>: @unchecked Sendable {
  let name: String
  let formerName: String?
  // A key path from a literal is an immutable value, which the compiler cannot assume of all key paths.
  let keyPath: AnyKeyPath
  package let valueType: any AttributeValue.Type
  let rules: [ValidationRule]
  let get: (Root) -> Value
  /// Returns false if the element's type has no such value.
  package let set: (inout Root, Value) -> Bool

  /// An element.
  ///
  /// - Parameters:
  ///   - name: The name in the model.
  ///   - keyPath: The property.
  ///   - renamed: The element's name in the former version of the type, for migrations.
  ///   - rules: The rules that a value must satisfy to be saved.
  public init<Element: AttributeValue>(
    _ name: String, _ keyPath: WritableKeyPath<Root, Element>, renamed: String? = nil,
    validated rules: ValidationRule...
  ) {
    self.name = name
    formerName = renamed
    self.keyPath = keyPath
    self.rules = rules
    valueType = Element.self
    get = { $0[keyPath: keyPath]._value }
    set = { root, stored in
      guard let value = Element(stored) else { return false }
      root[keyPath: keyPath] = value
      return true
    }
  }
}

extension CompositeValue {
  /// `.composite`.
  public static var attributeType: AttributeDescription.AttributeType { .composite }

  /// Always nil: the elements are in cells of their own.
  public static func _read(_ row: _RowFields, _ column: _Column) -> Self? { nil }

  package static var orderedElements: [CompositeElement<Self>] { elements.sorted { $0.name < $1.name } }

  /// The value of a list of elements, with the defaults of those that are missing; nil for another list.
  public init?(_ stored: _Value) {
    guard case .list(let values) = stored else { return nil }
    let elements = Self.orderedElements
    guard values.count == elements.count else { return nil }
    self.init()
    for (element, value) in zip(elements, values) {
      guard element.set(&self, value) || value.isNull else { return nil }
    }
  }

  /// The elements in the order of their names, as a list.
  public var _value: _Value { .list(Self.orderedElements.map { $0.get(self) }) }
}

/// The elements of a composite type that is not known at compile time.
extension CompositeValue {
  /// The names of the elements that a key path reads, the outermost first; nil if it reads something else.
  static func elementNames(of keyPath: AnyKeyPath) -> [String]? {
    for element in elements {
      if element.keyPath == keyPath { return [element.name] }
      guard let nested = element.valueType.withoutOptional as? any CompositeValue.Type else { continue }
      if let rest = nested.elementNames(of: keyPath, after: element.keyPath) { return [element.name] + rest }
    }
    return nil
  }

  private static func elementNames(of keyPath: AnyKeyPath, after start: AnyKeyPath) -> [String]? {
    for element in elements {
      guard let path = start.appending(path: element.keyPath) else { continue }
      if path == keyPath { return [element.name] }
      guard let nested = element.valueType.withoutOptional as? any CompositeValue.Type else { continue }
      if let rest = nested.elementNames(of: keyPath, after: path) { return [element.name] + rest }
    }
    return nil
  }

  /// The names of the elements of a stored value that have a value.
  package static func elementNames(in stored: Value, having value: Value) -> [[String]] {
    guard case .list(let values) = stored else { return [] }
    return zip(orderedElements, values).flatMap { element, part -> [[String]] in
      let own = part == value ? [[element.name]] : []
      guard let nested = element.valueType.withoutOptional as? any CompositeValue.Type else { return own }
      return own + nested.elementNames(in: part, having: value).map { [element.name] + $0 }
    }
  }

  /// The descriptions of the elements, with the elements of a stored value as their defaults.
  package static func makeElements(_ stored: Value) -> [AttributeDescription] {
    let defaults = Self(stored)
    return elements.map { element in
      let value = defaults.map(element.get) ?? .null
      let made: AttributeDescription
      let type = element.valueType
      if let nested = type.withoutOptional as? any CompositeValue.Type {
        let composite = CompositeAttributeDescription()
        composite.elements = nested.makeElements(value)
        made = composite
      } else {
        made = AttributeDescription()
        made.type = type.attributeType
      }
      made.name = element.name
      made.renamingIdentifier = element.formerName
      made.isOptional = type._isOptional
      made.validationRules = element.rules
      made.noteTransformer(of: type)
      made.defaultStoredValue = made.type == .composite && !value.isNull ? .bool(true) : value
      return made
    }
  }
}
