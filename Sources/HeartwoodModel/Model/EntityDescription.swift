import Foundation
import HeartwoodBytes

/// An entity of a model: a kind of object, with its properties.
///
/// Descriptions are mutable until a coordinator or an object uses their model, which freezes them; changing a frozen
/// description is a program error. A frozen model is never released, because identifiers and objects refer to its
/// entities without reference counting.
public final class EntityDescription: NSObject, @unchecked Sendable {
  /// The name, unique in the model.
  public var name: String? { willSet { willEdit() } }
  /// The name of the objects' class, for information only: unlike in Core Data, the name is not resolved. Objects are
  /// plain `ManagedObject`s unless `managedObjectClass` is set.
  @_disfavoredOverload public var managedObjectClassName = "ManagedObject" { willSet { willEdit() } }
  /// Whether only objects of subentities can be created.
  public var isAbstract = false { willSet { willEdit() } }
  /// Groups of attributes and to-one relationships whose values together must be unique. A group with a nil value is not compared.
  @_disfavoredOverload public var uniquenessConstraints: [[String]] = [] { willSet { willEdit() } }
  /// The constraints as they were given to the module `CoreData`: names or descriptions, whose names may be set later.
  package var givenConstraints: [[Any]]?
  /// The entity's own indexes; they include objects of subentities.
  public var indexes: [FetchIndexDescription] {
    get { storedIndexes }
    set {
      willEdit()
      for index in storedIndexes where index.owningEntity === self { index.owningEntity = nil }
      storedIndexes = newValue
      for index in newValue { index.owningEntity = self }
    }
  }
  // Without observers, as those of the next two: Swift calls none in an initialiser of a program's extension.
  private var storedIndexes: [FetchIndexDescription] = []
  /// Annotations for the program's own use; not part of the version hash.
  @_disfavoredOverload public var userInfo: [String: String] = [:] { willSet { willEdit() } }
  /// Annotations of other types, of the module `CoreData`, which no store keeps.
  package var otherAnnotations: [AnyHashable: Any] = [:]
  /// The name by which migration identifies the entity: its own one if none was set. Nil stands for that, too.
  public var renamingIdentifier: String? {
    get { formerName ?? name }
    set { formerName = newValue }
  }
  /// The renaming identifier that was set; nil if none was.
  package private(set) var formerName: String? { willSet { willEdit() } }
  /// Any text; it is part of the version hash.
  public var versionHashModifier: String? { willSet { willEdit() } }

  /// The settings of the entity for other tools in a model file, such as the kind of generated code: by the names of the file.
  var modelFile: [String: String]?

  /// The kind of code that Xcode generates for the entity, as its model file says: `class`, `category`, or nil for nothing.
  package var codeGenerationType: String? { modelFile?["codeGenerationType"] }
  /// Whether the model's file says that the class is in the module of the program.
  package var isClassOfProgram: Bool { modelFile?["representedClassName"] == "." + managedObjectClassName }

  /// The entities that inherit this one's properties.
  public var subentities: [EntityDescription] {
    get { storedSubentities }
    set {
      willEdit()
      for entity in storedSubentities where entity.superentity === self { entity.superentity = nil }
      storedSubentities = newValue
      for entity in newValue { entity.superentity = self }
    }
  }
  private var storedSubentities: [EntityDescription] = []
  /// The entity whose properties this one inherits.
  public internal(set) var superentity: EntityDescription?

  /// The entity's own properties.
  public var ownProperties: [PropertyDescription] {
    get { storedProperties }
    set {
      willEdit()
      for property in storedProperties where property.entity === self { property.entity = nil }
      storedProperties = newValue
      for property in newValue { property.entity = self }
    }
  }
  private var storedProperties: [PropertyDescription] = []

  /// All properties, inherited ones first. Setting them replaces the entity's own properties; inherited ones in the new
  /// value are ignored.
  public var properties: [PropertyDescription] {
    get { frozen?.declaredProperties ?? declaredProperties }
    set {
      let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
      ownProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
    }
  }

