/// A type of transient attributes that no store could keep: any type can adopt it without further code.
///
/// ```swift
/// extension Thumbnail: TransientValue {}
/// …
/// @Attribute(.transient) var thumbnail: Thumbnail?
/// ```
///
/// An attribute of such a type must be transient. Whether it has changed is decided by `==` if the type is `Equatable`;
/// otherwise every assignment of another instance is a change.
public protocol TransientValue: AttributeValue {}

extension TransientValue {
  /// `.undefined`: the attribute has no type in a store.
  public static var attributeType: AttributeDescription.AttributeType { .undefined }

  /// Always nil: no row has such a value.
  public static func _read(_ row: _RowFields, _ column: _Column) -> Self? { nil }

  /// The value itself; nil if it is of another type.
  public init?(_ stored: _Value) {
    guard case .opaque(let held) = stored, let value = held.value as? Self else { return nil }
    self = value
  }

  /// The value itself.
  public var _value: _Value { .opaque(_OpaqueValue(self)) }
}
