/// A composite attribute: a group of attributes under one name.
///
/// Each element is stored in a cell of its own, and has the name of the group, a dot and its own name in conditions, sort
/// orders, constraints and `value(forKey:)`: `address.city`. The value of the whole is a dictionary by element name.
open class CompositeAttributeDescription: AttributeDescription, @unchecked Sendable {
  /// The elements: attributes, which may be composite themselves.
  public var elements: [AttributeDescription] {
    get { storedElements }
    set {
      willEdit()
      storedElements = newValue
      for element in newValue { element.composite = self }
    }
  }
  // Without observers: Swift calls none in an initialiser of a program's extension.
  private final var storedElements: [AttributeDescription] = []

  /// How many composite attributes may be one in the other.
  package static let greatestDepth = 16
  package static let tooDeep = "is in \(greatestDepth) composite attributes, one in the other: no more can be"

  /// A new composite attribute; set at least its name and elements.
  public override init() {
    super.init()
    type = .composite
  }

  /// A new composite attribute.
  ///
  /// - Parameters:
  ///   - name: The name, unique in the entity.
  ///   - elements: The elements.
  ///   - isOptional: Whether it may be saved without a value.
  public convenience init(name: String, elements: [AttributeDescription], isOptional: Bool = true) {
    self.init()
    self.name = name
    self.isOptional = isOptional
    self.elements = elements
    for element in elements { element.composite = self }
  }

  /// Whether an element may have a name.
  package static func mayHaveElement(named name: String) -> Bool {
    ModelChecks.problem(ofElementName: name, of: "") == nil
  }

  /// The attributes of the columns, made at the first use: the elements under their full names, each composite before its own
  /// elements.
  private(set) lazy var columns: [AttributeDescription] = makeColumns(below: name, of: entity)

  private func makeColumns(below path: String, of entity: EntityDescription?) -> [AttributeDescription] {
    elements.sorted { $0.name < $1.name }.flatMap { element -> [AttributeDescription] in
      let column =
        element is CompositeAttributeDescription ? CompositeAttributeDescription() : AttributeDescription()
      column.takeColumn(element, name: "\(path).\(element.name)", entity: entity)
      guard let composite = element as? CompositeAttributeDescription else { return [column] }
      return [column] + composite.makeColumns(below: column.name, of: entity)
    }
  }
}

extension AttributeDescription {
  /// The composite attribute that the element is in at the outermost; the attribute itself if it is in none.
  var outermost: AttributeDescription { composite?.outermost ?? self }

  /// The element's full name: `address.city`.
  var fullName: String { composite.map { "\($0.fullName).\(name)" } ?? name }

  fileprivate func takeColumn(_ element: AttributeDescription, name: String, entity: EntityDescription?) {
    self.name = name
    self.entity = entity
    // The element's own, without the path: elements are matched below their composite.
    renamingIdentifier = element.formerName
    type = element.type
    isOptional = element.isOptional
    userInfo = element.userInfo
    validationRules = element.validationRules
    preservesValueInHistoryOnDeletion = element.preservesValueInHistoryOnDeletion
    preservesValueInHistoryOnUpdate = element.preservesValueInHistoryOnUpdate
    valueTransformerName = element.valueTransformerName
    attributeValueClassName = element.attributeValueClassName
    givenDefault = element.givenDefault
    defaultStoredValue = element.defaultStoredValue
  }
}
