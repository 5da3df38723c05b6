/// A JSON value without loss: integers are exact and members keep their order.
enum JSONValue: Equatable, Sendable {
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
struct JSONObject: Equatable, Sendable {
  struct Member: Equatable, Sendable {
    let name: String
    var value: JSONValue
  }

  var members: [Member] = []

  init() {}

  init(_ members: [(String, JSONValue)]) {
    self.members = members.map { Member(name: $0.0, value: $0.1) }
  }

  var names: [String] { members.map(\.name) }

  subscript(name: String) -> JSONValue? {
    members.first { $0.name == name }?.value
  }
}

extension JSONValue {
  /// A description of the value for error messages.
  var kind: String {
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
}
