import Foundation
import Heartwood
import HeartwoodFaults
import TestSupport

/// The same notes in a store with a full-text index and in one without, and as a plain table of numbers and texts.
package struct NoteStores {
  package private(set) var containers: [PersistentContainer] = []
  package private(set) var contexts: [ManagedObjectContext] = []
  private let urls: [URL]
  private let folder: TemporaryFolder?
  package var random: SplitMix64
  /// The texts by the notes' numbers.
  package private(set) var texts: [Int: String?] = [:]
  private var next = 0

  package init(seed: UInt64, isOnDisk: Bool) throws {
    random = SplitMix64(seed: seed)
    folder = isOnDisk ? try TemporaryFolder() : nil
    let memory = URL(fileURLWithPath: "/dev/null")
    urls = [folder?.url.appending(path: "notes") ?? memory, memory]
    containers = try zip(urls, [true, false]).map { try Self.container($0, hasIndex: $1) }
    contexts = containers.map { $0.newBackgroundContext() }
  }

  package static func model(hasIndex: Bool) -> ManagedObjectModel {
    let body = AttributeDescription(name: "body", type: .string, isOptional: true)
    let kind = AttributeDescription(name: "kind", type: .integer64)
    let note = EntityDescription(
      name: "Note", properties: [body, kind, AttributeDescription(name: "number", type: .integer64)])
    note.indexes = [
      FetchIndexDescription(name: "byKind", elements: [FetchIndexElementDescription(property: kind)])
    ]
    if hasIndex { note.indexes.append(words(of: body)) }
    note.subentities = [EntityDescription(name: "Letter")]
    return ManagedObjectModel(entities: [note] + note.subentities)
  }

  package static func words(of property: PropertyDescription) -> FetchIndexDescription {
    FetchIndexDescription(
      name: "words", elements: [FetchIndexElementDescription(property: property, collationType: .words)])
  }

  package static func container(_ url: URL, hasIndex: Bool) throws -> PersistentContainer {
    let container = PersistentContainer(name: "Notes", managedObjectModel: model(hasIndex: hasIndex))
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
    try container.loadPersistentStores()
    return container
  }

  /// Opens the store on disk again, with or without the index.
  package mutating func reopen(hasIndex: Bool = true) throws {
    guard folder != nil else { return }
    try containers[0].persistentStoreCoordinator.close()
    containers[0] = try Self.container(urls[0], hasIndex: hasIndex)
    contexts[0] = containers[0].newBackgroundContext()
  }

  package func save() throws { for context in contexts { try context.save() } }

  /// - Returns: what was found to be wrong.
  package func verify() throws -> [String] {
    try containers.flatMap { try $0.persistentStoreCoordinator.verify().findings }
  }

  // MARK: Changes

  private static let vocabulary = [
    "oak", "Oak", "OAKS", "elm", "heart", "heartwood", "Heart-wood", "hea", "\u{C9}lan", "elan",
    "\u{E9}t\u{E9}",
    "\u{6771}\u{4EAC}", "x1", "\u{416}\u{436}", "of", "the", String(repeating: "long", count: 30),
    String(repeating: "long", count: 30) + "er",
  ]

  package mutating func one<Element>(_ values: [Element]) -> Element {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  package mutating func text() -> String? {
    if Int.random(in: 0..<12, using: &random) == 0 { return nil }
    return (0..<Int.random(in: 0...7, using: &random)).map { _ in
      one(Self.vocabulary) + one([" ", ", ", ". ", "-"])
    }.joined()
  }

  /// Makes the same change in both and in the table.
  package mutating func change() throws {
    let text = text()
    let existing = texts.keys.sorted()
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<5: try insert(text)
    case 5..<8 where !existing.isEmpty:
      let number = one(existing)
      for context in contexts { try object(number, context)?.setValue(text, forKey: "body") }
      texts[number] = .some(text)
    case 8 where !existing.isEmpty:
      let number = one(existing)
      for context in contexts { try object(number, context).map(context.delete) }
      texts[number] = nil
    default: try insert(text)
    }
  }

  private mutating func insert(_ text: String?) throws {
    let entity = one(["Note", "Letter"])
    for context in contexts {
      let note = try ManagedObject(entity: context.entity(entity), insertInto: context)
      note.setValue(text, forKey: "body")
      note.setValue(next, forKey: "number")
      note.setValue(next % 5, forKey: "kind")
    }
    texts[next] = .some(text)
    next += 1
  }

  /// Saves, then makes the same change of many rows in both and in the table.
  package mutating func changeBatch() throws {
    try save()
    let text = text()
    let action = Int.random(in: 0..<3, using: &random)
    let kind = Int.random(in: 0..<5, using: &random)
    let added = (0..<4).map {
      ["number": next + $0, "kind": (next + $0) % 5, "body": "\(text ?? "") batch"] as [String: Any]
    }
    for context in contexts {
      switch action {
      case 0: try context.execute(BatchInsertRequest(entityName: "Note", objects: added))
      case 1:
        let request = BatchUpdateRequest(entityName: "Note")
        request.predicate = try FormatPredicate("kind == %d", kind)
        request.propertiesToUpdate = ["body": text ?? NSNull()]
        try context.execute(request)
      default:
        let request = FetchRequest<ManagedObject>(entityName: "Note")
        request.predicate = try FormatPredicate("kind == %d AND body MATCHESWORDS 'oak elm'", kind)
        try context.execute(BatchDeleteRequest(fetchRequest: request))
      }
      context.reset()
    }
    switch action {
    case 0:
      for number in next..<next + 4 { texts[number] = .some("\(text ?? "") batch") }
      next += 4
    case 1: for number in texts.keys where number % 5 == kind { texts[number] = .some(text) }
    default:
      for (number, text) in texts
      where number % 5 == kind && RandomWords.all([.word("oak"), .word("elm")]).holds(text) {
        texts[number] = nil
      }
    }
  }

  private func object(_ number: Int, _ context: ManagedObjectContext) throws -> ManagedObject? {
    let request = FetchRequest<ManagedObject>(entityName: "Note")
    request.predicate = try FormatPredicate("number == %d", number)
    return try context.fetch(request).first
  }

  // MARK: Queries

  package mutating func query(depth: Int = 2) -> RandomWords {
    let words = [
      "oak", "OAK", "elm", "heart", "heartwood", "e\u{301}lan", "ete", "x1", "\u{436}\u{436}", "of",
      "missing",
    ]
    let parts = { (self: inout NoteStores) in
      (0..<Int.random(in: 2...3, using: &self.random)).map { _ in self.query(depth: depth - 1) }
    }
    switch Int.random(in: 0..<(depth == 0 ? 5 : 10), using: &random) {
    case 0..<2: return .word(one(words))
    case 2:
      return .beginning(one(["o", "hea", "heart", "E", "long", "m", String(repeating: "long", count: 25)]))
    case 3:
      return .phrase(
        one([
          ["heart", "wood"], ["of", "the"], ["oak", "oak"], ["\u{6771}", "\u{4EAC}"], ["the", "oak", "elm"],
        ]))
    case 4: return .word(String(repeating: "long", count: 30) + one(["", "er", "est"]))
    case 5..<7: return .all(parts(&self))
    case 7..<9: return .any(parts(&self))
    default: return .not(query(depth: depth - 1))
    }
  }

  /// The numbers of the notes that a request finds.
  package func found(
    _ query: RandomWords, _ context: ManagedObjectContext, also condition: String = "TRUEPREDICATE"
  )
    throws -> [Int]
  {
    let request = FetchRequest<ManagedObject>(entityName: "Note")
    request.predicate = try FormatPredicate("body MATCHESWORDS %@ AND (\(condition))", query.text)
    return try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int64 }.map { Int($0) }
      .sorted()
  }

  package func expected(_ query: RandomWords) -> [Int] {
    texts.filter { query.holds($0.value) }.keys.sorted()
  }
}

