/// A JSON value without loss: integers are exact and members keep their order.
@usableFromInline package enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// A number with a fraction or an exponent, or an integer beyond 64 bits. The text keeps the digits that a
  /// Double loses.
  case fraction(Double, text: String)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

/// The members of a JSON object in their original order.
@usableFromInline package struct JSONObject: Equatable, Sendable {
  package struct Member: Equatable, Sendable {
    package let name: String
    package var value: JSONValue

    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  package var members: [Member] = []

  package init() {}

  package init(_ members: [(String, JSONValue)]) {
    self.members = members.map { Member(name: $0.0, value: $0.1) }
  }

  package var names: [String] { members.map(\.name) }

  package subscript(name: String) -> JSONValue? {
    members.first { $0.name == name }?.value
  }
}

extension JSONValue {
  /// A description of the value for error messages.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .fraction(_, let text): text
    case .string(let text): "\"" + (text.count > 40 ? text.prefix(37) + "..." : text) + "\""
    case .array: "a list"
    case .object(let object): object["@ref"] == nil ? "an object" : "a reference"
    }
  }

  /// A number with the digits that it takes to read it back; a text for one that JSON does not have.
  @inlinable package static func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ number: Number
  )
    -> JSONValue
  {
    if number.isNaN { return .string("NaN") }
    if number.isInfinite { return .string(number < 0 ? "-Infinity" : "Infinity") }
    return .fraction(Double(number), text: "\(number)")
  }
}
