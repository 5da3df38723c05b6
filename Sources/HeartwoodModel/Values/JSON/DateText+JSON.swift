extension DateText {
  /// A date as text, or as a number of seconds since 2001 where no text is exact.
  ///
  /// - Parameter signs: Whether years may have a sign; a date with such a year is a number otherwise.
  package static func json(_ seconds: Double, withSigns signs: Bool = false) -> JSONValue {
    guard let text = exact(seconds), signs || text.first?.isNumber == true else { return .number(seconds) }
    return .string(text)
  }
}
