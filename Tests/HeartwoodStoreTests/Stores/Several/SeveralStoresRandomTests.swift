import Foundation
import GraphTestSupport
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// Random changes and fetches of several stores against a plain model of them.
@Suite struct `Random work in several stores` {
  // FET-07
  @Test(
    arguments: [
      (1, []), (2, []), (3, []), (4, []), (5, [DictionaryStore.kind]),
      (6, [.log, DictionaryStore.kind, .binary]),
      (7, [DictionaryStore.kind, .binary, DictionaryStore.kind]),
      (8, [DictionaryStore.kind, DictionaryStore.kind, DictionaryStore.kind]),
    ] as [(UInt64, [PersistentStore.StoreType])])
  func `fetches of several stores find what a plain model has, also after reopening`(
    seed: UInt64, types: [PersistentStore.StoreType]
  ) throws {
    var work = try SeveralStoresWork(seed: seed, types)
    for round in 0..<(LongRun.isWanted ? 6 : 3) {
      if round > 0 { try work.reopen() }
      for _ in 0..<25 {
        try work.change()
        if work.random.below(3) == 0 { try work.context.save() }
        for _ in 0..<3 { try work.check() }
      }
      try work.context.save()
      try work.checkAll()
    }
    try work.world.coordinator.close()
  }
}

/// The contents of the stores.
private struct SeveralStoresWork {
  struct Writer: Equatable {
    var name: String?
    var rank: Int
    var likes: Set<Int> = []
    var place: Int
  }

  struct Book: Equatable {
    var title: String
    var pages: Int?
    var code: String?
    var writer: Int?
    var place: Int
  }

  var world: SeveralStoresWorld
  var context: ManagedObjectContext
  var random: SplitMix64
  /// By configuration and number of the store.
  private var stores: [PersistentStore] = []
  private var writers: [Int: Writer] = [:]
  private var books: [Int: Book] = [:]
  private var objects: [Int: ManagedObject] = [:]
  private var next = 1
  private static let places = [("Library", "A"), ("Archive", "B"), ("Library", "C")]
  private static let long = String(repeating: "long ", count: 60)

  /// The kinds of the first stores; the others are of type Log.
  private let types: [PersistentStore.StoreType]

  init(seed: UInt64, _ types: [PersistentStore.StoreType]) throws {
    self.types = types
    random = SplitMix64(seed: seed)
    world = try SeveralStoresWorld()
    context = world.context()
    try open()
  }

  private mutating func open() throws {
    var order = Array(Self.places.indices)
    if writers.count > 0 { order.shuffle(using: &random) }
    stores = []
    var found: [Int: PersistentStore] = [:]
    for place in order {
      let type = place < types.count ? types[place] : .log
      found[place] = try world.add(Self.places[place].0, Self.places[place].1, type: type)
    }
    stores = Self.places.indices.compactMap { found[$0] }
    context = world.context()
  }

  /// Opens the stores in another order, so that they have other numbers.
  mutating func reopen() throws {
    let identifiers = objects.mapValues { $0.objectID }
    try world.coordinator.close()
    world = try SeveralStoresWorld(folder: world.folder)
    try open()
    objects = [:]
    for (number, identifier) in identifiers {
      let parsed = try #require(world.coordinator.managedObjectID(for: "\(identifier)"))
      #expect(parsed == identifier)
      objects[number] = try context.existingObject(with: parsed)
    }
  }

  mutating func change() throws {
    switch random.below(10) {
    case 0...2: makeWriter()
    case 3...5: makeBook()
    case 6: edit()
    case 7: relate()
    case 8: like()
    default: delete()
    }
  }

  private mutating func word() -> String {
    let word = random.pick(["elm", "oak", "ash", "fir", "Elm", "öak", Self.long + "a", Self.long + "b", ""])
    return word
  }

  private mutating func makeWriter() {
    let writer = Writer(
      name: random.below(5) == 0 ? nil : word(), rank: random.below(8), place: random.below(3))
    let object = world.make("Writer", next, in: context, ["rank": writer.rank])
    object.setValue(writer.name, forKey: "name")
    context.assign(object, to: stores[writer.place])
    (writers[next], objects[next]) = (writer, object)
    next += 1
  }

