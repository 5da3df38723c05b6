import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Texts in the order of their relevance, against the formula over a plain table.
@Suite struct `Relevance of texts` {
  // FET-37
  @Test(arguments: [true, false])
  func `texts are ranked as by the formula, with and without an index, saved or not`(isOnDisk: Bool) throws {
    var stores = try NoteStores(seed: 21, isOnDisk: isOnDisk)
    var rankedCount = 0
    for round in 1...(LongRun.isWanted ? 24 : 10) {
      for _ in 0..<6 { try stores.change() }
      if round % 5 == 0 { try stores.changeBatch() }
      if round % 2 == 0 { try stores.save() }
      if round % 8 == 0 { try stores.reopen() }
      for _ in 0..<5 {
        let query = stores.query()
        let expected = Ranking(query, stores.texts)
        for context in stores.contexts {
          let ranked = try stores.ranked(query, context)
          #expect(ranked.map(\.number).sorted() == stores.expected(query), "\(query.text)")
          for note in ranked {
            #expect(abs(note.relevance - expected.relevance(of: note.number)) < 1e-9, "\(query.text)")
          }
          for (first, second) in zip(ranked, ranked.dropFirst()) {
            #expect(
              first.relevance > second.relevance
                || first.relevance == second.relevance && first.number < second.number, "\(query.text)")
          }
          #expect(
            try stores.ranked(query, context, limit: 4, offset: 1).map(\.number)
              == Array(ranked.map(\.number).dropFirst().prefix(4)))
          rankedCount += ranked.count
        }
      }
    }
    #expect(rankedCount > 300)
  }

  @Test func `a child context ranks its own changes and those of its parent as if they were saved`() throws {
    var stores = try NoteStores(seed: 23, isOnDisk: false)
    for _ in 0..<40 { try stores.change() }
    try stores.save()
    for _ in 0..<10 { try stores.change() }
    let child = ManagedObjectContext(.privateQueue, parent: stores.contexts[0])
    for _ in 0..<10 {
      let query = stores.query()
      let expected = Ranking(query, stores.texts)
      for note in try child.performAndWait({ try stores.ranked(query, child) }) {
        #expect(abs(note.relevance - expected.relevance(of: note.number)) < 1e-9, "\(query.text)")
      }
    }
  }

  @Test func `equally relevant texts are in the order of their creation, in the direction of the last key`()
    throws
  {
    let context = try NoteStores(seed: 1, isOnDisk: false).contexts[0]
    for number in 0..<9 {
      let note = try ManagedObject(entity: context.entity("Note"), insertInto: context)
      note.setValue(number % 3 == 0 ? "oak oak elm" : "oak elm", forKey: "body")
      note.setValue(number, forKey: "number")
    }
    try context.save()
    func numbers(_ sorts: [any FetchSort]) throws -> [Int64] {
      let request = FetchRequest<ManagedObject>(entityName: "Note")
      request.sortDescriptors = sorts
      return try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int64 }
    }
    let relevance = try ComputedSort("relevance(body, 'oak')", ascending: false)
    #expect(try numbers([relevance]) == [6, 3, 0, 8, 7, 5, 4, 2, 1])
    #expect(try numbers([relevance, NamedSort("number")]) == [0, 3, 6, 1, 2, 4, 5, 7, 8])
  }

  @Test func `the typed form ranks objects and rows`() throws {
    let container = try PersistentContainer(
      name: "Verses", types: [Verse.self, Poet.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    let poet = Poet(context: context)
    for text in [
      "oak and elm and ash", "an oak is an oak", "elm", "no tree",
      "a long text with one oak among other words",
    ] {
      let verse = Verse(context: context)
      verse.text = text
      verse.poet = poet
    }
    _ = Verse(context: context)
    try context.save()
    let found = try context.fetch(
      Verse.self, where: { $0.text.matchesWords("oak") },
      sort: [.descending { $0.text.relevance(of: "oak") }], limit: 2)
    #expect(found.map(\.text) == ["an oak is an oak", "oak and elm and ash"])
    let rows = try context.fetchRows(
      Verse.self, columns: { ($0.text, $0.text.relevance(of: "oak -elm")) },
      where: { $0.text.relevance(of: "oak") > 0 }, sort: { [.descending($0.text.relevance(of: "oak"))] })
    #expect(rows.map { $0.0 }.first == "an oak is an oak" && rows.count == 3)
    #expect(rows.allSatisfy { $0.1 ?? 0 > 0 })
    let missing = try context.fetchRows(
      Verse.self, columns: { $0.text.relevance(of: "oak") }, where: { $0.text == nil })
    #expect(missing.count == 1 && missing[0] == nil)
    let best = try context.fetchRows(
      Poet.self, columns: { $0.verses.max { $0.text.relevance(of: "oak") } })
    #expect(best.count == 1 && best[0] == rows.map { $0.1 ?? 0 }.max())
    let plan = try context.plan(
      for: Verse.self, where: { $0.text.matchesWords("oak") },
      sort: [.descending { $0.text.relevance(of: "oak") }], limit: 2)
    #expect(
      plan.steps == [
        "words: Verse.text MATCHESWORDS \"oak\"",
        "sort: relevance(text, \"oak\") descending, keeping the first 2", "limit: 2",
      ])
  }

  @Test func `live results by relevance follow what others of the texts say`() throws {
    let container = try PersistentContainer(
      name: "Verses", types: [Verse.self, Poet.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    for text in ["oak", "elm elm"] { Verse(context: context).text = text }
    for _ in 0..<4 { Verse(context: context).text = "elm" }
    try context.save()
    let request = FetchRequest<Verse>()
    request.sortDescriptors =
      [
        .descending { $0.text.relevance(of: "oak elm") }, .ascending(\.text),
      ] as [Sort<Verse>]
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
    let copy = ContentCopy<Verse> { $0.text ?? "" }
    controller.delegate = copy
    try controller.performFetch()
    copy.take(controller)
    #expect(controller.fetchedObjects?.first?.text == "oak")
    for _ in 0..<40 { Verse(context: context).text = "ash and oak" }
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.first?.text == "elm elm")
    #expect(try controller.fetchedObjects == context.fetch(request))
  }

  @Test func `relevance is of an attribute of strings and constant words`() throws {
    let context = try NoteStores(seed: 1, isOnDisk: false).contexts[0]
    for (text, part) in [
      ("relevance(kind, 'a')", "attribute of strings"), ("relevance(uppercase(body), 'a')", "is none"),
      ("relevance(body, body)", "constant text"), ("relevance(body)", "2 arguments"),
    ] {
      let error = #expect(throws: HeartwoodError.self) {
        let request = FetchRequest<ManagedObject>(entityName: "Note")
        request.sortDescriptors = [try ComputedSort(text)]
        _ = try context.fetch(request)
      }
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
  }
}

private final class Verse: ManagedObject {
  @Attribute(.fullText) var text: String?
  @Relationship(inverse: { $0.verses }) var poet: Poet?
}

private final class Poet: ManagedObject {
  @Relationship(inverse: { $0.poet }) var verses: Set<Verse>
}

extension NoteStores {
  fileprivate func ranked(
    _ query: RandomWords, _ context: ManagedObjectContext, limit: Int = 0, offset: Int = 0
  ) throws -> [(number: Int, relevance: Double)] {
    let request = FetchRequest<ManagedObject>(entityName: "Note")
    request.predicate = try FormatPredicate("body MATCHESWORDS %@", query.text)
    request.sortDescriptors = [
      try ComputedSort("relevance(body, %@)", query.text, ascending: false), NamedSort("number"),
    ]
    (request.fetchLimit, request.fetchOffset) = (limit, offset)
    let numbers = try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int64 }
    request.propertiesToFetch = [
      "number", try ExpressionDescription(name: "relevance", format: "relevance(body, %@)", query.text),
    ]
    let rows = try context.fetchDictionaries(request)
    #expect(rows.compactMap { $0["number"] as? Int64 } == numbers)
    return rows.map { (Int($0["number"] as? Int64 ?? -1), $0["relevance"] as? Double ?? -1) }
  }
}

