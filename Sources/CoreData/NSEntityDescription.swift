import Foundation
import Heartwood
import HeartwoodBytes

/// An entity of a model.
public typealias NSEntityDescription = EntityDescription

extension EntityDescription {
  /// A new object of the entity with this name in the context's model, inserted.
  ///
  /// - Precondition: The model has such an entity.
  public static func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    guard let entity = entity(forEntityName: entityName, in: context) else {
      programError("+entityForName: could not find an entity named '\(entityName)' in this model")
    }
    return managed(ManagedObject.make(entity, insertInto: context))
  }

  /// The model that contains the entity.
  ///
  /// - Precondition: The entity is in a model that exists.
  public var managedObjectModel: NSManagedObjectModel {
    guard let owningModel else { programError("the entity \(name ?? "?") is in no model") }
    return owningModel
  }

  /// Annotations for the program's own use. With the model of a store only those are kept whose keys and values are text.
  public var userInfo: [AnyHashable: Any]? {
    get { anyAnnotations }
    set { anyAnnotations = newValue }
  }

  /// The name of the objects' class: `NSManagedObject` unless another one was set. Nil stands for that too. With the module, as
  /// `NSStringFromClass` has it, if a model of Xcode says that the class is in that of the program.
  public var managedObjectClassName: String! {
    get {
      if isClassOfProgram, let type = ProgramClasses.named(anyClassName) { return _nameOfClass(type) }
      return anyClassName == "ManagedObject" ? "NSManagedObject" : anyClassName
    }
    set { anyClassName = newValue ?? "NSManagedObject" }
  }

  /// Groups of properties whose values together must be unique: their names, or descriptions of them.
  public var uniquenessConstraints: [[Any]] {
    get { givenConstraints ?? constraintNames }
    set {
      givenConstraints = newValue
      nameConstraints()
    }
  }

  /// Gives the constraints the names that their properties have now.
  func nameConstraints() {
    guard let givenConstraints else { return }
    // An empty group constrains nothing.
    constraintNames = givenConstraints.filter { !$0.isEmpty }.map { group in
      group.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
    }
  }

  /// The expression by which Spotlight names objects.
  @available(*, unavailable, message: "there is no Spotlight on this system")
  public var coreSpotlightDisplayNameExpression: NSExpression { fatalError() }

  /// Groups of properties that have an index: their names, as older systems have them. Setting it adds to `indexes`, and removes those that
  /// were set in this way.
  public var compoundIndexes: [[Any]] {
    get { indexes.filter { $0.name.hasPrefix(Self.prefix) }.map { $0.elements.map(\.anyProperty.name) } }
    set {
      indexes.removeAll { $0.name.hasPrefix(Self.prefix) }
      for (number, group) in newValue.enumerated() {
        let elements = group.map { given in
          guard let property = given as? NSPropertyDescription ?? propertiesByName["\(given)"] else {
            programError("setCompoundIndexes: the entity \(name ?? "?") has no property \(given)")
          }
          return NSFetchIndexElementDescription(property: property, collationType: .binary)
        }
        indexes.append(NSFetchIndexDescription(name: "\(Self.prefix)\(number)", elements: elements))
      }
    }
  }
  private static let prefix = "compound"

  /// Gives properties that are to be indexed an index.
  func indexProperties() {
    for property in ownProperties where property.wantsIndex {
      let isIndexed = indexes.contains { $0.elements.count == 1 && $0.elements[0].anyProperty === property }
      guard !isIndexed else { continue }
      let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
      indexes.append(NSFetchIndexDescription(name: "index of \(property.name)", elements: [element]))
    }
  }
}

/// A description with annotations.
protocol Annotated: AnyObject {
  /// Those whose keys and values are text.
  var annotations: [String: String] { get set }
  var otherAnnotations: [AnyHashable: Any] { get set }
}
extension EntityDescription: Annotated {}
extension PropertyDescription: Annotated {}
extension EntityMapping: Annotated {}
extension PropertyMapping: Annotated {}

extension Annotated {
  var anyAnnotations: [AnyHashable: Any]? {
    get { otherAnnotations.merging(annotations as [AnyHashable: Any]) { other, _ in other } }
    set {
      var (texts, others): ([String: String], [AnyHashable: Any]) = ([:], [:])
      for (key, value) in newValue ?? [:] {
        if let name = key.base as? String, let text = value as? String {
          texts[name] = text
        } else {
          others[key] = value
        }
      }
      annotations = texts
      otherAnnotations = others
    }
  }
}
