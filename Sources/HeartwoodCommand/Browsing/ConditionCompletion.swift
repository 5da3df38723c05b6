import Heartwood

/// The candidates for the end of a condition that is being typed: properties, operators that fit them, values and words of the
/// language.
struct ConditionCompletion {
  struct Candidate: Equatable {
    let text: String
    /// A note on the candidate, such as the type of a property.
    let note: String
    /// Whether a path can go on behind it.
    var isRelationship = false
  }

  let model: DocumentModel

  /// - Parameter query: The entity, and the condition as far as the cursor.
  func json(_ query: PageQuery) throws(CommandFailure) -> JSONValue {
    let text = query.text("text") ?? ""
    let (start, candidates) = candidates(for: text, of: try query.required("entity"))
    return .object(
      JSONObject([
        // As the browser counts.
        ("start", .integer(Int64(text[..<start].utf16.count))),
        (
          "candidates",
          .array(
            candidates.map {
              .object(
                JSONObject([
                  ("text", .string($0.text)), ("note", .string($0.note)),
                  ("isRelationship", .bool($0.isRelationship)),
                ]))
            })
        ),
      ]))
  }

  /// - Returns: Where the word begins that the candidates replace, and the candidates.
  func candidates(for text: String, of entity: String) -> (start: String.Index, candidates: [Candidate]) {
    let words = ConditionWords(text)
    guard !words.isInText else { return (text.endIndex, []) }
    let started = text[words.start...]
    switch words.place {
    case .operand(let isOfMany): return operands(String(started), of: entity, words.start, text, isOfMany)
    case .comparison(let path, let isOfMany):
      let isRefused = !isOfMany && leadsToMany(path, from: entity)
      let comparisons = isRefused ? [] : Self.comparisons(property(path, of: entity))
      return (words.start, matching(started, comparisons))
    case .value(let path, let operation):
      return (words.start, matching(started, Self.values(property(path, of: entity), operation)))
    case .options: return (words.start, matching(started, Self.options))
    case .connective: return (words.start, matching(started, Self.connectives))
    case .other: return (words.start, [])
    }
  }

  private func matching(_ text: Substring, _ candidates: [Candidate]) -> [Candidate] {
    let text = text.lowercased()
    return candidates.filter { $0.text.lowercased().hasPrefix(text) && $0.text.lowercased() != text }
  }
}

// MARK: Properties

extension ConditionCompletion {
  private enum Property {
    case attribute(DocumentAttribute)
    case relationship(DocumentRelationship)
  }

  private func properties(of entity: String) -> [(name: String, property: Property)] {
    model.lineage(of: entity).reversed().flatMap { entity in
      entity.attributes.map { ($0.name, Property.attribute($0)) }
        + entity.relationships.map { ($0.name, .relationship($0)) }
    }
  }

  private func property(_ path: String, of entity: String) -> Property? {
    var (entity, found) = (entity, Property?.none)
    for name in path.split(separator: ".") {
      found = properties(of: entity).first { $0.name == name }?.property
      if case .relationship(let relationship) = found { entity = relationship.destination }
    }
    return found
  }

  /// Whether a path has several values for an object, which only ANY, ALL and NONE compare.
  private func leadsToMany(_ path: String, from entity: String) -> Bool {
    guard !path.contains("@") else { return false }
    let names = path.split(separator: ".")
    return names.indices.contains { last in
      guard case .relationship(let relationship) = property(names[...last].joined(separator: "."), of: entity)
      else { return false }
      return relationship.isToMany
    }
  }

