import Foundation
import Heartwood
import HeartwoodAppleStores
import TestSupport
import Testing

/// Conditions that rows answer without objects.
struct ConditionTests {
  private func keys(_ rows: MatchingRows) throws -> [UInt64] {
    var keys: [UInt64] = []
    try rows.forEach { row in
      keys.append(row.number)
      return true
    }
    #expect(try rows.count() == keys.count)
    return keys
  }

  private func fetchedKeys(
    _ entity: String, _ predicate: any FetchPredicate, _ context: ManagedObjectContext
  ) throws -> [UInt64] {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = predicate
    return try context.fetchIdentifiers(request).compactMap {
      UInt64($0.uriRepresentation().lastPathComponent.dropFirst())
    }
  }

  private func entity(_ name: String, in open: OpenFixture) throws -> EntityDescription {
    try #require(open.coordinator.managedObjectModel.entitiesByName[name])
  }

  @Test(
    arguments: [
      ("Person", "age > 3"), ("Person", "age <= 3 AND NOT isMember == YES"),
      ("Person", "age BETWEEN {1, 4}"),
      ("Person", "name == nil OR points != nil"), ("Person", "name != 'Person 1'"),
      ("Person", "name BEGINSWITH 'Person 1' OR name ENDSWITH '3'"), ("Person", "name CONTAINS 'son 1'"),
      ("Person", "height > 1.55 AND weight < 66"), ("Person", "weight == 61.5"),
      ("Person", "visits != -3000"),
      ("Person", "born < '1972-01-01'"), ("Person", "TRUEPREDICATE"), ("Person", "points == 1"),
      ("Person", "photo == nil"), ("Item", "pages > 100"), ("Item", "title CONTAINS '“é”'"),
      ("Magazine", "issue < 2"), ("Comic", "stars > 0.5 AND title ENDSWITH '3'"), ("Book", "level >= 2"),
    ])
  func `rows answer a condition as a fetch does`(_ name: String, _ text: String) throws {
    let open = try StoreFixture("library").open()
    let predicate = try FormatPredicate(text)
    let rows = try #require(open.store.rows(of: try entity(name, in: open), where: predicate))
    #expect(try keys(rows) == open.read { try fetchedKeys(name, predicate, $0) })
  }

  @Test(
    arguments: [
      "favourite.title != nil", "ANY books.title CONTAINS '3'", "name CONTAINS[c] 'p'", "name LIKE '*1'",
      "balance > 2", "age + 1 > 3", "favourite == nil", "books.@count > 1",
      "page != nil AND name MATCHES 'x'", "page == ''",
    ])
  func `a condition that needs more than the columns of a row is left to fetches`(_ text: String) throws {
    let open = try StoreFixture("library").open()
    #expect(open.store.rows(of: try entity("Person", in: open), where: try FormatPredicate(text)) == nil)
  }

  /// Random cells of every storage class in every column.
  @Test(.comparesWithPython, arguments: [("UTF-8", 1), ("UTF-16le", 2), ("UTF-16be", 3)])
  func `cells of other storage classes are converted as those of objects`(
    _ encoding: String, _ seed: Int
  ) throws {
    print("seed \(seed)")
    let fixture = try StoreFixture(
      making: """
        import random
        r = random.Random(\(seed))
        names = ['int16', 'int32', 'int64', 'bool', 'double', 'float', 'date', 'string']
        texts = ['', '3', ' 12x', 'e\\u0301', '\\u00e9', '\\u212a', 'K', 'Kaa', 'aKb', '1e3', 'b\\u00e9']
        texts.append('a' * 300)
        def cell(kind):
            numbers = [r.randrange(-4, 5), 2 ** 40 * r.choice([1, -1]), r.randrange(-9, 9) / 2, 0.1, 1e300]
            blobs = [r.choice(texts).encode('utf-8'), b'\\xff\\xfe\\x33\\x00', b'\\x33\\x00']
            return r.choice([None, float('inf'), r.choice(texts), *numbers, *blobs])
        store = Store(path, Model([E('P', [A('p' + name, name) for name in names])]), encoding='\(encoding)')
        store.write([Object('P', {'p' + name: cell(name) for name in names}) for n in range(200)])
        store.close()
        """)
    let open = try fixture.open()
    let entity = try entity("P", in: open)
    try open.read { context in
      for text in Self.conditions {
        let predicate = try FormatPredicate(text)
        let rows = try #require(open.store.rows(of: entity, where: predicate), "\(text)")
        #expect(try keys(rows) == fetchedKeys("P", predicate, context), "\(text)")
      }
    }
  }

  private static let conditions: [String] = {
    let orders = ["==", "!=", "<", "<=", ">", ">="]
    func all(_ names: [String], _ comparators: [String], _ constants: [String]) -> [String] {
      names.flatMap { name in
        comparators.flatMap { comparator in constants.map { "\(name) \(comparator) \($0)" } }
      }
    }
    let simple =
      all(["pint16", "pint32", "pint64"], orders, ["0", "3", "1099511627776"])
      + all(["pbool"], ["==", "!="], ["YES", "NO"])
      + all(["pdouble", "pfloat"], orders, ["0.1", "-1.5", "1e300"])
      + all(["pdate"], orders, ["'2001-01-01T00:00:03Z'"])
      + all(["pint16", "pbool", "pfloat", "pdate", "pstring"], ["==", "!="], ["nil"])
      + all(["pint32", "pdouble"], ["BETWEEN"], ["{-1, 2}", "{2, -1}"])
      + all(
        ["pstring"], ["==", "!=", "BEGINSWITH", "ENDSWITH", "CONTAINS"],
        ["''", "'K'", "'\u{E9}'", "'e\u{301}'", "'aa'", "'3'"])
    let pairs = stride(from: 0, to: simple.count - 7, by: 7).map {
      "(\(simple[$0]) AND \(simple[$0 + 6])) OR NOT (\(simple[$0 + 3]))"
    }
    return simple + pairs
  }()
}
