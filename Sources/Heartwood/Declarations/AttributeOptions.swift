/// What an attribute is besides its type: `@Attribute([.unique, .preservesValueInHistoryOnDeletion])`.
@frozen
public struct AttributeOptions: OptionSet, Sendable {
  /// One bit for each option.
  public let rawValue: UInt8

  /// Options by their bits.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// No two objects may have the same value; nil does not bind. Brings an index.
  public static let unique = AttributeOptions(rawValue: 1)
  /// Fetches by equality, range, prefix and order are served by an index.
  public static let indexed = AttributeOptions(rawValue: 2)
  /// The value is kept in the history when its object is deleted.
  public static let preservesValueInHistoryOnDeletion = AttributeOptions(rawValue: 4)
  /// A hint that large values may be kept outside the rows.
  public static let allowsExternalStorage = AttributeOptions(rawValue: 8)
}