  /// The properties that a path such as `capital.na` can end with.
  private func operands(
    _ path: String, of entity: String, _ start: String.Index, _ text: String, _ isOfMany: Bool
  ) -> (String.Index, [Candidate]) {
    guard let dot = path.lastIndex(of: ".") else {
      let all = properties(of: entity).map(Self.candidate) + (isOfMany ? [] : Self.prefixes)
      return (start, matching(path[...], all))
    }
    let last = path[path.index(after: dot)...]
    let place = text.index(text.endIndex, offsetBy: -last.count)
    guard case .relationship(let relationship) = property(String(path[..<dot]), of: entity) else {
      return (place, [])
    }
    let aggregates =
      relationship.isToMany
      ? ["@count", "@sum", "@avg", "@min", "@max"].map { Candidate(text: $0, note: "") } : []
    return (place, matching(last, aggregates + properties(of: relationship.destination).map(Self.candidate)))
  }

  private static func candidate(_ named: (name: String, property: Property)) -> Candidate {
    switch named.property {
    case .attribute(let attribute):
      let isIndexed = attribute.isIndexed || attribute.isUnique
      return Candidate(text: named.name, note: attribute.typeText + (isIndexed ? ", indexed" : ""))
    case .relationship(let relationship):
      return Candidate(
        text: named.name, note: relationship.destination + (relationship.isToMany ? " ×n" : ""),
        isRelationship: true)
    }
  }
}

// MARK: Words of the language

extension ConditionCompletion {
  private static func words(_ texts: [String], _ note: String = "") -> [Candidate] {
    texts.map { Candidate(text: $0, note: note) }
  }

  private static let prefixes =
    words(["NOT"]) + words(["ANY", "ALL", "NONE"], "over a to-many relationship")
  private static let connectives = words(["AND", "OR"])
  private static let equality = words(["==", "!="])
  private static let order = words(["<", "<=", ">", ">="])
  private static let options = words(["c]", "d]", "cd]"], "without case, accents, both")

  private static func comparisons(_ property: Property?) -> [Candidate] {
    guard case .attribute(let attribute) = property else { return equality }
    switch attribute.type {
    case .string, .uri:
      return equality + words(["BEGINSWITH", "CONTAINS", "ENDSWITH", "LIKE", "MATCHES"])
        + words(["BEGINSWITH[cd]", "CONTAINS[cd]"], "without case and accents") + words(["IN {}", "<", ">"])
    case .boolean, .data, .uuid, .transformable, .composite, .undefined: return equality
    case .date: return equality + order + words(["IN {}"])
    default: return equality + order + words(["BETWEEN {1, 2}", "IN {}"])
    }
  }

  /// - Parameter operation: In capital letters. A missing value is equal or not, and neither greater nor like another one.
  private static func values(_ property: Property?, _ operation: String) -> [Candidate] {
    let none = ["=", "==", "!=", "<>"].contains(operation) ? words(["nil"], "no value") : []
    guard case .attribute(let attribute) = property else { return none }
    if operation == "IN" { return words(["{}"], "a list") }
    if operation == "BETWEEN" { return words(["{1, 2}"], "the least and the greatest") }
    return switch attribute.type {
    case .boolean: words(["true", "false"]) + none
    case .date: words(["CAST(\"2026-01-31T12:00:00Z\", \"NSDate\")", "now()"]) + none
    case .string: words(["\"\""], "a text") + none
    default: none
    }
  }
}

/// The words of a condition as far as it is typed, and what its end is.
struct ConditionWords {
  enum Place: Equatable {
    /// A path or a word before one. Whether a word such as ANY is before it.
    case operand(isOfMany: Bool)
    /// Behind this path. Whether a word such as ANY is before it.
    case comparison(String, isOfMany: Bool)
    /// Behind an operator that follows this path.
    case value(String, operation: String)
    /// Between the brackets behind such an operator.
    indirect case options(of: Place)
    case connective
    /// Where there is nothing to complete: in the arguments of a function, and behind those of SUBQUERY.
    case other
  }

  private(set) var place = Place.operand(isOfMany: false)
  /// Where the word at the end begins; the end if there is none.
  private(set) var start: String.Index
  /// Whether the end is inside quotation marks.
  private(set) var isInText = false
  /// The function in whose arguments the end is, how many of its parentheses are open, and what follows it.
  private var call: (depth: Int, next: Place)?
  /// The place that follows the word before this character if that is the name of a function.
  private var next: Place?

