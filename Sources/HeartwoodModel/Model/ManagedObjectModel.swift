import Foundation
import HeartwoodBytes
import HeartwoodFiles

/// A schema: the entities of a store with their properties.
///
/// A model is made from classes (`init(types:)`) or from descriptions. It is mutable until a coordinator or an object
/// first uses it, which freezes it.
public final class ManagedObjectModel: NSObject, @unchecked Sendable {
  /// The entities; their order has no meaning.
  ///
  /// - Precondition: An entity is in one model only.
  public var entities: [EntityDescription] {
    get { storedEntities }
    set {
      require(
        !isFrozen,
        "the model cannot be changed: it is in use already: change it before a coordinator gets it, or make another model"
      )
      for entity in storedEntities where entity.model === self { entity.model = nil }
      storedEntities = newValue
      for entity in newValue { entity.model = self }
    }
  }
  // Without observers: Swift calls none in an initialiser of a program's extension.
  private final var storedEntities: [EntityDescription] = []

  /// Whether the other object is a model with the same entities, fetch requests and configurations, and all that they say.
  ///
  /// - Complexity: Linear in the size of the models, unless they are the same object.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? ManagedObjectModel else { return false }
    if other === self { return true }
    guard hash == other.hash, let own = try? changeableDocument(), let its = try? other.changeableDocument()
    else { return false }
    return own == its
  }

  /// A hash of the names of the entities.
  public override var hash: Int { Set(entities.map(\.displayName)).hashValue }

  /// Labels for display; they have no effect.
  @_disfavoredOverload public var versionIdentifiers: Set<String> = []

  /// Translations of messages, of the module `CoreData`; they have no effect.
  package final var translations: [String: String]?

  /// Fetch requests by name.
  package final var fetchRequestTemplates: [String: FetchRequestTemplate] = [:] {
    willSet {
      require(
        !isFrozen,
        "the model cannot be changed: it is in use already: set its fetch requests before a coordinator gets it"
      )
    }
  }

  /// The names of the entities of each configuration.
  package final var entityNamesByConfiguration: [String: [String]] = [:] {
    willSet {
      require(
        !isFrozen,
        "the model cannot be changed: it is in use already: set its configurations before a coordinator gets it"
      )
    }
  }

  /// The settings of the model for other tools in a model file, such as whether CloudKit uses it: by the names of the file.
  package final var modelFile: [String: String]?
  /// The same of configurations, by their names.
  package final var configurationFiles: [String: [String: String]]?

  /// Whether the model was read from a store. Its transformable values are bytes where their transformer is not registered.
  package final var isReadFromStore = false

  /// Statements in the declarations of classes that are allowed, and probably not meant, such as a forgotten inverse. They are noted when a
  /// store is opened with the model: see `PersistentStoreDescription.noteLog`.
  public package(set) final var declarationNotes: [String] = []

  /// Called before the model is first used, by the module `CoreData`.
  package final var beforeFreezing: ((ManagedObjectModel) -> Void)?

  /// Translates the errors of saves, with the context, for the module `CoreData`; set before the model is used.
  package final var errorTranslator: ((HeartwoodError, AnyObject) -> any Error)?

  private let freezing = Guarded(false)
  private var entitiesByClass: [ObjectIdentifier?: EntityDescription?]?

  /// A model without entities.
  public override init() {}

  /// A model of these entities.
  public convenience init(entities: [EntityDescription]) {
    self.init()
    self.entities = entities
  }

  /// The entities by name.
  public var entitiesByName: [String: EntityDescription] {
    Dictionary(entities.map { ($0.displayName, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether the model is in use and cannot change any more.
  package var isFrozen: Bool { freezing.withLock { $0 } }

  /// Checks the model and freezes it for the rest of the process. Does nothing if it is frozen already.
  ///
  /// - Throws: `.coreData` with a message that says what is wrong in the model.
  package func freeze() throws(HeartwoodError) {
    beforeFreezing?(self)
    beforeFreezing = nil
    // The prototypes of classes run code of the program, and are made without the lock; what is wrong with one is thrown below.
    if !isFrozen, !entities.contains(where: \.inheritsFromItself) {
      for entity in entities { _ = try? entity.givenClass?.bound(to: entity) }
    }
    let failure = freezing.withLock { isFrozen -> HeartwoodError? in
      guard !isFrozen else { return nil }
      do throws(HeartwoodError) {
        try ModelFreezing(self).run()
        entitiesByClass = Self.byClass(entities)
        isFrozen = true
        FrozenModels.keep(self)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }

  /// Breaks the reference cycles between the descriptions of a model that was never used.
  deinit {
    guard !isFrozen else { return }
    // An entity that was put into another model since belongs to that one.
    for entity in entities where entity.model === self {
      entity.model = nil
      for property in entity.ownProperties {
        property.entity = nil
        (property as? RelationshipDescription)?.destinationEntity = nil
        (property as? RelationshipDescription)?.inverseRelationship = nil
      }
      entity.superentity = nil
      entity.subentities = []
    }
  }
}

/// The frozen models, which are kept until the process ends.
package enum FrozenModels {
  private static let kept = Guarded([ManagedObjectModel]())

  static func keep(_ model: ManagedObjectModel) { kept.withLock { $0.append(model) } }

  /// The entities whose objects have exactly this class, in the order in which their models were frozen.
  package static func entities(of type: any ObjectClass.Type) -> [EntityDescription] {
    kept.withLock { $0.compactMap { $0.entity(of: type) } }
  }
}

extension ManagedObjectModel {
  /// The entity whose objects have exactly this class; nil if there is none or several.
  package func entity(of type: any ObjectClass.Type) -> EntityDescription? {
    let known = entitiesByClass ?? Self.byClass(entities)
    return known[type.isPlain ? nil : ObjectIdentifier(type)] ?? nil
  }

  /// The entities by class, nil for the plain one; no entity for a class that several share. As long as it can still get a class, an entity
  /// without one is left out.
  static func byClass(_ entities: [EntityDescription]) -> [ObjectIdentifier?: EntityDescription?] {
    let pairs = entities.compactMap { entity -> (ObjectIdentifier?, EntityDescription?)? in
      if entity.givenClass == nil, entity.frozen == nil { return nil }
      return (entity.givenClass.flatMap { $0.isPlain ? nil : ObjectIdentifier($0) }, entity)
    }
    return Dictionary(pairs, uniquingKeysWith: { _, _ in nil })
  }
}
