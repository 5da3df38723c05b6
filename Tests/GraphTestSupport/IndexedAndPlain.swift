import Foundation
import Heartwood
import HeartwoodFaults
import TestSupport

/// The same objects in two stores, one with indexes and one without, or in one without and in several with: every fetch must have the same
/// result in both.
package struct IndexedAndPlain {
  package let indexed: ManagedObjectContext
  /// In memory.
  package let plain: ManagedObjectContext
  private let containers: [PersistentContainer]
  private let folder: TemporaryFolder?
  package var random: SplitMix64
  package private(set) var count = 0
  /// Those with indexes.
  private let stores: [PersistentStore]

  /// - Parameters:
  ///   - isOnDisk: Whether the store with indexes is a folder.
  ///   - storeCount: How many stores have indexes.
  ///   - customCount: How many more are custom stores, which have none.
  package init(seed: UInt64, isOnDisk: Bool = false, storeCount: Int = 1, customCount: Int = 0) throws {
    random = SplitMix64(seed: seed)
    folder = isOnDisk ? try TemporaryFolder() : nil
    let memory = URL(fileURLWithPath: "/dev/null")
    let urls = [folder?.url.appending(path: "items.heartwood") ?? memory, memory]
    containers = [true, false].map { isIndexed in
      PersistentContainer(name: "Items", managedObjectModel: Self.model(isIndexed))
    }
    for (container, url) in zip(containers, urls) {
      container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
      try container.loadPersistentStores()
    }
    for _ in 1..<storeCount {
      try containers[0].persistentStoreCoordinator.addPersistentStore(type: .inMemory, at: nil)
    }
    if customCount > 0 {
      PersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, type: DictionaryStore.kind)
    }
    for _ in 0..<customCount {
      try containers[0].persistentStoreCoordinator.addPersistentStore(
        type: DictionaryStore.kind, at: DictionaryStore.newPlace())
    }
    stores = containers[0].persistentStoreCoordinator.persistentStores
    indexed = containers[0].newBackgroundContext()
    plain = containers[1].newBackgroundContext()
  }

  package static func model(_ isIndexed: Bool) -> ManagedObjectModel {
    func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
      AttributeDescription(name: name, type: type)
    }
    let kind = attribute("kind", .string)
    let size = attribute("size", .integer64)
    let price = attribute("price", .double)
    let rank = attribute("rank", .integer16)
    let isNew = attribute("isNew", .boolean)
    let name = attribute("name", .string)
    let note = attribute("note", .string)
    let item = EntityDescription(name: "Item")
    let town = EntityDescription(name: "Town")
    let owner = RelationshipDescription(name: "owner", destination: town, isToMany: false)
    let items = RelationshipDescription(name: "items", destination: item, isToMany: true)
    (owner.inverseRelationship, items.inverseRelationship) = (items, owner)
    item.properties = [kind, size, price, rank, isNew, name, note, owner]
    town.properties = [attribute("label", .string), items]
    let special = EntityDescription(name: "Special", properties: [attribute("extra", .integer64)])
    item.subentities = [special]
    if isIndexed {
      func index(_ properties: AttributeDescription...) {
        item.indexes.append(
          FetchIndexDescription(
            name: "by\(properties.map(\.name).joined())",
            elements: properties.map { FetchIndexElementDescription(property: $0) }))
      }
      index(kind, size)
      index(size)
      index(price, rank)
      index(isNew, kind, rank)
      index(name)
    }
    return ManagedObjectModel(entities: [item, special, town])
  }

  /// Makes the same change in both.
  package mutating func change() throws {
    let action = Int.random(in: 0..<10, using: &random)
    let place = count == 0 ? 0 : Int.random(in: 0..<count, using: &random)
    let values = randomValues()
    for context in [indexed, plain] {
      if action < 5 || count < 10 {
        let entity = action == 0 ? "Special" : "Item"
        let object = try ManagedObject(entity: context.entity(entity), insertInto: context)
        object.setValue("\(count)", forKey: "note")
        if context === indexed { context.assign(object, to: store(count)) }
        set(values, of: object, in: context)
      } else if let object = try find(place, in: context) {
        if action == 9 { context.delete(object) } else { set(values, of: object, in: context) }
      }
    }
    if action < 5 || count < 10 { count += 1 }
  }

  /// Makes towns and so many changes, and saves.
  package mutating func fill(changes: Int) throws {
    try makeTowns()
    for number in 1...changes {
      try change()
      if number % 40 == 0 || number == changes { try save() }
    }
  }

  package func save() throws {
    try indexed.save()
    try plain.save()
  }

  private func makeTowns() throws {
    for context in [indexed, plain] {
      for number in 0..<4 * (context === indexed ? stores.count : 1) {
        let town = try ManagedObject(entity: context.entity("Town"), insertInto: context)
        town.setValue("T\(number % 4)", forKey: "label")
        if context === indexed { context.assign(town, to: store(number / 4)) }
      }
      try context.save()
    }
  }

  private func store(_ number: Int) -> PersistentStore { stores[number % stores.count] }

  private func set(_ values: [String: Any?], of object: ManagedObject, in context: ManagedObjectContext) {
    for (name, value) in values where name != "owner" { object.setValue(value, forKey: name) }
    let request = FetchRequest<ManagedObject>(entityName: "Town")
    request.predicate = try? FormatPredicate("label == %@", values["owner"] as? String ?? "")
    if context === indexed, let number = (object.value(forKey: "note") as? String).flatMap({ Int($0) }) {
      request.affectedStores = [store(number)]
    }
    object.setValue(try? context.fetch(request).first, forKey: "owner")
  }

  private func find(_ number: Int, in context: ManagedObjectContext) throws -> ManagedObject? {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.predicate = try FormatPredicate("note == %@", "\(number)")
    return try context.fetch(request).first
  }

  private mutating func randomValues() -> [String: Any?] {
    func maybe<Element>(_ values: [Element]) -> Any? {
      Int.random(in: 0..<6, using: &random) == 0
        ? nil : values[Int.random(in: 0..<values.count, using: &random)]
    }
    return [
      "kind": maybe(["ash", "fir", "e\u{301}lan", "\u{E9}lan", "Kiwi", "\u{212A}iwi"]),
      "size": maybe((0..<12).map { Int64($0) }), "price": maybe([0.0, -0.0, 1.5, 2.5, -3.25, 8, .infinity]),
      "rank": maybe((0..<4).map { Int64($0) }), "isNew": maybe([true, false]),
      "name": maybe(["a;b", "aab", "aa`", "b", String(repeating: "x", count: 230), ""]),
      "owner": maybe(["T0", "T1", "T2", "T3"]),
    ]
  }
}

