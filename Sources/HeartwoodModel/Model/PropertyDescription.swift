import Foundation
import HeartwoodBytes

/// One property of an entity: an attribute or a relationship.
///
/// Descriptions are mutable until a coordinator or an object uses their model, which freezes them; changing a frozen
/// description is a program error.
open class PropertyDescription: NSObject, @unchecked Sendable {
  // Changes of objects read these, after the model is frozen: checks for overlapping access would find nothing.

  /// The name, unique in the entity and its superentities.
  @exclusivity(unchecked) public var name = "" { willSet { willEdit() } }
  /// Whether the property may have no value at a save. Assignments are not checked.
  @exclusivity(unchecked) public var isOptional = true { willSet { willEdit() } }
  /// Annotations for the program's own use; not part of the version hash.
  @_disfavoredOverload public var userInfo: [String: String] = [:] { willSet { willEdit() } }
  /// Annotations of other types, of the module `CoreData`, which no store keeps.
  package final var otherAnnotations: [AnyHashable: Any] = [:]
  /// The name by which migration identifies the property: its own one if none was set. Nil stands for that, too.
  public var renamingIdentifier: String? {
    get { formerName ?? name }
    set { formerName = newValue }
  }
  /// The renaming identifier that was set; nil if none was.
  package private(set) var formerName: String? { willSet { willEdit() } }
  /// Any text; it is part of the version hash.
  public var versionHashModifier: String? { willSet { willEdit() } }

  /// The settings of the property for other tools in a model file, such as whether a scalar type is generated: by the names of the
  /// file.
  package final var modelFile: [String: String]?

  /// The entity that declares the property.
  @_disfavoredOverload @exclusivity(unchecked) public internal(set) final var entity: EntityDescription?

  /// As `entity` and `userInfo`, under names that the module `CoreData` does not have.
  package final var owningEntity: EntityDescription? { entity }
  package final var annotations: [String: String] {
    get { userInfo }
    set { userInfo = newValue }
  }

  /// The index of the property among those of its entity, inherited ones first; -1 before freezing.
  @exclusivity(unchecked) public internal(set) final var slot = -1
  @exclusivity(unchecked) final var isFrozen = false

  package override init() {}

  /// Entity and property, for messages.
  package final var displayName: String { "\(entity?.displayName ?? "?").\(name)" }

  /// Whether the value is not stored. It is tracked for undo, changed values and validation, survives a save, and returns to
  /// its default when the object turns into a fault. Conditions and sort orders of fetches cannot use it.
  ///
  /// A transient relationship leads to objects of the context, which keeps both sides consistent. An object with destinations stays in
  /// the context until they are removed, or it is deleted or turned into a fault, which takes it out of the other sides too.
  ///
  /// - Precondition: An inverse is transient too when the model is first used.
  @exclusivity(unchecked) public final var isTransient = false { willSet { willEdit() } }

  /// Of a property of an index that is computed, its expression in the language of `FormatPredicate`.
  package final var expressionText: String?
  /// The type of such a property's values; `.undefined` for that of the expression.
  package final var expressionType = AttributeType.undefined

  /// Whether the module `CoreData` gives the property an index of its own when the model is first used.
  package final var wantsIndex = false { willSet { willEdit() } }

  final func willEdit() {
    require(
      !isFrozen,
      "\(displayName) cannot be changed: its model is in use already: change it before a coordinator gets the model, or make another model"
    )
  }
}
