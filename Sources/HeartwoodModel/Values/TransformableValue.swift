import Foundation

/// A type of transformable attributes: a value that is stored as bytes, by a transformer with a name.
///
/// A `Codable` type adopts it without further code, and is then stored as JSON:
///
/// ```swift
/// struct Palette: Codable, TransformableValue { var colours: [String] = [] }
/// …
/// @Attribute var palette = Palette()
/// ```
///
/// Types are best structs and enums: a change inside of the value, such as `object.palette.colours.append("red")`, is then a
/// change of the object. Conditions can compare a transformable attribute by `==` and with nil only.
public protocol TransformableValue: AttributeValue, Equatable, Sendable {
  /// The type of the transformer.
  associatedtype Transformer: ValueTransforming where Transformer.Transformed == Self
  /// Converts values to bytes and back.
  static var valueTransformer: Transformer { get }
  /// The transformer's name in the model. The default is the name of the type, without its module.
  static var valueTransformerName: String { get }
}

extension TransformableValue where Self: Codable {
  /// A transformer that encodes as JSON.
  public static var valueTransformer: CodableTransformer<Self> { CodableTransformer(.json) }
}

extension TransformableValue {
  /// The name of the type, without its module.
  public static var valueTransformerName: String { String(describing: Self.self) }
  /// `.transformable`.
  public static var attributeType: AttributeDescription.AttributeType { .transformable }

  /// Decodes the bytes of a cell; nil for null, or if they are not those of a value.
  public static func _read(_ row: _RowFields, _ column: _Column) -> Self? {
    column.isNull(row) ? nil : try? valueTransformer.value(of: Data(column.bytes(row)))
  }

  /// The value of stored bytes; nil if they are not those of a value.
  public init?(_ stored: _Value) {
    switch stored {
    case .data(let bytes):
      guard let value = try? Self.valueTransformer.value(of: bytes) else { return nil }
      self = value
    case .opaque(let held):
      guard let value = held.value as? Self else { return nil }
      self = value
    default: return nil
    }
  }

  /// The bytes; if the transformer has none for the value, the value itself, which a save refuses.
  public var _value: _Value {
    do {
      return .data(try Self.valueTransformer.bytes(of: self))
    } catch {
      return .opaque(_OpaqueValue(self, refusal: "\(error)"))
    }
  }
}
