/// The effect of deleting an object on the destinations of its relationship. The raw values are Core Data's.
public enum DeleteRule: Int, Sendable, CaseIterable {
  /// None: destinations keep dangling references to the object.
  case noActionDeleteRule = 0
  /// Removes the object from the destinations' inverse.
  case nullifyDeleteRule = 1
  /// Deletes the destinations too, and applies their own rules.
  case cascadeDeleteRule = 2
  /// Makes a save fail if the deleted object still has destinations.
  case denyDeleteRule = 3

  /// `noActionDeleteRule`.
  public static let noAction = noActionDeleteRule
  /// `nullifyDeleteRule`.
  public static let nullify = nullifyDeleteRule
  /// `cascadeDeleteRule`.
  public static let cascade = cascadeDeleteRule
  /// `denyDeleteRule`.
  public static let deny = denyDeleteRule
}

/// A relationship: a property whose value is one object or several.
open class RelationshipDescription: PropertyDescription, @unchecked Sendable {
  // Not checked for overlapping access, as those of `PropertyDescription`.

  /// The entity of the destinations, which may also be of its subentities.
  @_disfavoredOverload @exclusivity(unchecked) public final var destinationEntity: EntityDescription! {
    willSet { willEdit() }
  }
  package final var anyDestinationEntity: EntityDescription? {
    get { destinationEntity }
    set { destinationEntity = newValue }
  }
  /// The inverse relationship, which the context maintains. Each of the two must name the other. Strongly recommended.
  @exclusivity(unchecked) public final var inverseRelationship: RelationshipDescription? {
    willSet { willEdit() }
  }
  /// The effect of deleting an object on its destinations. The default is `nullifyDeleteRule`, as in Core Data's model
  /// editor; Core Data's descriptions default to `noActionDeleteRule`.
  @exclusivity(unchecked) public final var deleteRule = DeleteRule.nullifyDeleteRule {
    willSet { willEdit() }
  }
  /// The minimum number of destinations, checked at a save unless the relationship is optional and empty. Without one, a to-many relationship
  /// may be empty also if it is not optional, as in Core Data; a to-one relationship that is not optional needs its destination.
  @exclusivity(unchecked) public final var minCount = 0 { willSet { willEdit() } }
  /// The maximum number of destinations; 1 makes a to-one relationship, 0 means no limit.
  @exclusivity(unchecked) public final var maxCount = 0 { willSet { willEdit() } }
  /// Whether the destinations of a to-many relationship are ordered.
  @exclusivity(unchecked) public final var isOrdered = false { willSet { willEdit() } }

  /// Whether the destination and the inverse stand for those of these names in the model that the relationship is put into, as a copy's do.
  package final var refersByName = false

  /// A new relationship; set at least its name, destination and, for to-one, `maxCount`.
  public override init() { super.init() }

  /// A new relationship. Set the inverse of both relationships after both are created.
  ///
  /// - Parameters:
  ///   - name: The name, unique in the entity.
  ///   - destination: The entity of the destinations.
  ///   - isToMany: False for at most one destination.
  ///   - isOrdered: Whether the destinations are ordered.
  ///   - deleteRule: The effect of deleting an object on its destinations.
  public convenience init(
    name: String, destination: EntityDescription, isToMany: Bool, isOrdered: Bool = false,
    deleteRule: DeleteRule = .nullify
  ) {
    self.init()
    self.name = name
    destinationEntity = destination
    maxCount = isToMany ? 0 : 1
    self.isOrdered = isOrdered
    self.deleteRule = deleteRule
  }

  /// Whether more than one destination is allowed.
  public final var isToMany: Bool { maxCount != 1 }

  /// Whether the store has entries for this relationship that no to-one value implies: many-to-many, and to-many without
  /// an inverse. Other relationships are derived from the rows of the other side.
  package final var ownsLinks: Bool { !isTransient && isToMany && inverseRelationship?.isToMany != false }

  /// Whether both sides are values of their rows.
  package final var isOneToOne: Bool { !isTransient && !isToMany && inverseRelationship?.isToMany == false }
}
