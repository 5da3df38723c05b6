import Foundation

/// A parameter of a statement, in PostgreSQL's binary form.
struct PostgresParameter: Sendable {
  let type: PostgresType
  /// Nil for NULL.
  let bytes: [UInt8]?

  init(_ type: PostgresType, _ bytes: [UInt8]?) { (self.type, self.bytes) = (type, bytes) }

  static func integer(_ value: Int64) -> PostgresParameter { PostgresParameter(.int8, bigEndian(value)) }
  static func double(_ value: Double) -> PostgresParameter {
    PostgresParameter(.float8, bigEndian(value.bitPattern))
  }
  static func boolean(_ value: Bool) -> PostgresParameter { PostgresParameter(.bool, [value ? 1 : 0]) }
  static func text(_ value: String) -> PostgresParameter { PostgresParameter(.text, Array(value.utf8)) }
  static func data(_ value: Data) -> PostgresParameter { PostgresParameter(.bytea, Array(value)) }
  static func uuid(_ value: UUID) -> PostgresParameter {
    PostgresParameter(.uuid, withUnsafeBytes(of: value.uuid) { Array($0) })
  }

  static func bigEndian<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  static func integers(_ values: some Collection<Int64>) -> PostgresParameter {
    var array = PostgresArray(.int8, count: values.count)
    for value in values { array.append(value) }
    return array.parameter
  }

  static func texts(_ values: some Collection<String>) -> PostgresParameter {
    var array = PostgresArray(.text, count: values.count)
    for value in values { array.append(value) }
    return array.parameter
  }
}

/// The types of parameters, with their numbers.
enum PostgresType: UInt32, Sendable {
  case bool = 16
  case bytea = 17
  case int8 = 20
  case text = 25
  case float8 = 701
  case uuid = 2950
  case bools = 1000
  case byteas = 1001
  case texts = 1009
  case int8s = 1016
  case float8s = 1022
  case uuids = 2951

  /// The type of an array of it.
  var array: PostgresType {
    switch self {
    case .bool: .bools
    case .bytea: .byteas
    case .text: .texts
    case .int8: .int8s
    case .float8: .float8s
    case .uuid: .uuids
    default: self
    }
  }

  /// The name in SQL.
  var name: String {
    switch self {
    case .bool: "bool"
    case .bytea: "bytea"
    case .int8: "int8"
    case .text: "text"
    case .float8: "float8"
    case .uuid: "uuid"
    case .bools: "bool[]"
    case .byteas: "bytea[]"
    case .texts: "text[]"
    case .int8s: "int8[]"
    case .float8s: "float8[]"
    case .uuids: "uuid[]"
    }
  }
}

/// An array of one dimension, as it is built.
struct PostgresArray {
  private let element: PostgresType
  private var bytes: [UInt8]
  private var count: Int32 = 0
  private var hasNull = false

  init(_ element: PostgresType, count: Int) {
    self.element = element
    bytes = []
    bytes.reserveCapacity(20 + count * 12)
    bytes.append(contentsOf: repeatElement(0, count: 20))
  }

  mutating func appendNull() {
    append32(-1)
    hasNull = true
    count += 1
  }

  mutating func append(_ value: Int64) {
    append32(8)
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    count += 1
  }

  mutating func append(_ value: Double) {
    append32(8)
    withUnsafeBytes(of: value.bitPattern.bigEndian) { bytes.append(contentsOf: $0) }
    count += 1
  }

  mutating func append(_ value: Bool) {
    append32(1)
    bytes.append(value ? 1 : 0)
    count += 1
  }

  mutating func append(_ value: String) {
    var value = value
    value.withUTF8 { text in
      append32(Int32(text.count))
      bytes.append(contentsOf: text)
    }
    count += 1
  }

  mutating func append(_ value: Data) {
    append32(Int32(value.count))
    bytes.append(contentsOf: value)
    count += 1
  }

  mutating func append(_ value: UUID) {
    append32(16)
    withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
    count += 1
  }

  private mutating func append32(_ value: Int32) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Dimensions, flags, element type, size and lower bound; then the elements. An empty array has no dimension.
  var parameter: PostgresParameter {
    var whole = bytes
    var header: [Int32] = [1, hasNull ? 1 : 0, Int32(bitPattern: element.rawValue), count, 1]
    if count == 0 {
      header = [0, 0, Int32(bitPattern: element.rawValue)]
      whole.removeLast(8)
    }
    for (place, number) in header.enumerated() {
      withUnsafeBytes(of: number.bigEndian) { source in
        for (offset, byte) in source.enumerated() { whole[place * 4 + offset] = byte }
      }
    }
    return PostgresParameter(element.array, whole)
  }
}