  private mutating func makeBook() {
    let writer = random.below(3) == 0 ? nil : writers.keys.sorted().randomElement(using: &random)
    let book = Book(
      title: word(), pages: random.below(4) == 0 ? nil : random.below(50), code: "c\(next)", writer: writer,
      place: writer.flatMap { writers[$0]?.place } ?? random.below(3))
    let object = world.make("Book", next, in: context, ["title": book.title, "code": "c\(next)"])
    object.setValue(book.pages, forKey: "pages")
    if let writer {
      object.setValue(objects[writer], forKey: "writer")
    } else {
      context.assign(object, to: stores[book.place])
    }
    (books[next], objects[next]) = (book, object)
    next += 1
  }

  private mutating func edit() {
    if let number = writers.keys.sorted().randomElement(using: &random) {
      let (rank, name) = (random.below(8), word())
      writers[number]?.rank = rank
      writers[number]?.name = name
      objects[number]?.setValue(writers[number]?.rank, forKey: "rank")
      objects[number]?.setValue(writers[number]?.name, forKey: "name")
    }
    if let number = books.keys.sorted().randomElement(using: &random) {
      books[number]?.pages = random.below(50)
      objects[number]?.setValue(books[number]?.pages, forKey: "pages")
    }
  }

  private mutating func relate() {
    guard let number = books.keys.sorted().randomElement(using: &random), let book = books[number] else {
      return
    }
    let near = writers.filter { $0.value.place == book.place }.keys.sorted()
    let writer = random.below(4) == 0 ? nil : near.randomElement(using: &random)
    books[number]?.writer = writer
    objects[number]?.setValue(writer.flatMap { objects[$0] }, forKey: "writer")
  }

  private mutating func like() {
    guard let number = writers.keys.sorted().randomElement(using: &random), let writer = writers[number]
    else {
      return
    }
    let near = books.filter { $0.value.place == writer.place }.keys.sorted()
    let liked = Set(near.filter { _ in random.below(3) == 0 })
    writers[number]?.likes = liked
    objects[number]?.setValue(Set(liked.compactMap { objects[$0] }), forKey: "likes")
  }

  private mutating func delete() {
    guard random.below(2) == 0 else {
      guard let number = books.keys.sorted().randomElement(using: &random) else { return }
      return delete(book: number)
    }
    guard let number = writers.keys.sorted().randomElement(using: &random), let object = objects[number]
    else {
      return
    }
    context.delete(object)
    context.processPendingChanges()
    writers[number] = nil
    objects[number] = nil
    for (book, value) in books where value.writer == number { forget(book: book) }
  }

  private mutating func delete(book number: Int) {
    guard let object = objects[number] else { return }
    context.delete(object)
    context.processPendingChanges()
    forget(book: number)
  }

  private mutating func forget(book: Int) {
    books[book] = nil
    objects[book] = nil
    for writer in writers.keys { writers[writer]?.likes.remove(book) }
  }

  // MARK: Checking

  mutating func check() throws {
    let (writers, books) = (writers, books)
    let among: [Int]? = random.below(3) == 0 ? [0, 1, 2].filter { _ in random.below(2) == 0 } : nil
    let places = among?.isEmpty == false ? among : nil
    let affected = places.map { $0.map { stores[$0] } }
    let (limit, offset) = (
      random.below(3) == 0 ? 1 + random.below(6) : 0, random.below(4) == 0 ? random.below(5) : 0
    )
    let isReading = random.below(2) == 0
    let reader = isReading && !context.hasChanges ? world.context() : context
    if random.below(2) == 0 {
      let bound = random.below(8)
      let conditions: [(String, (Int, Writer) -> Bool)] = [
        ("TRUEPREDICATE", { _, _ in true }), ("rank == \(bound)", { $1.rank == bound }),
        ("rank > \(bound)", { $1.rank > bound }),
        ("name BEGINSWITH 'e'", { $1.name?.hasPrefix("e") ?? false }),
        ("name == nil", { $1.name == nil }), ("name > 'f'", { ($1.name ?? "") > "f" && $1.name != nil }),
        ("books.@count > 1", { number, _ in books.values.count { $0.writer == number } > 1 }),
        ("ANY likes.pages > 20", { _, writer in writer.likes.contains { (books[$0]?.pages ?? 0) > 20 } }),
        ("name BEGINSWITH '\(Self.long)'", { $1.name?.hasPrefix(Self.long) ?? false }),
      ]
      let (text, isWanted) = random.pick(conditions)
      let wanted = writers.filter { isWanted($0.key, $0.value) && (places?.contains($0.value.place) ?? true) }
      let sort = random.pick(["rank", "-rank", "name", "-name"])
      let ordered = wanted.sorted { left, right in
        let (first, second) = sort.hasPrefix("-") ? (right, left) : (left, right)
        if sort.hasSuffix("rank"), first.value.rank != second.value.rank {
          return first.value.rank < second.value.rank
        }
        let (one, two) = (first.value.name, second.value.name)
        if sort.hasSuffix("name"), one != two { return one == nil || two != nil && one! < two! }
        return left.key < right.key
      }.map(\.key)
      try compare(
        "Writer", text, [sort, "number"], limit, offset, affected, ordered, reader,
        hasCount: limit == 0 && offset == 0)
    } else {
      let bound = random.below(50)
      let conditions: [(String, (Book) -> Bool)] = [
        ("TRUEPREDICATE", { _ in true }), ("pages < \(bound)", { ($0.pages ?? 99) < bound }),
        ("writer == nil", { $0.writer == nil }),
        ("writer.rank > 3", { ($0.writer.flatMap { writers[$0]?.rank } ?? 0) > 3 }),
        ("writer.name == 'oak'", { $0.writer.flatMap { writers[$0]?.name } == "oak" }),
        ("pages == \(bound % 10) OR title == 'fir'", { $0.pages == bound % 10 || $0.title == "fir" }),
      ]
      let (text, isWanted) = random.pick(conditions)
      let wanted = books.filter { isWanted($0.value) && (places?.contains($0.value.place) ?? true) }
      let isDescending = random.below(2) == 0
      let ordered = wanted.sorted { left, right in
        let (one, two) = (left.value.pages ?? -1, right.value.pages ?? -1)
        if one != two { return isDescending ? one > two : one < two }
        return left.key < right.key
      }.map(\.key)
      try compare(
        "Book", text, [isDescending ? "-pages" : "pages", "number"], limit, offset, affected, ordered, reader,
        hasCount: limit == 0 && offset == 0)
    }
  }

