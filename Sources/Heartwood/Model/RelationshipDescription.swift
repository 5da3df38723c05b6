/// What happens to the destinations of a relationship when the object with the relationship is deleted.
/// The numbers are Core Data's.
public enum DeleteRule: Int, Sendable, CaseIterable {
  /// Nothing: destinations go on pointing at what is no longer there.
  case noActionDeleteRule = 0
  /// The destinations' inverse forgets the object.
  case nullifyDeleteRule = 1
  /// The destinations are deleted too, by their own rules.
  case cascadeDeleteRule = 2
  /// A save that would delete the object while it has destinations fails.
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
public final class RelationshipDescription: PropertyDescription, @unchecked Sendable {
  /// The entity of the destinations; subentities of it count.
  public var destinationEntity: EntityDescription! { willSet { willEdit() } }
  /// The relationship back, kept by the context; each of the two must name the other. Strongly advised.
  public var inverseRelationship: RelationshipDescription? { willSet { willEdit() } }
  /// What deleting an object does to its destinations. Core Data's default for descriptions is
  /// `noActionDeleteRule`; ours is `nullifyDeleteRule`, as in its model editor.
  public var deleteRule = DeleteRule.nullifyDeleteRule { willSet { willEdit() } }
  /// The least number of destinations, checked at save unless the relationship is optional and empty.
  public var minCount = 0 { willSet { willEdit() } }
  /// The greatest number of destinations; 1 makes a to-one relationship, 0 means no limit.
  public var maxCount = 0 { willSet { willEdit() } }
  /// Whether the destinations of a to-many relationship have an order.
  public var isOrdered = false { willSet { willEdit() } }

  /// A new relationship; set at least its name, destination and, for to-one, `maxCount`.
  public override init() { super.init() }

  /// A new relationship; its inverse is set on the two once both are there.
  ///
  /// - Parameters:
  ///   - name: unique in the entity.
  ///   - destination: the entity of the destinations.
  ///   - isToMany: false for one destination at most.
  ///   - isOrdered: whether the destinations have an order.
  ///   - deleteRule: what deleting an object does to its destinations.
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

  /// Whether there may be more than one destination.
  public var isToMany: Bool { maxCount != 1 }

  /// Whether the store keeps entries for this relationship that no to-one value implies: many-to-many,
  /// and to-many without inverse. The other kinds follow from the rows of the other side.
  var ownsLinks: Bool { isToMany && inverseRelationship?.isToMany != false }
}
