import Foundation
import GraphTestSupport
import Heartwood
import Testing

/// Fetches of rows from indexes alone, by their ends and runs, with skipped properties and hash tables.
@Suite struct `Plans of rows` {
  @Test(arguments: [71, 72] as [UInt64])
  func `random fetches of rows have the same result with and without indexes`(seed: UInt64) throws {
    var stores = try IndexedAndPlain(seed: seed, isOnDisk: seed == 72)
    try stores.fill(changes: 600)
    var kinds: Set<String> = []
    for round in 0..<240 {
      // Every other stretch has unsaved changes.
      if round % 20 == 10 { for _ in 0..<5 { try stores.change() } }
      if round % 20 == 0 { try stores.save() }
      let asked = RandomDictionaries(&stores.random)
      #expect(
        try asked.rows(in: stores.indexed) == asked.rows(in: stores.plain), "seed \(seed): \(asked.text)")
      let request = try asked.request()
      #expect(
        try stores.indexed.count(for: request) == stores.plain.count(for: request),
        "seed \(seed): \(asked.text)")
      if round % 2 == 0 {
        let objects = try asked.objects(in: stores.indexed)
        #expect(try objects == asked.objects(in: stores.plain), "seed \(seed): \(asked.text)")
        #expect(objects[0] == objects[1] && objects[0] == objects[2], "seed \(seed): \(asked.text)")
      }
      let steps = try stores.indexed.plan(forDictionaries: request).steps
      for step in steps {
        kinds.insert(String(step.prefix { $0 != ":" }))
        if step.hasSuffix(", without rows") { kinds.insert("without rows") }
        if step.hasSuffix(", on the entries") { kinds.insert("on the entries") }
        if step.hasPrefix("join: hash table") { kinds.insert("hash table") }
      }
    }
    for kind in [
      "scan", "index", "ends", "runs", "skip scan", "without rows", "hash table", "intersection",
    ] {
      #expect(kinds.contains(kind), "seed \(seed) never used \(kind)")
    }
  }

  private func filled() throws -> IndexedAndPlain {
    var stores = try IndexedAndPlain(seed: 5)
    try stores.fill(changes: 600)
    return stores
  }

  private func request(_ columns: [String], _ predicate: String? = nil) throws -> FetchRequest<ManagedObject>
  {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.predicate = try predicate.map { try FormatPredicate($0) }
    request.propertiesToFetch = try columns.map { try ExpressionDescription(name: $0, format: $0) }
    return request
  }

  // FET-15
  @Test func `columns that an index has are read without rows`() throws {
    let context = try filled().indexed
    let plan = try context.plan(forDictionaries: request(["kind", "size"], "kind == 'ash' AND size > 3"))
    #expect(plan.steps == ["index: Item.kind == \"ash\" AND size >= 4, without rows"])
    let other = try context.plan(forDictionaries: request(["kind", "note"], "kind == 'ash' AND size > 3"))
    #expect(other.steps == ["index: Item.kind == \"ash\" AND size >= 4"])
  }

  // CTX-15
  @Test func `a count checks conditions on the entries of an index`() throws {
    let stores = try filled()
    let asked = try request(["kind"], "isNew == YES AND rank > 1 AND rank + 0 < 3")
    #expect(
      try stores.indexed.plan(forCounting: asked).steps.first?.hasSuffix(", without rows") == true)
    #expect(try stores.indexed.count(for: asked) == stores.plain.count(for: asked))
  }

  @Test func `a condition is checked on the entries of an index, and only rows that match are read`() throws {
    let stores = try filled()
    let asked = FetchRequest<ManagedObject>(entityName: "Item")
    asked.predicate = try FormatPredicate("isNew == YES AND rank + 0 == 2 AND kind CONTAINS 'i'")
    let steps = try stores.indexed.plan(for: asked).steps
    #expect(steps.first == "index: Item.isNew == true")
    #expect(steps.last?.hasPrefix("filter: ") == true && steps.last?.hasSuffix(", on the entries") == true)
    func notes(_ context: ManagedObjectContext) throws -> [String?] {
      try context.fetch(asked).map { $0.value(forKey: "note") as? String }.sorted { $0 ?? "" < $1 ?? "" }
    }
    #expect(try !notes(stores.plain).isEmpty)
    #expect(try notes(stores.indexed) == notes(stores.plain))
  }

  @Test func `the least and the greatest value are at the ends of an index`() throws {
    let context = try filled().indexed
    let asked = try request(["@min.size", "@max.size"], "kind == 'ash'")
    #expect(
      try context.plan(forDictionaries: asked).steps.first
        == "ends: first of Item.kind == \"ash\" AND size != nil, last of Item.kind == \"ash\" AND size != nil"
    )
    let item = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")).first)
    item.setValue("ash", forKey: "kind")
    item.setValue(Int64(99), forKey: "size")
    #expect(try context.fetchDictionaries(asked).first?["@max.size"] as? Int64 == 99)
    item.setValue(Int64(-99), forKey: "size")
    #expect(try context.fetchDictionaries(asked).first?["@min.size"] as? Int64 == -99)
    let none = try request(["@min.size"], "kind == 'unknown'")
    #expect(try context.fetchDictionaries(none).first?["@min.size"] == nil)
  }

  // FET-16, FET-17
  @Test func `groups by the first properties of an index are counted in the tree`() throws {
    let stores = try filled()
    let asked = try request(["kind", "@count"])
    asked.propertiesToGroupBy = ["kind"]
    #expect(
      try stores.indexed.plan(forDictionaries: asked).steps == [
        "runs: Item.(kind), counted in the tree", "group: by Item.kind",
      ])
    func counts(_ context: ManagedObjectContext) throws -> [Int] {
      try context.fetchDictionaries(asked).compactMap { $0["@count"] as? Int }.sorted()
    }
    #expect(try counts(stores.indexed) == counts(stores.plain))
    let distinct = try request(["isNew"])
    distinct.returnsDistinctResults = true
    #expect(try stores.indexed.plan(forDictionaries: distinct).steps.first?.hasPrefix("runs: ") == true)
    #expect(try stores.indexed.fetchDictionaries(distinct).count == 3)
  }

  @Test func `an index is used behind a first property of few values`() throws {
    let stores = try filled()
    let asked = FetchRequest<ManagedObject>(entityName: "Item")
    asked.predicate = try FormatPredicate("rank == 2 AND kind == 'ash'")
    asked.sortDescriptors = [NamedSort("note", ascending: true)]
    let skipping = FetchRequest<ManagedObject>(entityName: "Item")
    skipping.predicate = try FormatPredicate("rank == 2")
    let plan = try stores.indexed.plan(for: skipping)
    #expect(plan.steps.first?.hasPrefix("skip scan: Item.rank == 2 for each of ") == true, "\(plan)")
    for request in [asked, skipping] {
      #expect(
        try Set(stores.indexed.fetch(request).map { $0.value(forKey: "note") as? String })
          == Set(stores.plain.fetch(request).map { $0.value(forKey: "note") as? String }))
    }
  }

  @Test func `rows of few related objects are found in a hash table, those of many by look-ups`() throws {
    let context = try filled().indexed
    let asked = try request(["note", "owner.label"])
    #expect(try context.plan(forDictionaries: asked).steps.contains("join: hash table of Town"))
    asked.fetchLimit = 1
    #expect(try context.plan(forDictionaries: asked).steps.contains("join: look-ups of Town"))
    let town = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Town")).first)
    town.setValue("renamed", forKey: "label")
    asked.fetchLimit = 0
    #expect(try context.plan(forDictionaries: asked).steps.contains("join: look-ups of Town"))
    #expect(try context.fetchDictionaries(asked).contains { $0["owner.label"] as? String == "renamed" })
  }

  @Test func `an analysis of rows has the numbers of the objects and of the rows`() throws {
    let context = try filled().indexed
    let asked = try request(["note", "@sum.size"], "note != nil")
    asked.propertiesToGroupBy = ["note"]
    asked.fetchLimit = 7
    let plan = try context.analyze(dictionaries: asked)
    let count = try context.count(for: FetchRequest<ManagedObject>(entityName: "Item"))
    #expect(plan.details.first?.rows == count)
    #expect(plan.details.last?.text == "limit: 7")
    #expect(plan.details.last?.rows == 7)
  }
}
