import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `Traps of fetching` {
  private func request(
    _ sort: [Sort<Person>] = [], where condition: @escaping (ObjectQuery<Person>) -> Condition
  ) -> FetchRequest<Person> {
    FetchRequest<Person>(where: condition, sort: sort)
  }

  // T39
  @Test func `an unsaved insert is found and counted, unless pending changes are left out`() throws {
    let context = try makeContainer().newBackgroundContext()
    let saved = context.makePerson("Ada", age: 30)
    try context.save()
    let new = context.makePerson("Bea", age: 40)
    _ = context.makePerson("Cid", age: 1)
    let adults = request { $0.age >= 18 }
    #expect(try Set(context.fetch(adults)) == [saved, new])
    #expect(try context.count(for: adults) == 2)
    adults.includesPendingChanges = false
    #expect(try context.fetch(adults) == [saved])
    #expect(try context.count(for: adults) == 1)
  }

  // T40
  @Test func `without pending changes the saved values decide, and the object shows its edited ones`() throws
  {
    let context = try makeContainer().newBackgroundContext()
    let (ada, bea) = (context.makePerson("Ada", age: 30), context.makePerson("Bea", age: 1))
    try context.save()
    ada.age = 2
    bea.age = 50
    let adults = request { $0.age >= 18 }
    #expect(try context.fetch(adults) == [bea])
    adults.includesPendingChanges = false
    let found = try context.fetch(adults)
    #expect(found == [ada] && found.map(\.age) == [2])
  }

  // T42
  @Test(arguments: [false, true])
  func `limit and offset cut a window of the result with unsaved changes`(isIndexed: Bool) throws {
    let context = try makeContainer().newBackgroundContext()
    let saved = (0..<8).map { context.makePerson("\($0)", age: Int64($0 * 10)) }
    try context.save()
    _ = context.makePerson("05", age: 5)
    _ = context.makePerson("15", age: 15)
    context.delete(saved[1])
    (saved[7].age, saved[7].name) = (1, "01")
    saved[2].age = 200
    saved[2].name = "9"
    let all = request(isIndexed ? [.ascending(\.name)] : [.ascending(\.age)]) { $0.age < 100 }
    let expected = try context.fetch(all).map(\.name)
    #expect(
      isIndexed
        ? expected == ["0", "01", "05", "15", "3", "4", "5", "6"]
        : expected == ["0", "01", "05", "15", "3", "4", "5", "6"])
    for offset in 0...9 {
      for limit in 1...9 {
        (all.fetchOffset, all.fetchLimit) = (offset, limit)
        let window = expected.dropFirst(offset).prefix(limit)
        #expect(try context.fetch(all).map(\.name) == Array(window), "offset \(offset), limit \(limit)")
        #expect(try context.count(for: all) == window.count, "offset \(offset), limit \(limit)")
      }
    }
  }

  // T43
  @Test func `a missing value differs from every value, in memory and in the store`() throws {
    let context = try makeContainer().newBackgroundContext()
    for nick in [nil, "x", "y"] { context.makePerson(nick ?? "none").nick = nick }
    func found() throws -> [[String]] {
      try [
        context.fetch(request([.ascending(\.name)]) { $0.nick != "x" }),
        context.fetch(request([.ascending(\.name)]) { !($0.nick == "x") }),
        context.fetch(request([.ascending(\.name)]) { $0.nick < "z" }),
        context.fetch(request([.ascending(\.name)]) { $0.nick == nil }),
      ].map { $0.map(\.name) }
    }
    let expected = [["none", "y"], ["none", "y"], ["x", "y"], ["none"]]
    #expect(try found() == expected)
    try context.save()
    context.reset()
    #expect(try found() == expected)
    let format = FetchRequest<Person>()
    format.predicate = try FormatPredicate("nick != %@", "x")
    #expect(try context.count(for: format) == 2)
  }

  // T48
  @Test func `conditions inside of one subquery hold for one destination, two ANY clauses for any`() throws {
    let context = try makeContainer().newBackgroundContext()
    let (apart, together) = (context.makeCompany("apart"), context.makeCompany("together"))
    _ = context.makePerson("Ada", age: 1, in: apart)
    _ = context.makePerson("Bea", age: 50, in: apart)
    _ = context.makePerson("Ada", age: 50, in: together)
    func found(_ format: String) throws -> [String] {
      let request = FetchRequest<Company>()
      request.predicate = try FormatPredicate(format, "Ada", 18)
      request.sortDescriptors = [Sort<Company>.ascending(\.code)]
      return try context.fetch(request).map(\.code)
    }
    for isSaved in [false, true] {
      if isSaved {
        try context.save()
        context.reset()
      }
      let sub = "SUBQUERY(people, $p, $p.name == %@ AND $p.age > %@).@count > 0"
      #expect(try found(sub) == ["together"])
      #expect(try found("ANY people.name == %@ AND ANY people.age > %@") == ["apart", "together"])
    }
  }
}
