/// Options of an attribute: `@Attribute([.unique, .preservesValueInHistoryOnDeletion])`.
@frozen
public struct AttributeOptions: OptionSet, Sendable {
  /// One bit for each option.
  public let rawValue: UInt8

  /// Options from a bit mask.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// No two objects may have the same value; nil values are not compared. Includes an index.
  public static let unique = AttributeOptions(rawValue: 1)
  /// An index serves fetches by equality, range, prefix and order.
  public static let indexed = AttributeOptions(rawValue: 2)
  /// The history keeps the value when the object is deleted.
  public static let preservesValueInHistoryOnDeletion = AttributeOptions(rawValue: 4)
  /// Data of more than 32 KiB is stored outside the rows, and loaded when it is used; see
  /// `AttributeDescription.allowsExternalBinaryDataStorage`.
  public static let allowsExternalStorage = AttributeOptions(rawValue: 8)
  /// The value is not stored. It is tracked for undo, changed values and validation, survives a save, and returns to its
  /// default when the object turns into a fault. Conditions and sort orders of fetches cannot use it.
  public static let transient = AttributeOptions(rawValue: 16)
  /// An index of the words of a string serves conditions with `matchesWords` and `MATCHESWORDS`. Each different word of a value is an entry.
  public static let fullText = AttributeOptions(rawValue: 32)
  /// The history keeps the former and the new value of each change; see `AttributeDescription.preservesValueInHistoryOnUpdate`.
  public static let preservesValueInHistoryOnUpdate = AttributeOptions(rawValue: 64)
}