/// The formula over a plain table.
private struct Ranking {
  private let phrases: [[(word: String, isPrefix: Bool)]]
  private let texts: [Int: [String]]
  private let objects: Double
  private let averageLength: Double

  init(_ query: RandomWords, _ texts: [Int: String?]) {
    phrases = query.phrases
    self.texts = texts.mapValues { $0.map(RandomWords.words) ?? [] }
    objects = Double(texts.count)
    let lengths = self.texts.values.map { Double(Self.different($0).count) }
    averageLength = max(1, lengths.reduce(0, +) / max(1, objects))
  }

  private static func different(_ words: [String]) -> Set<String> { Set(words.map(cut)) }

  private static func cut(_ word: String) -> String { String(decoding: word.utf8.prefix(96), as: UTF8.self) }

  private func weight(_ word: String, _ isPrefix: Bool) -> Double {
    let word = Self.cut(word)
    let count = texts.values.reduce(0.0) { count, words in
      count + Double(Self.different(words).count { isPrefix ? $0.hasPrefix(word) : $0 == word })
    }
    return log(1 + (max(objects, count) - count + 0.5) / (count + 0.5))
  }

  func relevance(of number: Int) -> Double {
    let words = texts[number] ?? []
    return phrases.reduce(0.0) { sum, phrase in
      let count = Double(
        words.indices.count { start in
          start + phrase.count <= words.count
            && phrase.indices.allSatisfy { place in
              let (wanted, isPrefix) = phrase[place]
              return isPrefix ? words[start + place].hasPrefix(wanted) : words[start + place] == wanted
            }
        })
      let length = Double(Self.different(words).count) / averageLength
      let weight = phrase.reduce(0) { $0 + self.weight($1.word, $1.isPrefix) }
      return count == 0 ? sum : sum + weight * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length))
    }
  }
}

extension RandomWords {
  /// The words that make a text relevant.
  fileprivate var phrases: [[(word: String, isPrefix: Bool)]] {
    switch self {
    case .word(let word): [[(Self.folded(word), false)]]
    case .beginning(let word): [[(Self.folded(word), true)]]
    case .phrase(let words): [words.map { (Self.folded($0), false) }]
    case .not: []
    case .all(let parts), .any(let parts): parts.flatMap(\.phrases)
    }
  }
}
