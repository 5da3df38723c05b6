import Foundation

/// Encodes a value as the dictionary of a row: keyed containers become dictionaries, unkeyed ones arrays, and values of attributes stay
/// as they are.
struct RowEncoder: Encoder {
  private final class Box {
    var dictionary: [String: Any]?
    var list: [Any]?
    var single: Any?
    /// Whether a member is a nested container, which is filled after it was handed out.
    var hasNested = false

    var value: Any {
      guard hasNested else { return dictionary ?? list ?? single ?? NSNull() }
      return dictionary?.mapValues(Self.filled) ?? list?.map(Self.filled) ?? NSNull()
    }

    private static func filled(_ member: Any) -> Any { (member as? Box)?.value ?? member }
  }

  private let box = Box()
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// - Throws: The error of the value's `encode(to:)`; `.managedObjectValidation` if it does not encode as a keyed container.
  static func dictionary(of value: some Encodable) throws -> [String: Any] {
    let encoder = RowEncoder(codingPath: [])
    try value.encode(to: encoder)
    guard let dictionary = encoder.box.value as? [String: Any] else {
      throw HeartwoodError(
        .managedObjectValidation,
        "a row must encode its properties by name: \(type(of: value)) encodes \(type(of: encoder.box.value))")
    }
    return dictionary
  }

  private static func encoded(_ value: some Encodable, _ path: [any CodingKey]) throws -> Any {
    if value is any AttributeValue || value is ManagedObjectID { return value }
    if value is any BinaryInteger || value is any BinaryFloatingPoint { return value }
    let encoder = RowEncoder(codingPath: path)
    try value.encode(to: encoder)
    return encoder.box.value
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if box.dictionary == nil { box.dictionary = [:] }
    return KeyedEncodingContainer(Keyed(box: box, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if box.list == nil { box.list = [] }
    return Unkeyed(box: box, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    Single(box: box, codingPath: codingPath)
  }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let box: Box
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) { box.dictionary?[key.stringValue] = NSNull() }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
      box.dictionary?[key.stringValue] = try RowEncoder.encoded(value, codingPath + [key])
    }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
      nested(key).container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      nested(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { RowEncoder(codingPath: codingPath) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: Key) -> RowEncoder {
      let encoder = RowEncoder(codingPath: codingPath + [key])
      box.dictionary?[key.stringValue] = encoder.box
      box.hasNested = true
      return encoder
    }
  }

  private struct Unkeyed: UnkeyedEncodingContainer {
    let box: Box
    let codingPath: [any CodingKey]
    var count: Int { box.list?.count ?? 0 }

    mutating func encodeNil() { box.list?.append(NSNull()) }

    mutating func encode(_ value: some Encodable) throws {
      box.list?.append(try RowEncoder.encoded(value, codingPath))
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type)
      -> KeyedEncodingContainer<Nested>
    { nested().container(keyedBy: keyType) }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { nested() }

    private func nested() -> RowEncoder {
      let encoder = RowEncoder(codingPath: codingPath)
      box.list?.append(encoder.box)
      box.hasNested = true
      return encoder
    }
  }

  private struct Single: SingleValueEncodingContainer {
    let box: Box
    let codingPath: [any CodingKey]

    mutating func encodeNil() { box.single = NSNull() }

    mutating func encode(_ value: some Encodable) throws {
      let encoded = try RowEncoder.encoded(value, codingPath)
      if let dictionary = encoded as? [String: Any] {
        box.dictionary = dictionary
      } else {
        box.single = encoded
      }
    }
  }
}
