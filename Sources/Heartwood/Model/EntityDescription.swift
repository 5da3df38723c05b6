import Foundation
import HeartwoodBytes

/// An entity of a model: a kind of object, with its properties.
///
/// Descriptions may be changed until their model is used by a coordinator or for an object; then they
/// are frozen, and changing one is a programming error. A frozen model stays as long as the process:
/// identifiers and objects refer to its entities without counting references.
public final class EntityDescription: @unchecked Sendable {
  /// The name, unique in the model.
  public var name: String? { willSet { willEdit() } }
  /// The class of the entity's objects by name; a name without class means `ManagedObject`.
  public var managedObjectClassName = "ManagedObject" { willSet { willEdit() } }
  /// Whether only objects of subentities can be made.
  public var isAbstract = false { willSet { willEdit() } }
  /// Groups of attributes whose values together must be unique. Values with a nil part are not compared.
  public var uniquenessConstraints: [[String]] = [] { willSet { willEdit() } }
  /// The entity's own indexes; they cover subentities.
  public var indexes: [FetchIndexDescription] = [] { willSet { willEdit() } }
  /// Free annotations; in no version hash.
  public var userInfo: [String: String] = [:] { willSet { willEdit() } }
  /// The name under which migration knows the entity; nil means its own name.
  public var renamingIdentifier: String? { willSet { willEdit() } }
  /// Any text: changing it changes the version hash.
  public var versionHashModifier: String? { willSet { willEdit() } }

  /// The entities that inherit this one's properties.
  public var subentities: [EntityDescription] = [] {
    willSet {
      willEdit()
      for entity in subentities where entity.superentity === self { entity.superentity = nil }
    }
    didSet { for entity in subentities { entity.superentity = self } }
  }
  /// The entity whose properties this one inherits.
  public internal(set) var superentity: EntityDescription?

  /// The entity's own properties; setting them replaces them.
  public var ownProperties: [PropertyDescription] = [] {
    willSet {
      willEdit()
      for property in ownProperties where property.entity === self { property.entity = nil }
    }
    didSet { for property in ownProperties { property.entity = self } }
  }

  /// All properties, inherited ones first. Setting them replaces the own ones, as inherited ones are left out.
  public var properties: [PropertyDescription] {
    get { frozen?.declaredProperties ?? declaredProperties }
    set {
      let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
      ownProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
    }
  }

  /// Whether going from superentity to superentity has no end; what is inherited cannot be asked for then.
  var inheritsFromItself: Bool {
    var seen: Set<ObjectIdentifier> = []
    var next: EntityDescription? = self
    while let ancestor = next {
      guard seen.insert(ObjectIdentifier(ancestor)).inserted else { return true }
      next = ancestor.superentity
    }
    return false
  }

  var declaredProperties: [PropertyDescription] { lineage.flatMap(\.ownProperties) }

  /// The class given as a type; it wins over the name.
  var givenClass: ManagedObject.Type?
  /// Everything that follows from the model once it cannot change any more.
  @exclusivity(unchecked) private(set) var frozen: FrozenEntity?
  @exclusivity(unchecked) private(set) var knownFactory: ObjectFactory?
  /// The model that the entity is in.
  weak var model: ManagedObjectModel?

  /// A new entity; set at least its name and put it into a model.
  public init() {}

  /// A new entity with what most entities need.
  ///
  /// - Parameters:
  ///   - name: unique in the model.
  ///   - properties: its own properties.
  ///   - managedObjectClass: the class of its objects; nil for `ManagedObject`.
  public convenience init(
    name: String, properties: [PropertyDescription] = [], managedObjectClass: ManagedObject.Type? = nil
  ) {
    self.init()
    self.name = name
    ownProperties = properties
    for property in properties { property.entity = self }
    self.managedObjectClass = managedObjectClass
  }

  /// The class of the entity's objects; nil for `ManagedObject` itself or one that is known by name only.
  public var managedObjectClass: ManagedObject.Type? {
    get { givenClass }
    set {
      willEdit()
      givenClass = newValue
      managedObjectClassName = newValue.map { String(reflecting: $0) } ?? "ManagedObject"
    }
  }

  func willEdit() {
    require(
      frozen == nil,
      "\(displayName) cannot be changed: its model is in use already; change a copy of the model")
  }

  func freeze(_ contents: FrozenEntity) {
    for property in ownProperties { property.isFrozen = true }
    for index in indexes { index.isFrozen = true }
    frozen = contents
    knownFactory = contents.factory
  }
}

extension EntityDescription: Hashable {
  /// The same description.
  public static func == (left: EntityDescription, right: EntityDescription) -> Bool { left === right }
  /// By identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension EntityDescription {
  /// The name, or a question mark before there is one.
  var displayName: String { name ?? "?" }

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
  /// The direct subentities by name.
  public var subentitiesByName: [String: EntityDescription] {
    Dictionary(subentities.map { ($0.displayName, $0) }, uniquingKeysWith: { first, _ in first })
  }
  /// All relationships that lead to `entity` itself.
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
