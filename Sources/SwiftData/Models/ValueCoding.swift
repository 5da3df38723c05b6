import Foundation
import Heartwood

/// How the values of an attribute are stored, whatever its type is.
class AnyValueCoding: @unchecked Sendable {
  /// The type in the model.
  let attributeType: AttributeDescription.AttributeType
  let isOptional: Bool

  init(_ attributeType: AttributeDescription.AttributeType, isOptional: Bool) {
    self.attributeType = attributeType
    self.isOptional = isOptional
  }

  /// The stored form of a value; nil if it is of another type.
  func stored(any value: Any) -> _Value? { nil }
  /// The value of a stored form; nil if the type has no such value.
  func value(any stored: _Value) -> Any? { nil }
  /// Why a stored form, which is not none, is no value of the type.
  func problem(of stored: _Value) -> String { "it is stored in another form" }
  /// A value to answer a key path with that is evaluated to find out what it reads; nil if there is none.
  func placeholder() -> Any? { nil }
  /// The parts of a composite value, in the order of their names; nil for other values.
  var elements: [CompositeElementCoding]? { nil }
  /// Whether the stored forms are ordered as the values are.
  var keepsOrder: Bool { true }
  /// Whether stored forms are equal where the values are.
  var keepsEquality: Bool { true }
}

/// How the values of a type are stored.
class ValueCoding<Value>: AnyValueCoding, @unchecked Sendable {
  func stored(_ value: Value) -> _Value { .null }
  func value(_ stored: _Value) -> Value? { nil }

  override func stored(any value: Any) -> _Value? { (value as? Value).map { stored($0) } }
  override func value(any stored: _Value) -> Any? { value(stored) }
  override func placeholder() -> Any? { PlaceholderValue.make(Value.self) }
}

/// Values that rows have as they are.
final class PlainCoding<Value: AttributeValue>: ValueCoding<Value>, @unchecked Sendable {
  init() { super.init(Value.attributeType, isOptional: Value._isOptional) }
  override func stored(_ value: Value) -> _Value { value._value }
  override func value(_ stored: _Value) -> Value? { Value(stored) }
}

/// Enumerations and other types with a raw value.
final class RawCoding<Value: RawRepresentable>: ValueCoding<Value>, @unchecked Sendable {
  private let raw: ValueCoding<Value.RawValue>

  init(_ raw: ValueCoding<Value.RawValue>) {
    self.raw = raw
    super.init(raw.attributeType, isOptional: false)
  }
  override func stored(_ value: Value) -> _Value { raw.stored(value.rawValue) }
  override func value(_ stored: _Value) -> Value? { raw.value(stored).flatMap { Value(rawValue: $0) } }
  override func problem(of stored: _Value) -> String {
    raw.value(stored).map { "there is none with the raw value \($0)" } ?? raw.problem(of: stored)
  }
  override var keepsOrder: Bool { RawOrder.isThatOfCases(Value.self) }
}

/// `Codable` values that are stored as one encoding: lists, dictionaries, enumerations with values.
final class EncodedCoding<Value: Codable>: ValueCoding<Value>, @unchecked Sendable {
  init() { super.init(.binaryData, isOptional: false) }

  override var keepsOrder: Bool { false }
  override var keepsEquality: Bool { false }

  private struct Box: Codable { var value: Value }

  override func stored(_ value: Value) -> _Value {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do {
      return .data(try encoder.encode(Box(value: value)))
    } catch {
      return .refused("it cannot be encoded: \(error)")
    }
  }

  override func value(_ stored: _Value) -> Value? {
    guard case .data(let bytes) = stored else { return nil }
    return try? decoded(bytes)
  }

  private func decoded(_ bytes: Data) throws -> Value {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try decoder.decode(Box.self, from: bytes).value
  }

  override func problem(of stored: _Value) -> String {
    guard case .data(let bytes) = stored else { return super.problem(of: stored) }
    do {
      _ = try decoded(bytes)
    } catch {
      return "\(error)"
    }
    return super.problem(of: stored)
  }
}

/// Values that a transformer stores.
final class TransformedCoding<Value>: ValueCoding<Value>, @unchecked Sendable {
  private let name: String

  init(_ name: String) {
    self.name = name
    super.init(.binaryData, isOptional: false)
  }

  override var keepsOrder: Bool { false }
  override var keepsEquality: Bool { false }

  override func stored(_ value: Value) -> _Value {
    guard let transformer = ValueTransformer(forName: NSValueTransformerName(name)) else {
      return .refused("the transformer \"\(name)\" is not registered")
    }
    guard let bytes = transformer.transformedValue(value) as? Data else {
      return .refused("the transformer \"\(name)\" makes no data of \(value)")
    }
    return .data(bytes)
  }

