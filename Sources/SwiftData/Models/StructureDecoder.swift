import Foundation
import Heartwood

/// Decodes a structure from its stored parts; without parts, it finds out which there are.
struct StructureDecoder: Decoder {
  /// The elements that a structure asks for.
  final class Learned {
    var elements: [CompositeElementCoding] = []
    var isByName = false
    var isOther = false
    /// Whether the structure is decoded by a name.
    var isKey: (String) -> Bool = { _ in false }

    /// Whether a structure that refused the values of the first parts has further ones, for which it has not asked.
    func lacksParts(of type: any Any.Type) -> Bool {
      (StructureFields.fields(of: type) ?? []).contains { field in
        isKey(field.name) && !elements.contains { $0.name == field.name }
      }
    }

    func note(_ key: any CodingKey, _ type: any Any.Type, isOptional: Bool) {
      guard !elements.contains(where: { $0.name == key.stringValue }) else { return }
      guard let coding = ValueCodings.coding(of: type) else {
        isOther = true
        return
      }
      elements.append(
        CompositeElementCoding(name: key.stringValue, valueType: type, isOptional: isOptional, coding: coding)
      )
    }
  }

  let values: [String: (coding: AnyValueCoding, value: _Value)]
  let learned: Learned?
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The parts that a structure decodes; nil if it does anything but decode values by names.
  static func elements<Value: Decodable>(of type: Value.Type) -> [CompositeElementCoding]? {
    let learned = Learned()
    do {
      _ = try Value(from: StructureDecoder(values: [:], learned: learned))
    } catch {
      if learned.lacksParts(of: type) { return nil }
    }
    return learned.isByName && !learned.isOther ? learned.elements : nil
  }

  static func value<Value: Decodable>(
    _ type: Value.Type, _ parts: [CompositeElementCoding], _ values: [_Value]
  ) throws -> Value {
    let byName = Dictionary(
      zip(parts, values).map { ($0.name, ($0.coding, $1)) }, uniquingKeysWith: { first, _ in first })
    return try Value(from: StructureDecoder(values: byName, learned: nil))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    learned?.isByName = true
    learned?.isKey = { Key(stringValue: $0) != nil }
    return KeyedDecodingContainer(Keyed<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw other() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw other() }

  private func other() -> DecodingError {
    learned?.isOther = true
    return .dataCorrupted(.init(codingPath: [], debugDescription: "parts are decoded by names"))
  }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: StructureDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { decoder.values.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool {
      decoder.learned != nil || decoder.values[key.stringValue].map { !$0.value.isNone } == true
    }

    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      try value(type, key, isOptional: false)
    }

    private func value<Value>(_ type: Value.Type, _ key: Key, isOptional: Bool) throws -> Value {
      if let learned = decoder.learned {
        learned.note(key, type, isOptional: isOptional)
        guard let value = PlaceholderValue.decoded(type) as? Value else { throw missing(key) }
        return value
      }
      guard let part = decoder.values[key.stringValue] else { throw missing(key) }
      if let value = part.coding.value(any: part.value) as? Value { return value }
      throw missing(key)
    }

    private func missing(_ key: Key) -> DecodingError {
      .keyNotFound(key, .init(codingPath: [], debugDescription: "there is no value of \(key.stringValue)"))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
      try optional(type, key)
    }

    private func optional<Value>(_ type: Value.Type, _ key: Key) throws -> Value? {
      if let learned = decoder.learned {
        learned.note(key, Value?.self, isOptional: true)
        return nil
      }
      guard let part = decoder.values[key.stringValue], !part.value.isNone else { return nil }
      guard let value = part.coding.value(any: part.value) else { throw missing(key) }
      return value as? Value
    }

    // Without these, the standard library's defaults decode optional numbers as numbers.
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(type, key, isOptional: false) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
      try value(type, key, isOptional: false)
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
      try value(type, key, isOptional: false)
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
      try value(type, key, isOptional: false)
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(type, key, isOptional: false) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw decoder.other() }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      throw decoder.other()
    }
    func superDecoder() throws -> any Decoder { throw decoder.other() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.other() }
  }
}
