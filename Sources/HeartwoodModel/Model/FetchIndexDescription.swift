import Foundation
import HeartwoodBytes

/// An index over one or more properties of an entity and its subentities. It affects the speed of fetches, never their
/// results, and is not part of the version hash.
public final class FetchIndexDescription: NSObject, @unchecked Sendable {
  /// The name, unique in the entity.
  public var name: String { willSet { willEdit() } }
  /// The indexed properties, most significant first.
  public var elements: [FetchIndexElementDescription] {
    get { storedElements }
    set {
      willEdit()
      storedElements = newValue
      takeElements()
    }
  }
  // Without observers: Swift calls none in an initialiser of a program's extension.
  private var storedElements: [FetchIndexElementDescription]
  /// Which objects the index has, in the language of `FormatPredicate`; nil for all.
  package internal(set) var condition: String? { willSet { willEdit() } }
  /// Why the predicate that was given cannot be used.
  var problem: String?
  var isFrozen = false
  /// The entity whose index it is, which sets it, and sets it to nil when it ends. Not weak, as a weak reference makes every counting of
  /// references to the entity slow.
  package internal(set) unowned(unsafe) var owningEntity: EntityDescription?

  /// An index without a name and elements, which are set before a model has it.
  public override convenience init() { self.init(name: "", elements: []) }

  /// An index with a name and its elements.
  public init(name: String, elements: [FetchIndexElementDescription]) {
    self.name = name
    storedElements = elements
    super.init()
    takeElements()
  }

  private func takeElements() { for element in elements { element.indexDescription = self } }

  private func willEdit() {
    require(!isFrozen, "the index \(name) cannot be changed: its model is in use already")
  }
}

extension EntityDescription {
  /// Gives elements of indexes the entity's own properties in place of others of the same names, which Core Data takes as well.
  func adoptIndexedProperties() {
    for element in indexes.flatMap(\.elements) where element.expression == nil {
      if let owner = element.property.owner, isKindOf(entity: owner) { continue }
      if let own = propertiesByName[element.property.name] { element.property = own }
    }
  }
}

extension FetchIndexDescription {
  /// Sets the condition as text. The checks of the model find what is wrong with it.
  package func setCondition(_ text: String?) { (condition, problem) = (text, nil) }

  /// How the index orders values.
  package var collationType: FetchIndexElementDescription.CollationType {
    elements.first?.collationType ?? .binary
  }
}

/// An index that a class declares for some of its objects, such as
/// `PartialIndex(on: ["due"], where: "NOT isDone")`, which serves `{ !$0.isDone && $0.due < date }`: see
/// `FetchIndexDescription.partialIndexPredicate`.
public struct PartialIndex: Hashable, Sendable {
  /// The names of the properties, the most significant first.
  public let properties: [String]
  /// Which objects the index has, in the language of `FormatPredicate`.
  public let condition: String

  /// An index of properties for some objects.
  ///
  /// - Parameters:
  ///   - properties: The names of the properties, the most significant first, or expressions of attributes.
  ///   - condition: Which objects the index has, in the language of `FormatPredicate`. The checks of the model find what is wrong with it.
  public init(on properties: [String], where condition: String) {
    self.properties = properties
    self.condition = condition
  }
}

/// One property of an index, or an expression of an object's attributes.
public final class FetchIndexElementDescription: NSObject, @unchecked Sendable {
  /// How an index orders values.
  public enum CollationType: Int, Sendable {
    /// In the order of the values.
    case binary = 0
    /// Two numbers or dates, such as the coordinates of places: a range index, which serves conditions that restrict both to a range. Both
    /// elements have this type. It gives no order.
    case rTree = 1
    /// The words of a text, each with the objects that have it: a full-text index, which serves `MATCHESWORDS`. Its only element is an attribute
    /// of strings.
    case words = 100
  }

  /// The property: an attribute or a to-one relationship. For an expression it has the expression as its name, and no entity. A property of
  /// no entity stands for the one of the index's entity that has its name, which takes its place when the model is first used.
  @_disfavoredOverload public internal(set) var property: PropertyDescription
  /// How values are ordered.
  public var collationType: CollationType { willSet { willEdit() } }
  /// Whether the smallest value comes first. Unlike Core Data, this version stores all indexes ascending and reads them in
  /// both directions.
  public var isAscending: Bool { willSet { willEdit() } }
  /// The index that has the element; nil if none does.
  public internal(set) weak var indexDescription: FetchIndexDescription?

  /// An element for a property.
  public init(
    property: PropertyDescription, collationType: CollationType = .binary, isAscending: Bool = true
  ) {
    self.property = property
    self.collationType = collationType
    self.isAscending = isAscending
  }

  private func willEdit() {
    require(
      indexDescription?.isFrozen != true,
      "an element of an index cannot be changed: its model is in use already")
  }

  /// The expression in the language of `FormatPredicate`; nil if the element is a property.
  public var expression: String? { property.expressionText }

  /// The path of the property, or the expression.
  package var path: String { expression ?? property.path }

  /// An element for an expression as text. The checks of the model find what is wrong with it.
  package convenience init(
    expressionText: String, type: AttributeType = .undefined, collationType: CollationType = .binary,
    isAscending: Bool = true
  ) {
    let property = PropertyDescription()
    property.name = expressionText
    property.expressionText = expressionText
    property.expressionType = type
    self.init(property: property, collationType: collationType, isAscending: isAscending)
  }

  /// An element for a property or, if the text is more than a path, for an expression.
  package convenience init(
    _ text: String, _ properties: [String: PropertyDescription], collationType: CollationType = .binary
  ) {
    if let property = properties[text] {
      self.init(property: property, collationType: collationType)
    } else if text.isDottedName {
      // A name that is no property is reported by the checks of the model.
      self.init(
        property: AttributeDescription(name: text, type: .undefined), collationType: collationType)
    } else {
      self.init(expressionText: text, collationType: collationType)
    }
  }
}