  override func problem(of stored: _Value) -> String {
    "the transformer \"\(name)\" makes no such value of it"
  }

  override func value(_ stored: _Value) -> Value? {
    guard case .data(let bytes) = stored,
      let transformer = ValueTransformer(forName: NSValueTransformerName(name))
    else { return nil }
    return transformer.reverseTransformedValue(bytes) as? Value
  }
}

/// Optional values of a coding.
final class OptionalCoding<Wrapped>: ValueCoding<Wrapped?>, @unchecked Sendable {
  private let wrapped: ValueCoding<Wrapped>

  init(_ wrapped: ValueCoding<Wrapped>) {
    self.wrapped = wrapped
    super.init(wrapped.attributeType, isOptional: true)
  }

  override func stored(_ value: Wrapped?) -> _Value { value.map { wrapped.stored($0) } ?? .null }
  override func value(_ stored: _Value) -> Wrapped?? {
    stored.isNone ? .some(nil) : wrapped.value(stored).map { .some($0) }
  }
  override func problem(of stored: _Value) -> String { wrapped.problem(of: stored) }
  override var elements: [CompositeElementCoding]? { wrapped.elements }
  override var keepsOrder: Bool { wrapped.keepsOrder }
  override var keepsEquality: Bool { wrapped.keepsEquality }
}

/// Finds out how the values of a type are stored.
enum ValueCodings {
  /// The coding of a type; nil if its values cannot be stored.
  ///
  /// - Parameters:
  ///   - transformer: The name of a transformer that stores the values; nil for none.
  ///   - isEncoded: Whether a `Codable` value is stored as one encoding.
  static func coding(of type: any Any.Type, transformer: String? = nil, isEncoded: Bool = false)
    -> AnyValueCoding?
  {
    func open<Value>(_ type: Value.Type) -> AnyValueCoding? { make(type, transformer, isEncoded) }
    return _openExistential(type, do: open)
  }

  static func make<Value>(_ type: Value.Type, _ transformer: String?, _ isEncoded: Bool) -> AnyValueCoding? {
    if let optional = type as? any OptionalType.Type, transformer != nil || !(type is any AttributeValue.Type)
    {
      return optionalCoding(optional.wrappedType, transformer, isEncoded)
    }
    if let transformer { return TransformedCoding<Value>(transformer) }
    if let plain = type as? any AttributeValue.Type { return plainCoding(plain) }
    if let integer = type as? any StoredInteger.Type { return integerCoding(integer) }
    if let fraction = type as? any StoredFraction.Type { return fractionCoding(fraction) }
    if let raw = type as? any RawRepresentable.Type, let coding = rawCoding(raw) { return coding }
    guard let codable = type as? any Codable.Type else { return nil }
    return codableCoding(codable, isEncoded)
  }

  private static func plainCoding<Value: AttributeValue>(_ type: Value.Type) -> AnyValueCoding {
    PlainCoding<Value>()
  }

  private static func integerCoding<Value: StoredInteger>(_ type: Value.Type) -> AnyValueCoding {
    IntegerCoding<Value>()
  }

  private static func fractionCoding<Value: StoredFraction>(_ type: Value.Type) -> AnyValueCoding {
    FractionCoding<Value>()
  }

  private static func rawCoding<Value: RawRepresentable>(_ type: Value.Type) -> AnyValueCoding? {
    let raw = Value.RawValue.self
    guard
      raw is any AttributeValue.Type || raw is any StoredInteger.Type || raw is any StoredFraction.Type
    else { return nil }
    return (make(raw, nil, false) as? ValueCoding<Value.RawValue>).map { RawCoding<Value>($0) }
  }

  private static func codableCoding<Value: Codable>(_ type: Value.Type, _ isEncoded: Bool) -> AnyValueCoding {
    if !isEncoded, let elements = CompositeElementCoding.elements(of: type) {
      return CompositeCoding<Value>(elements)
    }
    return EncodedCoding<Value>()
  }

  private static func optionalCoding(
    _ wrapped: any Any.Type, _ transformer: String?, _ isEncoded: Bool
  ) -> AnyValueCoding? {
    func open<Wrapped>(_ type: Wrapped.Type) -> AnyValueCoding? {
      (make(type, transformer, isEncoded) as? ValueCoding<Wrapped>).map { OptionalCoding($0) }
    }
    return _openExistential(wrapped, do: open)
  }
}
