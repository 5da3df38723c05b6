/// Compares a string with a constant.
final class TextTest: RowTest {
  private let column: Column
  private let pattern: TextPattern

  init(_ column: Column, _ pattern: TextPattern) {
    self.column = column
    self.pattern = pattern
  }

  override func matches(_ place: Place) throws -> Bool {
    try place.row.isNull(column)
      ? pattern.comparator == .notEqual : pattern.matches(place.row.bytes(column))
  }
}

/// Whether a string is in a set, under comparison options.
final class TextSetTest: RowTest {
  private let column: Column
  /// As bytes of folded texts: texts that are canonically equivalent may differ.
  private let members: Set<[UInt8]>
  private let options: ComparisonOptions
  private let includesNull: Bool

  init(_ column: Column, _ members: Set<String>, _ options: ComparisonOptions, includesNull: Bool) {
    self.column = column
    self.members = Set(members.map { Array($0.folded(options).utf8) })
    self.options = options
    self.includesNull = includesNull
  }

  override func matches(_ place: Place) -> Bool {
    if place.row.isNull(column) { return includesNull }
    guard let text = place.row.string(column) else { return false }
    return members.contains(Array(text.folded(options).utf8))
  }
}
