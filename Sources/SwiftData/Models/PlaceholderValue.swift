import Foundation
import Heartwood

/// Values that stand for those of a property while a key path is evaluated to find out what it reads. They mean nothing.
enum PlaceholderValue {
  /// A value of a type: zero, an empty text or an empty collection, where it is none of the program's own; nil if none can be made.
  static func make<Value>(_ type: Value.Type) -> Any? { make(type, 0, depth: 0) }

  /// A value of a type for the initialiser of a decoded one, which may require that numbers are positive, and that texts and arrays have
  /// something in them; nil if none can be made.
  ///
  /// - Parameter depth: In how many arrays the value is. Those in others are empty, so that types that contain themselves come to an end.
  static func decoded<Value>(_ type: Value.Type, depth: Int = 0) -> Any? { make(type, 1, depth: depth) }

  private static func make<Value>(_ type: Value.Type, _ number: UInt8, depth: Int) -> Any? {
    if let optional = type as? any OptionalType.Type { return wrapping(optional, number, depth) }
    if let plain = type as? any AttributeValue.Type { return plainValue(plain, number) }
    if number == 1 {
      if let integer = type as? any StoredInteger.Type { return one(integer) }
      if let fraction = type as? any StoredFraction.Type { return one(fraction) }
    }
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
    let isEmpty = number == 0 && type is any Collection.Type
    return try? decodable.init(from: PlaceholderDecoder(isEmpty: isEmpty, depth: depth))
  }

  /// The placeholder of the wrapped type, so that an optional chain goes on.
  private static func wrapping<Value: OptionalType>(_ type: Value.Type, _ number: UInt8, _ depth: Int) -> Any?
  {
    func open<Wrapped>(_ type: Wrapped.Type) -> Any? { make(type, number, depth: depth) }
    return _openExistential(type.wrappedType, do: open).flatMap { $0 as? Value } ?? Value.none
  }

  private static func plainValue<Value: AttributeValue>(_ type: Value.Type, _ number: UInt8) -> Any? {
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

  /// Values of a type that are unlike each other, as far as some are known: a computed property may answer with the value of another one for some
  /// of them.
  static func various(_ type: any Any.Type) -> [Any] {
    func open<Value>(_ type: Value.Type) -> [Any] {
      if let optional = type as? any OptionalType.Type {
        return various(optional.wrappedType) + [absent(optional)]
      }
      if let cases = type as? any CaseIterable.Type { return allCases(cases) }
      if let plain = type as? any AttributeValue.Type { return variousPlain(plain) }
      if let integer = type as? any StoredInteger.Type {
        return [make(type), one(integer)].compactMap { $0 }
      }
      if let fraction = type as? any StoredFraction.Type {
        return [make(type), one(fraction)].compactMap { $0 }
      }
      return [decoded(type)].compactMap { $0 }
    }
    return _openExistential(type, do: open)
  }

  private static func absent<Value: OptionalType>(_ type: Value.Type) -> Any { Value.none as Any }
  private static func allCases<Value: CaseIterable>(_ type: Value.Type) -> [Any] {
    type.allCases.prefix(4).map { $0 }
  }

  private static func variousPlain<Value: AttributeValue>(_ type: Value.Type) -> [Any] {
    // No greatest or least numbers: a getter that computes with them would end the program.
    let stored: [_Value] =
      switch type.attributeType {
      case .integer16: [.int(0), .int(7), .int(-3), .int(-120), .int(150)]
      case .integer32, .integer64: [.int(0), .int(7), .int(-3), .int(-9876), .int(150), .int(12_345)]
      case .double, .float:
        [.double(0), .double(7.5), .double(-3), .double(0.1234567891), .double(-1234567.8912345)]
      case .decimal: [.decimal(0), .decimal(7.5), .decimal(-3), .decimal(Decimal(1_234_567_891) / 10_000)]
      case .string:
        [
          .string(""), .string(" aB 2 "), .string("Ü,x/y.z"),
          .string("é\r\n\t" + String(repeating: "x1", count: 500)),
        ]
      case .boolean: [.bool(false), .bool(true)]
      case .date: [.date(0), .date(1e9 + 0.5), .date(-1e9), .date(1234567.891)]
      case .binaryData: [.data(Data()), .data(Data([1, 200])), .data(Data(0..<100))]
      case .uri: [.url("https://a@b.example/c/../d?e=1#f")]
      default: []
      }
    return stored.compactMap { Value($0) } + [plainValue(type, 1)].compactMap { $0 }
  }

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
        withUnsafeMutableBytes(of: &structure) { bytes in
          let place = bytes.baseAddress?.advanced(by: field.offset).assumingMemoryBound(to: Value.self)
          guard let place, let value = other(than: place.pointee) else { return }
          place.pointee = value
        }
      }
      _openExistential(field.type, do: set)
      return structure
    }
    return _openExistential(structure, do: open)
  }

  /// Whether `altered` knows another value of a type.
  static func hasOthers(_ type: any Any.Type) -> Bool {
    type is any AttributeValue.Type || type is any StoredInteger.Type || type is any StoredFraction.Type
  }

  /// Another value of the same type; nil where none is known.
  private static func other<Value>(than value: Value) -> Value? {
    let type = Value.self
    guard hasOthers(type), let one = decoded(type) as? Value else { return nil }
    return "\(one)" != "\(value)" ? one : make(type) as? Value
  }

  private static func firstCase<Value: CaseIterable>(_ type: Value.Type) -> Any? { type.allCases.first }
}

/// Decodes placeholders.
private struct PlaceholderDecoder: Decoder {
  /// Whether arrays have no element.
  let isEmpty: Bool
  /// In how many arrays the decoded value is.
  let depth: Int
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed<Key>(decoder: self))
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { Elements(decoder: self) }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { Single(decoder: self) }

  private func value<Value>(_ type: Value.Type) throws -> Value {
    guard let value = PlaceholderValue.decoded(type, depth: depth) as? Value else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "there is no placeholder of \(type)"))
    }
    return value
  }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: PlaceholderDecoder
    var codingPath: [any CodingKey] { [] }
    /// One key: an enumeration with values decodes the case that it names.
    var allKeys: [Key] { (PlaceholderValue.make(Key.self) as? Key).map { [$0] } ?? [] }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      try decoder.value(type)
    }
    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder.container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try decoder.unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder }
  }

  private struct Single: SingleValueDecodingContainer {
    let decoder: PlaceholderDecoder
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(type) }
  }

  /// One element, or none within two other arrays.
  private struct Elements: UnkeyedDecodingContainer {
    private let decoder: PlaceholderDecoder
    private(set) var currentIndex = 0

    init(decoder: PlaceholderDecoder) {
      self.decoder = PlaceholderDecoder(isEmpty: decoder.isEmpty, depth: decoder.depth + 1)
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { decoder.isEmpty || decoder.depth > 2 ? 0 : 1 }
    var isAtEnd: Bool { currentIndex >= count ?? 0 }

    private mutating func next() -> PlaceholderDecoder {
      currentIndex += 1
      return decoder
    }

    mutating func decodeNil() throws -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().value(type) }
    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try next().container(keyedBy: type) }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try next().unkeyedContainer()
    }
    mutating func superDecoder() throws -> any Decoder { next() }
  }
}
