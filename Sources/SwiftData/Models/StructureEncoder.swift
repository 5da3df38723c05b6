import Foundation
import Heartwood

/// Encodes a structure as its stored parts.
final class StructureEncoder: Encoder {
  private let parts: [String: AnyValueCoding]
  private var values: [String: _Value] = [:]
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private init(_ parts: [CompositeElementCoding]) {
    self.parts = Dictionary(parts.map { ($0.name, $0.coding) }, uniquingKeysWith: { first, _ in first })
  }

  /// The stored parts, by their names.
  ///
  /// - Throws: If the structure encodes anything but values by the names of its parts.
  static func values(of value: some Encodable, _ parts: [CompositeElementCoding]) throws -> [String: _Value] {
    let encoder = StructureEncoder(parts)
    try value.encode(to: encoder)
    return encoder.values
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { JSONFallback().unkeyedContainer() }
  func singleValueContainer() -> any SingleValueEncodingContainer { JSONFallback().singleValueContainer() }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: StructureEncoder
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) throws { encoder.values[key.stringValue] = .null }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      // The coding of an optional part takes the wrapped value as well.
      guard let coding = encoder.parts[key.stringValue], let stored = coding.stored(any: value) else {
        throw EncodingError.invalidValue(
          value,
          .init(
            codingPath: [],
            debugDescription:
              "\(key.stringValue) is no part of the value, or of another type: mark the property with @Attribute(.codable)"
          ))
      }
      if let refusal = stored.refusal {
        throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: refusal))
      }
      encoder.values[key.stringValue] = stored
    }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { JSONFallback().container(keyedBy: type) }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      JSONFallback().unkeyedContainer()
    }
    mutating func superEncoder() -> any Encoder { JSONFallback() }
    mutating func superEncoder(forKey key: Key) -> any Encoder { JSONFallback() }
  }
}

/// Refuses what is encoded otherwise than the structure was when its parts were learned.
private struct JSONFallback: Encoder {
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private static var refusal: EncodingError {
    .invalidValue(
      0, .init(codingPath: [], debugDescription: "the value is encoded in another way than it is decoded"))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>())
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { Single() }
  func singleValueContainer() -> any SingleValueEncodingContainer { Single() }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }
    mutating func encodeNil(forKey key: Key) throws { throw refusal }
    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { throw refusal }
    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { JSONFallback().container(keyedBy: type) }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Single() }
    mutating func superEncoder() -> any Encoder { JSONFallback() }
    mutating func superEncoder(forKey key: Key) -> any Encoder { JSONFallback() }
  }

  private struct Single: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }
    mutating func encodeNil() throws { throw refusal }
    mutating func encode<Value: Encodable>(_ value: Value) throws { throw refusal }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<
      Nested
    > {
      JSONFallback().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { Single() }
    mutating func superEncoder() -> any Encoder { JSONFallback() }
  }
}
