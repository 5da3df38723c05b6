import Heartwood

/// A value in a document and the path to it, for error messages.
struct JSONPlace {
  /// The steps from the root. They become text only for a message: most places are never mentioned.
  private indirect enum Steps {
    case start(String)
    case member(Steps, String)
    case element(Steps, Int)

    var text: String {
      switch self {
      case .start(let text): return text
      case .member(let place, let name):
        let text = place.text
        return text.isEmpty ? name : "\(text).\(name)"
      case .element(let place, let index): return "\(place.text)[\(index)]"
      }
    }
  }

  private let steps: Steps
  let value: JSONValue

  var path: String { steps.text }

  init(path: String, value: JSONValue) {
    self.init(.start(path), value)
  }

  private init(_ steps: Steps, _ value: JSONValue) {
    self.steps = steps
    self.value = value
  }

  /// Creates a failure that names this place.
  func failure(_ message: String) -> CommandFailure {
    .data(path.isEmpty ? message : "\(path): \(message)")
  }

  func expected(_ what: String) -> CommandFailure {
    failure("expected \(what), found \(value.kind)")
  }

  func object() throws(CommandFailure) -> JSONObject {
    guard case .object(let object) = value else { throw expected("an object") }
    return object
  }

  func string() throws(CommandFailure) -> String {
    guard case .string(let text) = value else { throw expected("a string") }
    return text
  }

  func bool() throws(CommandFailure) -> Bool {
    guard case .bool(let flag) = value else { throw expected("true or false") }
    return flag
  }

  func count() throws(CommandFailure) -> Int {
    guard case .integer(let number) = value, number >= 0 else { throw expected("a whole number, 0 or more") }
    return Int(number)
  }

  func elements() throws(CommandFailure) -> [JSONPlace] {
    guard case .array(let values) = value else { throw expected("a list") }
    return values.enumerated().map { JSONPlace(.element(steps, $0.offset), $0.element) }
  }

  /// The members with their places.
  func members() throws(CommandFailure) -> [(name: String, place: JSONPlace)] {
    try object().members.map { ($0.name, member($0.name, $0.value)) }
  }

  func member(_ name: String) throws(CommandFailure) -> JSONPlace? {
    try object()[name].map { member(name, $0) }
  }

  /// Throws if there is a member with an unknown name, which is probably misspelled.
  func knowsOnly(_ known: String...) throws(CommandFailure) { try knowsOnly(known) }

  func knowsOnly(_ known: [String]) throws(CommandFailure) {
    for name in try object().names where !known.contains(name) {
      throw failure("unknown member \"\(name)\"\(Spelling.hint(name, among: known))")
    }
  }

  func member(_ name: String, _ value: JSONValue) -> JSONPlace {
    JSONPlace(.member(steps, name), value)
  }

  /// The same place without what is there.
  var withoutValue: JSONPlace { with(.null) }

  /// The same place with another value.
  func with(_ value: JSONValue) -> JSONPlace { JSONPlace(steps, value) }
}

extension JSONPlace {
  /// Parses a string that must be one of several words.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ type: Choice.Type
  ) throws(CommandFailure) -> Choice where Choice.RawValue == String {
    let text = try string()
    guard let choice = Choice(rawValue: text) else {
      throw failure("\"\(text)\" is none of \(type.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }
}
