/// A step to another row: over a to-one relationship, or to one destination of an ordered relationship. Or a step that stays at an object if it is
/// of an entity.
package struct ToOneHop {
  let column: Column
  let destination: EntityDescription
  package let root: EntityDescription
  /// The place among the destinations of an ordered relationship; nil for a to-one relationship.
  let item: PathItem?
  private let ordered: RelationshipDescription?
  /// Whether the step stays at the object, if that is a `destination`.
  package let isCast: Bool

  init(_ column: Column, _ destination: EntityDescription) {
    self.column = column
    self.destination = destination
    root = destination.rootEntity
    item = nil
    ordered = nil
    isCast = false
  }

  /// A step to the object itself as one of a subentity.
  init(as entity: EntityDescription) {
    column = .none
    destination = entity
    root = entity.rootEntity
    item = nil
    ordered = nil
    isCast = true
  }

  /// Whether a row with a column of its own leads on.
  var isToOne: Bool { item == nil && !isCast }

  init(_ item: PathItem, of relationship: RelationshipDescription, _ destination: EntityDescription) {
    column = .none
    self.destination = destination
    root = destination.rootEntity
    self.item = item
    ordered = relationship
    isCast = false
  }

  /// The key of the destination; nil if there is none.
  @inline(__always)
  fileprivate func key(from place: Place) throws -> UInt64? {
    guard let item, let ordered else { return place.row.isNull(column) ? nil : place.row.key(column) }
    return try Self.key(item, ordered, place)
  }

  @inline(never)
  private static func key(_ item: PathItem, _ ordered: RelationshipDescription, _ place: Place) throws
    -> UInt64?
  {
    var found: UInt64?
    var index = 0
    try place.source.destinations(ordered, of: place.key) { key in
      switch item {
      case .last: found = key
      case .first: found = key
      case .index(let wanted): if wanted == index { found = key }
      }
      index += 1
      return item == .last || found == nil
    }
    return found
  }
}

extension Place {
  /// The object at the end of to-one relationships; nil if one of them has no destination.
  package func following(_ hops: [ToOneHop]) throws -> Place? {
    var place = self
    for hop in hops {
      if hop.isCast {
        guard hop.destination.compiled.family.entity(place.row.entityNumber) != nil else { return nil }
        continue
      }
      guard let key = try hop.key(from: place), let row = try source.row(hop.root, key) else { return nil }
      place = Place(row: row, key: key, source: source, outer: outer)
    }
    return place
  }

  /// The object `count` to-many scopes outwards.
  func outwards(_ count: Int) -> Place {
    var place = self
    for _ in 0..<count {
      guard let outer = place.outer else { return place }
      place = outer.place
    }
    return place
  }
}

/// A test of the object at the end of to-one relationships.
final class ThroughTest: RowTest {
  private let hops: [ToOneHop]
  private let test: RowTest
  /// The result if a relationship has no destination: that of the test for nil.
  private let resultForNull: Bool

  init(_ hops: [ToOneHop], _ test: RowTest, resultForNull: Bool) {
    self.hops = hops
    self.test = test
    self.resultForNull = resultForNull
  }

  override func matches(_ place: Place) throws -> Bool {
    guard let end = try place.following(hops) else { return resultForNull }
    return try test.matches(end)
  }
}

/// A test of an object of an enclosing scope, inside a condition on destinations.
final class OuterTest: RowTest {
  private let count: Int
  private let test: RowTest

  init(_ count: Int, _ test: RowTest) {
    self.count = count
    self.test = test
  }

  override func matches(_ place: Place) throws -> Bool { try test.matches(place.outwards(count)) }
}

/// The destinations of a to-many relationship at the end of a path.
package struct Destinations {
  let outward: Int
  let hops: [ToOneHop]
  package let relationship: RelationshipDescription
  let root: EntityDescription

  init(
    _ outward: Int, _ hops: [ToOneHop], _ relationship: RelationshipDescription, _ entity: EntityDescription
  ) {
    self.outward = outward
    self.hops = hops
    self.relationship = relationship
    root = entity.rootEntity
  }

  /// The object that has the relationship; nil if a relationship on the path to it has no destination.
  func owner(_ place: Place) throws -> Place? {
    try (outward == 0 ? place : place.outwards(outward)).following(hops)
  }

  func count(_ place: Place) throws -> Int {
    guard let owner = try owner(place) else { return 0 }
    return try place.source.destinationCount(relationship, of: owner.key)
  }

  /// Calls `body` with each destination until it returns false. Skips destinations without a row.
  ///
  /// - Parameter readsRow: if false, rows are not read and `body` receives the owner's row.
  package func forEach(_ place: Place, readsRow: Bool = true, _ body: (Place) throws -> Bool) throws {
    guard let owner = try owner(place) else { return }
    let source = place.source
    try OuterPlace.with(place) { outer in
      try source.destinations(relationship, of: owner.key) { key in
        guard readsRow else {
          return try body(Place(row: owner.row, key: key, source: source, outer: outer))
        }
        guard let row = try source.row(root, key) else { return true }
        return try body(Place(row: row, key: key, source: source, outer: outer))
      }
    }
  }
}

/// Whether a test holds for any, all or none of the destinations of a to-many relationship.
final class QuantifiedTest: RowTest {
  private let destinations: Destinations
  private let test: RowTest
  /// The test result for one destination that decides the whole test.
  private let deciding: Bool
  private let resultIfDecided: Bool

  init(_ quantifier: Quantifier, _ destinations: Destinations, _ test: RowTest) {
    self.destinations = destinations
    self.test = test
    deciding = quantifier != .all
    resultIfDecided = quantifier == .any
  }

  override func matches(_ place: Place) throws -> Bool {
    var isDecided = false
    try destinations.forEach(place, readsRow: test.readsRow) { destination in
      isDecided = try test.matches(destination) == deciding
      return !isDecided
    }
    return isDecided == resultIfDecided
  }
}
