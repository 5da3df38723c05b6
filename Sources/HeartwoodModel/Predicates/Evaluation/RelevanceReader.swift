import HeartwoodFiles

/// Computes how relevant a text attribute is for a query of words.
final class RelevanceReader: ValueReader {
  private struct Known: @unchecked Sendable {
    weak var source: (any RowSource)?
    var relevance: Relevance?
  }

  private let attribute: WordedAttribute
  private let phrases: [WordQuery.Phrase]
  /// The weights, for the source in which the words were counted: they are counted once for a fetch.
  private let known = Guarded(Known())

  init(_ attribute: WordedAttribute, _ query: WordQuery) {
    self.attribute = attribute
    phrases = query.phrases
  }

  override func read(_ place: Place) throws -> Value {
    guard !place.row.isNull(attribute.column) else { return .null }
    return .double(try relevance(in: place.source).value(of: TextWords(place.row.bytes(attribute.column))))
  }

  private func relevance(in source: any RowSource) throws -> Relevance {
    if let relevance = known.withLock({ $0.source === source ? $0.relevance : nil }) { return relevance }
    var counts = WordCounts(attribute, phrases.flatMap(\.indexedWords))
    try source.count(&counts)
    let relevance = Relevance(phrases, counts)
    known.withLock { $0 = Known(source: source, relevance: relevance) }
    return relevance
  }
}
