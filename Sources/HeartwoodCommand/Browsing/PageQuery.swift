import Heartwood

/// The query of a request of the page.
struct PageQuery {
  private let values: [String: String]

  init(_ values: [String: String]) { self.values = values }

  /// A value; nil if it is empty or not given.
  func text(_ name: String) -> String? {
    guard let value = values[name], !value.isEmpty else { return nil }
    return value
  }

  func required(_ name: String) throws(CommandFailure) -> String {
    guard let value = text(name) else { throw .usage("the request does not say \"\(name)\"") }
    return value
  }

  func number(_ name: String) throws(CommandFailure) -> Int? {
    guard let value = text(name) else { return nil }
    guard let number = Int(value), number >= 0 else {
      throw .usage("\"\(name)\" is a whole number, 0 or more, not \"\(value)\"")
    }
    return number
  }

  /// A number that is cut to a largest one.
  func number(_ name: String, default usual: Int, most: Int) throws(CommandFailure) -> Int {
    min(try number(name) ?? usual, most)
  }

  /// The generation that a request is about; nil for the newest.
  func generation() throws(CommandFailure) -> UInt64? { try number("at").map(UInt64.init) }
}