  init(_ text: String) {
    start = text.endIndex
    var index = text.startIndex
    while index < text.endIndex {
      let first = text[index]
      let end: String.Index
      if first == "\"" || first == "'" {
        guard let closing = Self.end(of: first, in: text, after: index) else {
          isInText = true
          return
        }
        end = closing
        if call == nil { close() }
      } else if Self.isOfWord(first) {
        end = text[index...].firstIndex { !Self.isOfWord($0) } ?? text.endIndex
        // The word at the end is still being typed.
        guard end < text.endIndex else {
          start = index
          return
        }
        if call == nil { read(text[index..<end]) }
      } else if Self.isOfOperator(first) {
        end = text[index...].firstIndex { !Self.isOfOperator($0) } ?? text.endIndex
        if call == nil { read(operation: text[index..<end]) }
      } else {
        end = text.index(after: index)
        read(first)
      }
      index = end
    }
  }

  private static func end(of quote: Character, in text: String, after index: String.Index) -> String.Index? {
    var place = text.index(after: index)
    while place < text.endIndex {
      if text[place] == "\\" {
        place = text.index(after: place)
        guard place < text.endIndex else { return nil }
      } else if text[place] == quote {
        return text.index(after: place)
      }
      place = text.index(after: place)
    }
    return nil
  }

  private static func isOfWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "_.#@$".contains(character)
  }

  private static func isOfOperator(_ character: Character) -> Bool { "=<>!&|".contains(character) }

  private static let comparisons: Set<String> = [
    "BEGINSWITH", "CONTAINS", "ENDSWITH", "LIKE", "MATCHES", "IN", "BETWEEN", "TOKENMATCHES",
  ]

  private mutating func read(_ word: Substring) {
    let upper = word.uppercased()
    next = nil
    switch place {
    case _ where upper == "AND" || upper == "OR": place = .operand(isOfMany: false)
    case .operand where ["ANY", "ALL", "NONE", "SOME"].contains(upper): place = .operand(isOfMany: true)
    case .operand where upper == "NOT": break
    case .operand(let isOfMany):
      place = .comparison(String(word.trimmingPrefix("#")), isOfMany: isOfMany)
      next = upper == "SUBQUERY" ? .other : .comparison("", isOfMany: false)
    case .comparison(let path, _) where Self.comparisons.contains(upper):
      place = .value(path, operation: upper)
    case .comparison where upper == "NOT": break
    case .value: (place, next) = (.connective, .connective)
    // As the count of a SUBQUERY.
    case .other: place = .comparison("", isOfMany: false)
    case .comparison, .connective, .options: break
    }
  }

  private mutating func read(operation: Substring) {
    next = nil
    switch operation {
    case "&&", "||", "!": place = .operand(isOfMany: false)
    default:
      if case .comparison(let path, _) = place { place = .value(path, operation: String(operation)) }
    }
  }

  private mutating func read(_ character: Character) {
    defer { next = nil }
    if let open = call {
      let depth = open.depth + (character == "(" ? 1 : character == ")" ? -1 : 0)
      call = depth == 0 ? nil : (depth: depth, next: open.next)
      if depth == 0 { place = open.next }
      return
    }
    switch character {
    case "(":
      guard let next else { return }
      call = (depth: 1, next: next)
      place = .other
    case ")", "}": place = .connective
    case "[":
      if case .value = place { place = .options(of: place) }
    case "]":
      if case .options(let operation) = place { place = operation }
    default: break
    }
  }

  /// A text in quotation marks has ended.
  private mutating func close() {
    switch place {
    case .value: place = .connective
    case .operand: place = .comparison("", isOfMany: false)
    case .comparison, .connective, .options, .other: break
    }
  }
}