/// A query of words as a tree, with its meaning in Foundation's terms.
package indirect enum RandomWords {
  case word(String), beginning(String), phrase([String]), not(RandomWords), all([RandomWords]), any(
    [RandomWords])

  package var text: String {
    switch self {
    case .word(let word): word
    case .beginning(let word): "\(word)*"
    case .phrase(let words): "\"\(words.joined(separator: " "))\""
    case .not(let part): "NOT (\(part.text))"
    case .all(let parts): parts.map { "(\($0.text))" }.joined(separator: " ")
    case .any(let parts): "(\(parts.map(\.text).joined(separator: " OR ")))"
    }
  }

  package func holds(_ text: String?) -> Bool {
    guard let text else { return false }
    return holds(Self.words(text))
  }

  private func holds(_ words: [String]) -> Bool {
    switch self {
    case .word(let word): words.contains(Self.folded(word))
    case .beginning(let word): words.contains { $0.hasPrefix(Self.folded(word)) }
    case .phrase(let phrase):
      words.indices.contains { words[$0...].starts(with: phrase.map(Self.folded)) }
    case .not(let part): !part.holds(words)
    case .all(let parts): parts.allSatisfy { $0.holds(words) }
    case .any(let parts): parts.contains { $0.holds(words) }
    }
  }

  package static func folded(_ text: String) -> String {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
  }

  package static func words(_ text: String) -> [String] {
    // The only ideographs of the texts.
    let spaced = text.replacing("\u{6771}\u{4EAC}", with: " \u{6771} \u{4EAC} ")
    return spaced.split { !$0.isLetter && !$0.isNumber }.map { folded(String($0)) }
  }
}