  /// Whether the chain of superentities is a cycle. If so, inherited properties cannot be computed.
  var inheritsFromItself: Bool {
    var seen: Set<ObjectIdentifier> = []
    var next: EntityDescription? = self
    while let ancestor = next {
      guard seen.insert(ObjectIdentifier(ancestor)).inserted else { return true }
      next = ancestor.superentity
    }
    return false
  }

  package var declaredProperties: [PropertyDescription] { lineage.flatMap(\.ownProperties) }

  /// The class if it was set as a type; takes precedence over the name.
  package private(set) var givenClass: (any ObjectClass.Type)?
  /// The compiled contents; nil until the model is frozen.
  @usableFromInline @exclusivity(unchecked) private(set) var frozen: FrozenEntity?
  @usableFromInline @exclusivity(unchecked) private(set) var knownFactory: ObjectFactory?
  /// The model that contains the entity, which sets it, and sets it to nil when it ends. Not weak, as a weak reference makes every counting of
  /// references to the model slow.
  package internal(set) unowned(unsafe) var model: ManagedObjectModel?

  /// A new entity; set at least its name and put it into a model.
  public override init() {}

  deinit { for index in indexes where index.owningEntity === self { index.owningEntity = nil } }

  /// A new entity of objects without a class of their own.
  package convenience init(named name: String, properties: [PropertyDescription] = []) {
    self.init()
    self.name = name
    ownProperties = properties
    // Initialisers call no observers.
    for property in properties { property.entity = self }
  }

  /// Sets the class of the entity's objects; nil for a class that is known by name only.
  package func setClass(_ type: (any ObjectClass.Type)?, named name: String) {
    willEdit()
    givenClass = type
    managedObjectClassName = name
  }

  /// The model that contains the entity, if it still exists.
  package var owningModel: ManagedObjectModel? { model }

  /// As `userInfo`, under a name that the module `CoreData` does not have.
  package var annotations: [String: String] {
    get { userInfo }
    set { userInfo = newValue }
  }

  func willEdit() {
    require(
      frozen == nil,
      "\(displayName) cannot be changed: its model is in use already: change it before a coordinator gets the model, or make another model"
    )
  }

  func freeze(_ contents: FrozenEntity) {
    for property in ownProperties {
      property.isFrozen = true
      (property as? CompositeAttributeDescription)?.freezeElements()
    }
    for index in indexes { index.isFrozen = true }
    frozen = contents
    knownFactory = contents.factory
  }

  /// The name, or a question mark if it is not set.
  package var displayName: String { name ?? "?" }

  /// All properties by name, inherited ones included.
  public var propertiesByName: [String: PropertyDescription] {
    Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
  /// All attributes by name, inherited ones included.
  public var attributesByName: [String: AttributeDescription] {
    propertiesByName.compactMapValues { $0 as? AttributeDescription }
  }
  /// All relationships by name, inherited ones included.
  public var relationshipsByName: [String: RelationshipDescription] {
    propertiesByName.compactMapValues { $0 as? RelationshipDescription }
  }
  /// All fetched properties by name, inherited ones included.
  public var fetchedPropertiesByName: [String: FetchedPropertyDescription] {
    propertiesByName.compactMapValues { $0 as? FetchedPropertyDescription }
  }
  /// The direct subentities by name.
  @_disfavoredOverload
  public var subentitiesByName: [String: EntityDescription] {
    Dictionary(subentities.map { ($0.displayName, $0) }, uniquingKeysWith: { first, _ in first })
  }
  /// All relationships whose destination is `entity` itself.
  public func relationships(forDestination entity: EntityDescription) -> [RelationshipDescription] {
    properties.compactMap { $0 as? RelationshipDescription }.filter { $0.destinationEntity === entity }
  }
  /// Whether this is `entity` or inherits from it.
  public func isKindOf(entity: EntityDescription) -> Bool {
    var next: EntityDescription? = self
    while let ancestor = next {
      if ancestor === entity { return true }
      next = ancestor.superentity
    }
    return false
  }
}