/// A random fetch of dictionaries.
package struct RandomDictionaries {
  package let columns: [String]
  package let groups: [String]?
  package let predicate: String?
  package let sort: [NamedSort]
  package let isDistinct: Bool
  package let limit: Int
  package let entity: String
  /// Whether objects that are equal in the order of the request are ordered by their notes, as their keys may be in another order.
  package var breaksTies = false

  package init(_ random: inout SplitMix64) {
    func one(_ values: [String]) -> String { values[Int.random(in: 0..<values.count, using: &random)] }
    let plain = ["kind", "size", "price", "rank", "isNew", "name", "note", "owner.label", "self"]
    let keys = ["kind", "size", "price", "rank", "isNew", "name"]
    let aggregates = ["@count", "@min.size", "@max.size", "@min.rank", "@sum.size", "@max.rank"]
    switch Int.random(in: 0..<5, using: &random) {
    case 0:
      let few = Bool.random(using: &random) ? ["@min.size", "@max.size"] : aggregates
      columns = Array(Set((0..<3).map { _ in one(few) })).sorted()
      (groups, isDistinct) = (nil, false)
    case 1:
      let grouped = Array(Set((0..<Int.random(in: 1...2, using: &random)).map { _ in one(keys) })).sorted()
      columns =
        grouped + (Bool.random(using: &random) ? ["@count"] : ["@count", one(aggregates)]).withoutDoubles
      (groups, isDistinct) = (grouped, false)
    case 2:
      columns = Array(Set((0..<2).map { _ in one(keys) })).sorted()
      (groups, isDistinct) = (nil, true)
    default:
      let few = Bool.random(using: &random) ? keys : plain
      columns = Array(Set((0..<Int.random(in: 1...3, using: &random)).map { _ in one(few) })).sorted()
      (groups, isDistinct) = (nil, false)
    }
    let terms = [
      "kind == 'ash'", "kind == '\u{E9}lan'", "size > 4", "size == 3", "size == nil", "price >= 1",
      "rank == 2",
      "isNew == YES", "name BEGINSWITH 'a'", "size != nil", "price BETWEEN {0, 2}", "name CONTAINS 'a'",
      "rank + size > 6", "owner.label == 'T1'", "kind IN {'fir', 'ash'}", "name == nil", "price != nil",
      "rank < 2",
    ]
    let parts = (0..<Int.random(in: 0...3, using: &random)).map { _ in one(terms) }
    let joint = Int.random(in: 0..<3, using: &random) == 0 ? " OR " : " AND "
    predicate = parts.isEmpty ? nil : parts.joined(separator: joint)
    let isRows = groups == nil && !isDistinct && !columns.contains { $0.hasPrefix("@") }
    sort =
      isRows && Bool.random(using: &random)
      ? [NamedSort(one(keys), ascending: .random(using: &random)), NamedSort("rank", ascending: true)] : []
    limit = sort.isEmpty ? 0 : Int.random(in: 0...9, using: &random)
    entity = Int.random(in: 0..<6, using: &random) == 0 ? "Special" : "Item"
  }

  package func request() throws -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = try predicate.map { try FormatPredicate($0) }
    request.propertiesToFetch = try columns.map { try ExpressionDescription(name: $0, format: $0) }
    request.propertiesToGroupBy = groups
    request.returnsDistinctResults = isDistinct
    request.sortDescriptors = breaksTies && !sort.isEmpty ? sort + [NamedSort("note")] : sort
    request.fetchLimit = limit
    return request
  }

  /// The notes of the objects, which name them, as a fetch of objects, of identifiers, and of a child context finds them.
  package func objects(in context: ManagedObjectContext) throws -> [[String?]] {
    let request = try request()
    (request.propertiesToFetch, request.propertiesToGroupBy, request.returnsDistinctResults) = (
      nil, nil, false
    )
    let objects = try context.fetch(request)
    let notes = objects.map { $0.value(forKey: "note") as? String }
    let identified = try context.fetchIdentifiers(request).map {
      try context.existingObject(with: $0).value(forKey: "note") as? String
    }
    let child = ManagedObjectContext(.privateQueue, parent: context)
    let childs = try child.performAndWait {
      try child.fetch(request).map { $0.value(forKey: "note") as? String }
    }
    let all = [notes, identified, childs]
    return sort.isEmpty ? all.map { $0.sorted { $0 ?? "" < $1 ?? "" } } : all
  }

  /// The result as text, in an order of its own unless the request has one.
  package func rows(in context: ManagedObjectContext) throws -> [String] {
    let isExact = groups == nil && !isDistinct
    let rows = try context.fetchDictionaries(request()).map { row in
      columns.map { name -> String in
        switch row[name] {
        // As it was stored, also where another text is equal.
        case let text as String:
          isExact ? "\(text.unicodeScalars.map(\.value))" : text.precomposedStringWithCanonicalMapping
        case let number as Double: isExact ? "\(number)" : "\(number + 0)"
        // New objects have other identifiers in each store.
        case let id as ManagedObjectID: id.isTemporaryID ? "new" : id.uriRepresentation().lastPathComponent
        case let value?: "\(value)"
        case nil: "nil"
        }
      }.joined(separator: "|")
    }
    return sort.isEmpty ? rows.sorted() : rows
  }

  package var text: String {
    "\(entity) \(columns) groups \(groups ?? []) where \(predicate ?? "-") sort \(sort.map { "\($0.sortKey)" }) distinct \(isDistinct) limit \(limit)"
  }
}

extension [String] {
  fileprivate var withoutDoubles: [String] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
