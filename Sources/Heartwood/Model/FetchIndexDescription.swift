import HeartwoodBytes

/// An index over one or more properties of an entity and its subentities. It changes how fast fetches
/// are, never what they find, and is in no version hash.
public final class FetchIndexDescription: @unchecked Sendable {
  /// The name, unique in the entity.
  public var name: String { willSet { willEdit() } }
  /// What is indexed, the most significant first.
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

/// One property of an index.
public struct FetchIndexElementDescription: Sendable {
  /// How an index orders values.
  public enum CollationType: Int, Sendable {
    /// In the order of the values.
    case binary = 0
  }

  /// The property: an attribute or a to-one relationship.
  public let property: PropertyDescription
  /// How values are ordered.
  public let collationType: CollationType
  /// Whether the smallest value comes first. This version keeps all indexes ascending and reads them
  /// both ways.
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