  private func compare(
    _ entity: String, _ text: String, _ sort: [String], _ limit: Int, _ offset: Int,
    _ affected: [PersistentStore]?,
    _ ordered: [Int], _ reader: ManagedObjectContext, hasCount: Bool
  ) throws {
    var wanted = Array(ordered.dropFirst(offset))
    if limit > 0 { wanted = Array(wanted.prefix(limit)) }
    let what: Comment =
      "\(entity) where \(text) by \(sort) limit \(limit) offset \(offset) in \(affected?.map(\.url.lastPathComponent) ?? [])"
    let request = try reader.request(entity, text, sort: sort, limit: limit, offset: offset, in: affected)
    #expect(try reader.fetch(request).map(\.ownNumber) == wanted, what)
    #expect(try reader.count(for: request) == wanted.count, what)
    #expect(
      Set(try reader.fetchIdentifiers(request)) == Set(wanted.compactMap { objects[$0]?.objectID }), what)
    guard hasCount else { return }
    let dictionaries = FetchRequest<[String: Any]>(entityName: entity)
    (dictionaries.predicate, dictionaries.affectedStores) = (request.predicate, affected)
    dictionaries.propertiesToFetch = ["number"]
    let rows = try reader.fetch(dictionaries).compactMap { $0["number"] as? Int64 }
    #expect(rows.sorted() == wanted.map(Int64.init).sorted(), what)
  }

  /// Compares everything in a new context, and by each store alone.
  func checkAll() throws {
    let fresh = world.context()
    let found = try fresh.fetch("Writer", sort: ["number"])
    #expect(found.map(\.ownNumber) == writers.keys.sorted())
    for object in found {
      let writer = try #require(writers[object.ownNumber])
      #expect(object.objectID.persistentStore === stores[writer.place])
      #expect(object.value(forKey: "name") as? String == writer.name)
      let own = (object.value(forKey: "books") as? Set<ManagedObject> ?? []).map(\.ownNumber)
      #expect((object.value(forKey: "bookCount") as? Int64).map(Int.init) == own.count)
      #expect(own.sorted() == books.filter { $0.value.writer == object.ownNumber }.keys.sorted())
      let likes = (object.value(forKey: "likes") as? Set<ManagedObject> ?? []).map(\.ownNumber)
      #expect(Set(likes) == writer.likes)
    }
    for object in try fresh.fetch("Book") {
      let book = try #require(books[object.ownNumber])
      #expect((object.value(forKey: "writer") as? ManagedObject)?.ownNumber == book.writer)
      #expect(object.objectID.persistentStore === stores[book.place])
    }
    for store in stores { #expect(try store.log?.verify().findings ?? [] == []) }
  }
}
