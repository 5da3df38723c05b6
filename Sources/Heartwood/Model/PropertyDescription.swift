import HeartwoodBytes

/// One property of an entity: an attribute or a relationship.
///
/// Descriptions may be changed until their model is used by a coordinator or for an object; then they
/// are frozen, and changing one is a programming error.
public class PropertyDescription: @unchecked Sendable {
  /// The name, unique in the entity and its superentities.
  public var name = "" { willSet { willEdit() } }
  /// Whether the property may be without a value when it is saved. Never checked at assignment.
  public var isOptional = true { willSet { willEdit() } }
  /// Free annotations; in no version hash.
  public var userInfo: [String: String] = [:] { willSet { willEdit() } }
  /// The name under which migration knows the property; nil means its own name.
  public var renamingIdentifier: String? { willSet { willEdit() } }
  /// Any text: changing it changes the version hash.
  public var versionHashModifier: String? { willSet { willEdit() } }

  /// The entity that declares the property.
  public internal(set) final var entity: EntityDescription?

  /// Where the property stands among those of its entity, inherited ones first; -1 before freezing.
  public internal(set) final var slot = -1
  final var isFrozen = false

  init() {}

  /// Entity and property, as messages name it.
  final var displayName: String { "\(entity?.displayName ?? "?").\(name)" }

  /// Reserved for values that are not stored, which this version does not have.
  final var isTransient: Bool { false }

  final func willEdit() {
    require(
      !isFrozen, "\(displayName) cannot be changed: its model is in use already; change a copy of the model")
  }
}
