import Foundation
import Heartwood
import HeartwoodBytes

/// A property of an entity.
public typealias NSPropertyDescription = PropertyDescription
/// A property with a value of its own.
public typealias NSAttributeDescription = AttributeDescription
/// The type of an attribute's value.
public typealias NSAttributeType = AttributeType
/// A property whose values are other objects.
public typealias NSRelationshipDescription = RelationshipDescription
/// The effect of an object's deletion on its destinations.
public typealias NSDeleteRule = DeleteRule
/// A property whose value is the result of a fetch.
public typealias NSFetchedPropertyDescription = FetchedPropertyDescription
/// An attribute whose value the store computes.
public typealias NSDerivedAttributeDescription = DerivedAttributeDescription
/// A group of attributes.
public typealias NSCompositeAttributeDescription = CompositeAttributeDescription
/// An index of an entity.
public typealias NSFetchIndexDescription = FetchIndexDescription
/// A property of an index.
public typealias NSFetchIndexElementDescription = FetchIndexElementDescription
/// The kind of an index.
public typealias NSFetchIndexElementType = FetchIndexElementDescription.CollationType

extension PropertyDescription {
  /// The entity that declares the property.
  ///
  /// - Precondition: An entity has the property.
  public var entity: NSEntityDescription {
    guard let owningEntity else { programError("the property \(name) is in no entity") }
    return owningEntity
  }

  /// Annotations for the program's own use. With the model of a store only those are kept whose keys and values are text.
  public var userInfo: [AnyHashable: Any]? {
    get { anyAnnotations }
    set { anyAnnotations = newValue }
  }

  /// Whether Spotlight indexes the property on Apple's systems, as a model file says it. It has no effect here.
  public var isIndexedBySpotlight: Bool {
    get { modelFile?["spotlightIndexingEnabled"] == "YES" }
    set { setInModelFile("spotlightIndexingEnabled", newValue) }
  }

  /// Whether the property is part of external records on Apple's systems, as a model file says it. It has no effect here.
  public var isStoredInExternalRecord: Bool {
    get { modelFile?["storedInExternalRecord"] == "YES" }
    set { setInModelFile("storedInExternalRecord", newValue) }
  }

  private func setInModelFile(_ name: String, _ isOn: Bool) {
    var fields = modelFile ?? [:]
    fields[name] = isOn ? "YES" : nil
    modelFile = fields
  }

  /// Whether the property has an index of its own.
  public var isIndexed: Bool {
    get {
      wantsIndex
        || owningEntity?.indexes.contains { $0.elements.count == 1 && $0.elements[0].anyProperty === self }
          == true
    }
    set { wantsIndex = newValue }
  }

  /// The hash of what of the property is part of the version hash of its entity.
  public var versionHash: Data { anyVersionHash }

  /// The conditions on values, in which `SELF` is the value; none for relationships.
  public var validationPredicates: [NSPredicate] {
    (self as? AttributeDescription)?.validationFormats.map { NSPredicate.made(of: $0.condition) } ?? []
  }

  /// The messages of the conditions on values.
  public var validationWarnings: [Any] { (self as? AttributeDescription)?.validationTexts ?? [] }

  /// Sets the conditions on values, with a message for each.
  ///
  /// - Precondition: The property is an attribute. What a relationship must have is said by `minCount` and `maxCount`, or in
  ///   `validateForUpdate()`.
  public func setValidationPredicates(
    _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
  ) {
    guard let attribute = self as? AttributeDescription else {
      guard validationPredicates?.isEmpty == false else { return }
      programError(
        "setValidationPredicates of \(name): only attributes have conditions; use minCount and maxCount of relationships, or validateForUpdate()"
      )
    }
    do {
      let formats = try validationPredicates?.map { FormatPredicate(try $0.storeCondition()) }
      attribute.setValidationFormats(formats, warnings: validationWarnings)
    } catch {
      programError("setValidationPredicates of \(name): \(error)")
    }
  }
}

extension FetchIndexElementDescription {
  /// An element for a property.
  public convenience init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    self.init(property: property, collationType: collationType, isAscending: true)
  }

  /// The property.
  public var property: NSPropertyDescription? { anyProperty }
  /// The name of the property.
  public var propertyName: String? { anyProperty.name }
}

extension RelationshipDescription {
  /// The entity of the destinations, which may also be of its subentities.
  public var destinationEntity: NSEntityDescription? {
    get { anyDestinationEntity }
    set { anyDestinationEntity = newValue }
  }
}

extension AttributeType {
  /// The type of a computed column of identifiers: that of its expression. No attribute can have it.
  public static let objectIDAttributeType = AttributeType.undefined
  /// The type of a computed column of identifiers, as `objectIDAttributeType`.
  public static let objectID = AttributeType.undefined
}

extension FetchIndexDescription {
  /// An index with a name and its elements; nil is none.
  public convenience init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.init(name: name, elements: elements ?? [] as [NSFetchIndexElementDescription])
  }

  /// The entity that has the index; nil if none has.
  public var entity: NSEntityDescription? { owningEntity }
}

extension AttributeDescription {
  /// The name of the class of values: the one that was set, or that of the type.
  public var attributeValueClassName: String? {
    get { givenValueClassName ?? Self.classNames[type] }
    set { givenValueClassName = newValue }
  }
  private static let classNames: [AttributeType: String] = [
    .integer16: "NSNumber", .integer32: "NSNumber", .integer64: "NSNumber", .double: "NSNumber",
    .float: "NSNumber", .boolean: "NSNumber", .decimal: "NSDecimalNumber", .string: "NSString",
    .date: "NSDate", .binaryData: "NSData", .uuid: "NSUUID", .uri: "NSURL", .composite: "NSDictionary",
  ]

  /// Whether CloudKit encrypts the values.
  @available(*, unavailable, message: "there is no CloudKit on this system")
  public var allowsCloudEncryption: Bool { fatalError() }
}

extension DerivedAttributeDescription {
  /// How the store computes the value.
  public var derivationExpression: NSExpression? {
    get { derivation.flatMap { $0.isEmpty ? nil : NSExpression(format: $0) } }
    set { setDerivation(newValue.map { "\($0.expression)" } ?? "") }
  }
}

extension FetchIndexDescription {
  /// Which objects the index has: those for which this is true; nil for all of the entity.
  public var partialIndexPredicate: NSPredicate? {
    get { condition.flatMap { try? FormatPredicate($0) }.map { NSPredicate.made(of: $0.condition) } }
    set {
      do {
        setCondition(try newValue?.storeCondition().description)
      } catch {
        programError("the predicate of the index \(name) cannot be used: \(error)")
      }
    }
  }
}

extension FetchedPropertyDescription {
  /// The request whose result is the value.
  public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    get {
      anyFetchRequest.map(ManagedObjectModel.request)
    }
    set {
      guard let newValue else { return anyFetchRequest = nil }
      do {
        anyFetchRequest = try newValue.template()
      } catch {
        programError("the request of the fetched property \(name) cannot be used: \(error)")
      }
    }
  }
}
