import Foundation

/// Values as text that converts back to exactly the same value. The text does not contain the type.
extension Value {
  /// Nil for null, and for values that attributes cannot have.
  package var plainText: String? {
    switch self {
    case .null, .object, .list, .opaque: nil
    case .int(let value): "\(value)"
    case .double(let value), .date(let value): "\(value)"
    case .decimal(let value): value.isNaN ? "NaN" : "\(value)"
    case .bool(let value): value ? "true" : "false"
    case .string(let value), .url(let value): value
    case .data(let value): value.base64EncodedString()
    case .uuid(let value): value.uuidString
    }
  }

  /// Fails if the text is not a value of this type.
  init?(plainText text: String, type: AttributeType) {
    let value: Value? =
      switch type {
      case .undefined: nil
      case .integer16: Int16(text).map { .int(Int64($0)) }
      case .integer32: Int32(text).map { .int(Int64($0)) }
      case .integer64: Int64(text).map(Value.int)
      case .double: Double(text).map(Value.double)
      case .float: Float(text).map { .double(Double($0)) }
      case .date: Double(text).map(Value.date)
      case .decimal: DecimalText.decimal(text).map(Value.decimal)
      case .boolean, .composite: text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
      case .string: .string(text)
      case .uri: .url(text)
      case .binaryData, .transformable: Data(base64Encoded: text).map(Value.data)
      case .uuid: UUID(uuidString: text).map(Value.uuid)
      }
    guard let value else { return nil }
    self = value
  }
}
