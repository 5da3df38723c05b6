import HeartwoodBytes

/// An index over one or more properties of an entity and its subentities. It affects the speed of fetches, never their
/// results, and is not part of the version hash.
public final class FetchIndexDescription: @unchecked Sendable {
  /// The name, unique in the entity.
  public var name: String { willSet { willEdit() } }
  /// The indexed properties, most significant first.
  public var elements: [FetchIndexElementDescription] { willSet { willEdit() } }
  var isFrozen = false

  /// An index with a name and its elements.
  public init(name: String, elements: [FetchIndexElementDescription]) {
    self.name = name
    self.elements = elements
  }

  private func willEdit() {
    require(!isFrozen, "the index \(name) cannot be changed: its model is in use already")
  }
}

extension FetchIndexDescription {
  /// How the index orders values.
  package var collationType: FetchIndexElementDescription.CollationType {
    elements.first?.collationType ?? .binary
  }
}

/// One property of an index.
public struct FetchIndexElementDescription: Sendable {
  /// How an index orders values.
  public enum CollationType: Int, Sendable {
    /// In the order of the values.
    case binary = 0
    /// Two numbers or dates, such as the coordinates of places: a range index, which serves conditions that restrict both to a range. Both
    /// elements have this type. It gives no order.
    case rTree = 1
    /// The words of a text, each with the objects that have it: a full-text index, which serves `MATCHESWORDS`. Its only element is an attribute
    /// of strings.
    case words = 100
  }

  /// The property: an attribute or a to-one relationship.
  public let property: PropertyDescription
  /// How values are ordered.
  public let collationType: CollationType
  /// Whether the smallest value comes first. Unlike Core Data, this version stores all indexes ascending and reads them in
  /// both directions.
  public let isAscending: Bool

  /// An element for a property.
  public init(
    property: PropertyDescription, collationType: CollationType = .binary, isAscending: Bool = true
  ) {
    self.property = property
    self.collationType = collationType
    self.isAscending = isAscending
  }
}
