/// Two sides of a relationship that do not agree, or an object that no test created.
package struct Disagreement: Error {
  package let what: String

  package init(what: String) { self.what = what }
}

extension String {
  /// The number at the end of a name that a test assigned.
  package var number: Int {
    get throws {
      guard let number = Int(drop { !$0.isNumber }) else { throw Disagreement(what: "name \(self)") }
      return number
    }
  }
}
