import Foundation

/// A text attribute of all objects that have it: those of the entity that declares it, and of its subentities.
package struct WordedAttribute {
  /// The entity that declares the attribute.
  package let entity: EntityDescription
  package let column: Column

  /// - Parameter entity: An entity that has the attribute.
  init(_ attribute: AttributeDescription, _ column: Column, of entity: EntityDescription) {
    var owner = entity
    while let parent = owner.superentity, parent.slot(named: attribute.name) == Int(column.slot) {
      owner = parent
    }
    self.entity = owner
    self.column = column
  }

  package var root: EntityDescription { entity.rootEntity }

  func isOf(_ row: RowView) -> Bool {
    entity === root || row.entityNumber == entity.number
      || entity.compiled.family.entity(row.entityNumber) != nil
  }
}

/// How many texts have each of some words: what the relevance of texts is weighed by.
///
/// The numbers are those of the entries of an index of words, whether there is one or not.
@usableFromInline package struct WordCounts {
  /// A word, as an index has it.
  package struct Word {
    let bytes: [UInt8]
    package let isPrefix: Bool

    package var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  package let attribute: WordedAttribute
  package let words: [Word]
  /// How many texts have each of the words; of the beginning of words, how many such words the texts have.
  package var counts: [Int]
  /// How many different words all texts have, those of each text together.
  package var entries = 0
  /// The number of objects.
  package var objects = 0

  init(_ attribute: WordedAttribute, _ words: [Word]) {
    self.attribute = attribute
    self.words = words
    counts = words.map { _ in 0 }
  }

  /// Adds an object, or takes it away again.
  package mutating func add(_ row: RowView, sign: Int = 1) {
    objects += sign
    guard attribute.isOf(row), !row.isNull(attribute.column) else { return }
    TextWords(row.bytes(attribute.column)).forEachIndexed { word in
      entries += sign
      for (place, wanted) in words.enumerated() {
        if wanted.isPrefix ? word.starts(with: wanted.bytes) : word.elementsEqual(wanted.bytes) {
          counts[place] += sign
        }
      }
    }
  }
}

extension WordQuery {
  /// The phrases that make a text relevant: those that are not excluded.
  var phrases: [Phrase] {
    func phrases(_ node: Node) -> [Phrase] {
      switch node {
      case .phrase(let phrase): [phrase]
      case .not: []
      case .all(let parts), .any(let parts): parts.flatMap(phrases)
      }
    }
    return root.map(phrases) ?? []
  }
}

extension WordQuery.Phrase {
  /// The words, as an index has them.
  var indexedWords: [WordCounts.Word] {
    words.indices.map { place in
      WordCounts.Word(
        bytes: Array(TextWords.cut(words[place][...])), isPrefix: isPrefix && place == words.count - 1)
    }
  }
}

/// How relevant a text is for a query: the formula BM25, with the number of different words as the length of a text.
struct Relevance {
  /// How much less each repetition of a phrase adds.
  private static let saturation = 1.2
  /// How much a long text counts less than a short one.
  private static let lengthShare = 0.75

  private let phrases: [WordQuery.Phrase]
  /// The weights of the phrases: a rare word weighs more than a frequent one.
  private let weights: [Double]
  private let averageLength: Double

  /// - Parameter counts: Those of the words of all phrases.
  init(_ phrases: [WordQuery.Phrase], _ counts: WordCounts) {
    self.phrases = phrases
    averageLength = max(1, Double(counts.entries) / Double(max(1, counts.objects)))
    var place = 0
    weights = phrases.map { phrase in
      defer { place += phrase.words.count }
      return counts.counts[place..<place + phrase.words.count].reduce(0) { weight, count in
        let objects = Double(max(counts.objects, count))
        return weight + log(1 + (objects - Double(count) + 0.5) / (Double(count) + 0.5))
      }
    }
  }

  /// The relevance of a text; 0 if it has none of the phrases.
  func value(of text: TextWords) -> Double {
    let frequencies = phrases.map { Double($0.count(in: text)) }
    guard frequencies.contains(where: { $0 > 0 }) else { return 0 }
    let length = Double(text.distinctCount)
    let damping = Self.saturation * (1 - Self.lengthShare + Self.lengthShare * length / averageLength)
    return zip(weights, frequencies).reduce(0) { sum, part in
      sum + part.0 * part.1 * (Self.saturation + 1) / (part.1 + damping)
    }
  }
}
