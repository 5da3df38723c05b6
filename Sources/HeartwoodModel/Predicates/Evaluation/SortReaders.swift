/// Reads a text without the differences that its comparison ignores.
package final class FoldedReader: ValueReader {
  private let text: ValueReader
  private let options: ComparisonOptions

  package init(_ text: ValueReader, _ options: ComparisonOptions) {
    self.text = text
    self.options = options
  }

  package override func read(_ place: Place) throws -> Value {
    try text.read(place).text.map { ComparableText.sortValue($0, options) } ?? .null
  }
}

/// Reads an integer that ascends with the key; temporary keys come after permanent ones.
package final class CreationReader: ValueReader {
  package override init() {}

  package override func read(_ place: Place) -> Value {
    .int(Int64(bitPattern: place.key ^ .temporaryKeyMark))
  }
}
