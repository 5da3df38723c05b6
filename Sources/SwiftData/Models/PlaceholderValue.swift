import Foundation
import Heartwood

/// Values that stand for those of a property while a key path is evaluated to find out what it reads. They mean nothing.
enum PlaceholderValue {
  /// A value of a type; nil if none can be made.
  static func make<Value>(_ type: Value.Type) -> Any? {
    if let optional = type as? any OptionalType.Type { return wrapping(optional) }
    if let plain = type as? any AttributeValue.Type { return plainValue(plain) }
    if let cases = type as? any CaseIterable.Type, let first = firstCase(cases) { return first }
    // Zeros are a value of every type without references and with at least one case.
    if _isPOD(type) {
      return withUnsafeTemporaryAllocation(
        byteCount: max(MemoryLayout<Value>.size, 1), alignment: MemoryLayout<Value>.alignment
      ) { memory in
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        return memory.baseAddress.map { $0.loadUnaligned(as: Value.self) }
      }
    }
    guard let decodable = type as? any Decodable.Type else { return nil }
    return try? decodable.init(from: PlaceholderDecoder())
  }

  /// The placeholder of the wrapped type, so that an optional chain goes on.
  private static func wrapping<Value: OptionalType>(_ type: Value.Type) -> Any? {
    func open<Wrapped>(_ type: Wrapped.Type) -> Any? { make(type) }
    return _openExistential(type.wrappedType, do: open).flatMap { $0 as? Value } ?? Value.none
  }

  private static func plainValue<Value: AttributeValue>(_ type: Value.Type, _ number: UInt8 = 0) -> Any? {
    let stored: _Value =
      switch type.attributeType {
      case .integer16, .integer32, .integer64: .int(Int64(number))
      case .double, .float: .double(Double(number))
      case .decimal: .decimal(Decimal(number))
      case .string: .string(number == 0 ? "" : "\(number)")
      case .boolean: .bool(number != 0)
      case .date: .date(Double(number))
      case .binaryData: .data(Data(number == 0 ? [] : [number]))
      case .uuid: .uuid(UUID(uuid: (number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
      case .uri: .url("placeholder:\(number)")
      default: .null
      }
    return Value(stored)
  }

  private static func one<Value: StoredInteger>(_ type: Value.Type) -> Any { Value(1) }
  private static func one<Value: StoredFraction>(_ type: Value.Type) -> Any { Value(1) }

  /// A structure with another value in one of its fields; the same one if the field is of none of the types of attributes.
  static func altered(_ structure: Any, _ field: StructureFields.Field) -> Any {
    func open<Structure>(_ structure: Structure) -> Any {
      if let optional = Structure.self as? any OptionalType.Type {
        func unwrapped<Wrapped>(_ type: Wrapped.Type) -> Any {
          (structure as? Wrapped).map { altered($0, field) } ?? structure
        }
        return _openExistential(optional.wrappedType, do: unwrapped)
      }
      var structure = structure
      func set<Value>(_ type: Value.Type) {
        let other =
          (type as? any AttributeValue.Type).flatMap { plainValue($0, 1) }
          ?? (type as? any StoredInteger.Type).map { one($0) }
          ?? (type as? any StoredFraction.Type).map { one($0) }
        guard let value = other as? Value else { return }
        withUnsafeMutableBytes(of: &structure) { bytes in
          bytes.baseAddress?.advanced(by: field.offset).assumingMemoryBound(to: Value.self).pointee = value
        }
      }
      _openExistential(field.type, do: set)
      return structure
    }
    return _openExistential(structure, do: open)
  }

  private static func firstCase<Value: CaseIterable>(_ type: Value.Type) -> Any? { type.allCases.first }
}

/// Decodes placeholders.
private struct PlaceholderDecoder: Decoder {
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed<Key>())
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { Empty() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { Single() }

  private static func value<Value>(_ type: Value.Type) throws -> Value {
    guard let value = PlaceholderValue.make(type) as? Value else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "there is no placeholder of \(type)"))
    }
    return value
  }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }
    /// One key: an enumeration with values decodes the case that it names.
    var allKeys: [Key] { (PlaceholderValue.make(Key.self) as? Key).map { [$0] } ?? [] }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try value(type) }
    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { KeyedDecodingContainer(Keyed<Nested>()) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { Empty() }
    func superDecoder() throws -> any Decoder { PlaceholderDecoder() }
    func superDecoder(forKey key: Key) throws -> any Decoder { PlaceholderDecoder() }
  }

  private struct Single: SingleValueDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }
  }

  private struct Empty: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }
    mutating func decodeNil() throws -> Bool { true }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }
    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { KeyedDecodingContainer(Keyed<Nested>()) }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { Empty() }
    mutating func superDecoder() throws -> any Decoder { PlaceholderDecoder() }
  }
}
