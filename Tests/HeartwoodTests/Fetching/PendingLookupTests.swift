import Foundation
import GraphTestSupport
@testable import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

@Suite struct `Fetching among many unsaved changes` {
  @Test func `find or create finds what was created before`() throws {
    let context = try makeContainer().newBackgroundContext()
    for round in 0..<3 {
      for number in 0..<300 {
        let found = try context.fetch(Company.self, where: { $0.code == "C\(number)" }, limit: 1)
        #expect(found.count == (round == 0 ? 0 : 1))
        let company = found.first ?? context.makeCompany("C\(number)")
        company.size = Int64(round)
      }
      if round == 1 { try context.save() }
    }
    #expect(try context.count(Company.self) == 300)
    #expect(try context.fetch(Company.self, where: { $0.size == 2 }).count == 300)
  }

  @Test(arguments: Array(([71, 72, 73] as [UInt64]).sampled(every: 3)), [false, true])
  func `look-ups agree with a plain filter over edits, deletes, saves, rollbacks and undo`(
    seed: UInt64, isChild: Bool
  ) throws {
    var random = SplitMix64(seed: seed)
    let root = try makeContainer().newBackgroundContext()
    let context = isChild ? ManagedObjectContext(.privateQueue, parent: root) : root
    context.undoManager = UndoStack()
    for number in 0..<120 { _ = root.makePerson("P\(number % 20)", age: Int64(number % 7)) }
    try root.save()
    for step in 0..<200 {
      let all = try context.fetch(Person.self)
      for _ in 0..<40 {
        guard let person = all.randomElement(using: &random), !person.isDeleted,
          person.managedObjectContext != nil
        else { continue }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: person.name = "P\(Int.random(in: 0..<20, using: &random))"
        case 1: person.age = Int64.random(in: 0..<7, using: &random)
        case 2: person.nick = Bool.random(using: &random) ? "N" : nil
        case 3: _ = context.makePerson("P\(Int.random(in: 0..<20, using: &random))")
        case 4: if Int.random(in: 0..<4, using: &random) == 0 { context.delete(person) }
        default: person.setPrimitiveValue("P1", forKey: "name")
        }
      }
      switch Int.random(in: 0..<25, using: &random) {
      case 0: try context.save()
      case 1: context.rollback()
      case 2: context.undo()
      case 3: context.redo()
      case 4: context.refreshAllObjects()
      case 5: if isChild { try context.save(); try root.save() }
      default: break
      }
      let people = try context.fetch(Person.self)
      let name = "P\(Int.random(in: 0..<20, using: &random))"
      let plain = Set(people.filter { $0.name == name }.map(\.objectID))
      // A primitive value of an unchanged object is not among the changes that fetches see.
      let found = try context.fetch(Person.self, where: { $0.name == name })
      let visible = Set(found.map(\.objectID))
      let differing = visible.symmetricDifference(plain)
      #expect(
        differing.allSatisfy { id in context.registeredObject(for: id)?.hasChanges == false },
        "seed \(seed), step \(step)")
      #expect(
        try context.fetch(Person.self, where: { $0.nick == nil && $0.name == name }).count
          <= max(found.count, plain.count))
      #expect(try context.count(Person.self, where: { $0.name == name }) == found.count)
      guard !context.hasChanges, !root.hasChanges else { continue }
      #expect(found == people.filter { visible.contains($0.objectID) }, "seed \(seed), step \(step)")
      let limit = Int.random(in: 1...8, using: &random)
      let first = try context.fetch(Person.self, where: { $0.name == name }, limit: limit)
      #expect(first == Array(found.prefix(limit)), "seed \(seed), step \(step)")
    }
  }

  @Test func `ranges, orders with a limit, extremes and counts look at few of many unsaved objects`() throws {
    let context = try makeContainer().newBackgroundContext()
    for number in 0..<2_000 { _ = context.makePerson("P\(number % 10)", age: Int64(number)) }

    try expectMatches(of: context, 5) { $0.predicate = ObjectQuery<Person>().age >= 1_995 }
    try expectMatches(of: context, 3) {
      $0.sortDescriptors = [Sort<Person>.descending(\.age)]
      $0.fetchLimit = 3
    }
    try expectMatches(of: context, 2) {
      $0.predicate = ObjectQuery<Person>().name == "P3"
      $0.sortDescriptors = [Sort<Person>.ascending(\.name), Sort<Person>.descending(\.age)]
      $0.fetchLimit = 2
    }
    try expectMatches(of: context, 0, isCount: true) { $0.predicate = ObjectQuery<Person>().age < 1_000 }
    try expectMatches(of: context, 0, isCount: true) { _ in }
    #expect(try context.count(Person.self, where: { $0.age < 1_000 }) == 1_000)
    let ages = try #require(
      try context.fetchRows(Person.self, columns: { ($0.age.min(), $0.age.max()) }).first)
    #expect(ages == (0, 1_999))
  }

  /// Expects that a request looks at some of the changed objects only. Its first execution may look at all.
  private func expectMatches(
    of context: ManagedObjectContext, _ count: Int, isCount: Bool = false,
    _ configure: (FetchRequest<Person>) -> Void
  ) throws {
    let request = FetchRequest<Person>()
    configure(request)
    context.processPendingChanges()
    let resolved = try ObjectFetch(context).resolve(request)
    let overlay = PendingOverlay(try context.readingView(), context)
    _ = try PendingMatches(resolved, context, overlay, isCount: isCount)
    let pending = try PendingMatches(resolved, context, overlay, isCount: isCount)
    #expect(pending.matches.count == count)
  }
}
