/// Decodes a value from the columns of a row.
struct RowDecoder: Decoder {
  let values: [String: Value]
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowContainer(values: values))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unsupported("an array") }
  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw unsupported("a single value")
  }

  private func unsupported(_ what: String) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(
        codingPath: [], debugDescription: "a row is decoded by the names of its columns, not as \(what)"))
  }
}

private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let values: [String: Value]
  let codingPath: [any CodingKey] = []

  var allKeys: [Key] { values.keys.compactMap(Key.init(stringValue:)) }
  func contains(_ key: Key) -> Bool { values[key.stringValue] != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

  private func value(_ key: Key) throws -> Value {
    guard let value = values[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key,
        DecodingError.Context(
          codingPath: [key],
          debugDescription:
            "the row has no column of this name; it has \(values.keys.sorted().joined(separator: ", "))"))
    }
    return value
  }

  func decode<Decoded: Decodable>(_ type: Decoded.Type, forKey key: Key) throws -> Decoded {
    try CellDecoder(value: value(key), codingPath: [key]).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw nested(key) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw nested(key) }
  func superDecoder() throws -> any Decoder { RowDecoder(values: values) }
  func superDecoder(forKey key: Key) throws -> any Decoder {
    CellDecoder(value: try value(key), codingPath: [key])
  }

  private func nested(_ key: Key) -> DecodingError {
    .dataCorruptedError(forKey: key, in: self, debugDescription: "a column has one value")
  }
}

/// Decodes the value of one column.
private struct CellDecoder: Decoder, SingleValueDecodingContainer {
  let value: Value
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw mismatch(type)
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch([Any].self) }
  func decodeNil() -> Bool { value.isNull }

  func decode<Decoded: Decodable>(_ type: Decoded.Type) throws -> Decoded {
    if type == ManagedObjectID.self, case .object(let id) = value, let id = id as? Decoded { return id }
    guard let attribute = type as? any AttributeValue.Type else { return try Decoded(from: self) }
    guard let decoded = attribute.init(value.fitted(to: attribute.attributeType) ?? value) as? Decoded else {
      throw mismatch(type)
    }
    return decoded
  }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(
      type, DecodingError.Context(codingPath: codingPath, debugDescription: "the column has \(value)"))
  }
}
