/// Fetching rows as values of a `Decodable` type.
extension ManagedObjectContext {
  /// The rows of named columns, decoded.
  ///
  /// ```swift
  /// struct Sales: Decodable { var artist: String; var sold: Int }
  /// let sales = try context.fetchRows(
  ///   InvoiceLine.self, as: Sales.self,
  ///   columns: { ["artist": $0.track.album.artist.name, "sold": $0.quantity.sum()] })
  /// ```
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - row: The type of the rows, whose keys are names of columns.
  ///   - columns: The columns by name.
  ///   - condition: Selects the objects; nil for all.
  ///   - groups: What groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  /// - Throws: As `fetch(_:)`, and `DecodingError` if a row does not fit the type.
  public func fetchRows<Object: ManagedObject, Row: Decodable>(
    _ type: Object.Type, as row: Row.Type,
    columns: (ObjectQuery<Object>) -> KeyValuePairs<String, any RowColumn>,
    where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>) -> Condition)? = nil, sort: ((ObjectQuery<Object>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> [Row] {
    if limit == 0 { return [] }
    beginUse("fetching rows")
    defer { endUse() }
    let object = ObjectQuery<Object>()
    let query = RowQuery(
      columns: columns(object).map {
        RowQuery.Column(name: $0.key, expression: $0.value.rowExpression.expression)
      }, groups: groups?(object), having: having?(object), sorts: sort?(object), isDistinct: distinct)
    var rows: [Row] = []
    try forEachRow(of: request(type, condition, [], limit, offset), query) { values, converter in
      var named: [String: Value] = [:]
      for (place, output) in converter.outputs.enumerated() {
        named[output.name] = try converter.value(values, place)
      }
      rows.append(try Row(from: RowDecoder(values: named)))
      return true
    }
    return rows
  }
}

/// Decodes a value from the columns of a row.
private struct RowDecoder: Decoder {
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
