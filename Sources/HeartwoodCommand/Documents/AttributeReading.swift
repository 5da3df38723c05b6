import Heartwood
import Foundation

/// Converts JSON values to attribute values. A value that can't be represented exactly is an error.
enum AttributeReading {
  /// The value of an attribute; of a composite one, the values of its elements by name. Elements that it does not name have their
  /// defaults, as those of a new value of a program have.
  ///
  /// - Throws: A failure at `place` that names the expected kind of value, or an element that does not exist.
  static func value(
    of place: JSONPlace, as attribute: DocumentAttribute
  ) throws(CommandFailure) -> any Sendable {
    guard attribute.type == .composite else { return try value(of: place, as: attribute.type) }
    var values: [String: any Sendable] = [:]
    for element in attribute.elements { values[element.name] = try defaultValue(of: element, in: place) }
    for (name, member) in try place.members() {
      guard let element = attribute.elements.first(where: { $0.name == name }) else {
        let hint = Spelling.hint(name, among: attribute.elements.map(\.name))
        throw member.failure("\(attribute.name) has no element \"\(name)\"\(hint)")
      }
      // As with attributes, no value means the default where there must be one.
      guard member.value != .null || element.isOptional else { continue }
      values[name] = member.value == .null ? nil : try value(of: member, as: element)
    }
    return values
  }

  private static func defaultValue(
    of element: DocumentAttribute, in place: JSONPlace
  ) throws(CommandFailure) -> (any Sendable)? {
    if element.type == .composite, !element.isOptional {
      return try value(of: place.member(element.name, .object(JSONObject())), as: element)
    }
    guard let value = element.defaultValue else { return nil }
    return try self.value(of: place.member(element.name, value), as: element)
  }

  /// The value of an attribute of this type, which is not composite.
  ///
  /// - Throws: A failure at `place` that names the expected kind of value.
  static func value(of place: JSONPlace, as type: DocumentType) throws(CommandFailure) -> any Sendable {
    switch type {
    case .string: return try place.string()
    case .integer16: return try integer(place, Int16.self)
    case .integer32: return try integer(place, Int32.self)
    case .integer64: return try integer(place, Int64.self)
    case .double: return try double(place)
    case .float: return try float(place)
    case .decimal: return try decimal(place)
    case .boolean: return try place.bool()
    case .date: return try date(place)
    // Without its transformer, a value is the bytes that are stored.
    case .data, .transformable: return try read(place, "data in base 64") { Data(base64Encoded: $0) }
    case .uuid: return try read(place, "a UUID") { UUID(uuidString: $0) }
    case .uri: return try read(place, "a URI") { URL(string: $0) }
    case .composite: throw place.expected("an object with the elements")
    case .undefined: throw place.failure("an attribute of type undefined has no values in a file")
    }
  }

  private static func read<Value: Sendable>(
    _ place: JSONPlace, _ what: String, _ convert: (String) -> Value?
  ) throws(CommandFailure) -> Value {
    guard case .string(let text) = place.value, let value = convert(text) else { throw place.expected(what) }
    return value
  }

  private static func integer<Integer: FixedWidthInteger>(
    _ place: JSONPlace, _ type: Integer.Type
  ) throws(CommandFailure) -> Integer {
    switch place.value {
    case .integer(let number):
      guard let integer = Integer(exactly: number) else { throw tooLarge(place, type) }
      return integer
    case .fraction(let number, let text):
      // A decimal has digits that a floating-point number does not have.
      if text.contains(where: { ".eE".contains($0) }), let decimal = DecimalText.decimal(text) {
        if let exact = Integer("\(decimal)") { return exact }
        if !decimal.isWhole { throw place.expected("an integer") }
      }
      guard number.rounded() != number else { throw tooLarge(place, type) }
      throw place.expected("an integer")
    default:
      throw place.expected("an integer")
    }
  }

  private static func tooLarge<Integer: FixedWidthInteger>(
    _ place: JSONPlace, _ type: Integer.Type
  ) -> CommandFailure {
    place.failure("\(place.value.kind) does not fit into \(Integer.bitWidth) bits")
  }

  private static func double(_ place: JSONPlace) throws(CommandFailure) -> Double {
    switch place.value {
    case .integer(let number): return Double(number)
    case .fraction(let number, _): return number
    case .string("NaN"): return .nan
    case .string("Infinity"): return .infinity
    case .string("-Infinity"): return -.infinity
    default: throw place.expected("a number")
    }
  }

  /// A text, or a number of seconds since 2001, as it is written where no text is exact.
  private static func date(_ place: JSONPlace) throws(CommandFailure) -> Date {
    switch place.value {
    case .integer, .fraction, .string("NaN"), .string("Infinity"), .string("-Infinity"):
      return Date(timeIntervalSinceReferenceDate: try double(place))
    default:
      return try read(place, "a date such as \"2024-01-31T12:00:00Z\"") { DateText.date($0) }
    }
  }

  private static func float(_ place: JSONPlace) throws(CommandFailure) -> Float {
    let number = try double(place)
    let float = Float(number)
    guard float.isFinite || !number.isFinite else {
      throw place.failure("\(place.value.kind) does not fit into a float")
    }
    return float
  }

  private static func decimal(_ place: JSONPlace) throws(CommandFailure) -> Decimal {
    let digits: String
    switch place.value {
    case .integer(let number): digits = "\(number)"
    case .fraction(_, let text), .string(let text): digits = text
    default: throw place.expected("a decimal number")
    }
    if let decimal = DecimalText.decimal(digits) { return decimal }
    guard DecimalText.isNumber(digits) else { throw place.expected("a decimal number") }
    throw place.failure(
      "\(place.value.kind) does not fit into a decimal, which has up to 38 digits and an exponent of -128 to 127"
    )
  }
}
