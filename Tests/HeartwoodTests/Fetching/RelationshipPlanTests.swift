import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import Testing

/// Conditions on the destinations of relationships, where many destinations satisfy them.
@Suite struct `Plans over relationships` {
  let container: PersistentContainer
  let context: ManagedObjectContext
  private var pupils: [Pupil] = []
  private static let subjects = ["maths", "physics", "music", "art"]

  init() throws {
    container = try PersistentContainer(
      name: "School", types: [Pupil.self, Boarder.self, Mark.self, Club.self],
      at: URL(fileURLWithPath: "/dev/null"))
    context = container.newBackgroundContext()
    var random = SplitMix64(seed: 41)
    let clubs = (0..<30).map { number in
      let club = Club(context: context)
      club.day = Int64(number % 7)
      return club
    }
    for number in 0..<1500 {
      let pupil = number % 5 == 0 ? Boarder(context: context) : Pupil(context: context)
      pupils.append(pupil)
      pupil.number = Int64(number)
      pupil.clubs = Set(clubs.filter { _ in Int.random(in: 0..<15, using: &random) == 0 })
      for _ in 0..<Int.random(in: 0..<9, using: &random) { addMark(to: pupil, &random) }
    }
    for _ in 0..<50 { addMark(to: nil, &random) }
    try context.save()
  }

  private func addMark(to pupil: Pupil?, _ random: inout SplitMix64) {
    let mark = Mark(context: context)
    mark.subject = Self.subjects[Int.random(in: 0..<4, using: &random)]
    mark.points = Int64.random(in: 0..<12, using: &random)
    mark.pupil = pupil
    mark.corrector = Int.random(in: 0..<3, using: &random) == 0 ? pupils.randomElement(using: &random) : nil
  }

  private struct Asked {
    let name: String
    let condition: Condition
    let holds: (Pupil) -> Bool

    init(_ name: String, _ condition: Condition, _ holds: @escaping (Pupil) -> Bool) {
      (self.name, self.condition, self.holds) = (name, condition, holds)
    }
  }

  /// A random condition, and what it means.
  private func condition(_ random: inout SplitMix64) -> Asked {
    let query = ObjectQuery<Pupil>()
    let subject = Self.subjects[Int.random(in: 0..<4, using: &random)]
    let points = Int64.random(in: 0..<12, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      let any: Condition = query.marks.contains { $0.subject == subject }
      return Asked("any \(subject)", any) { $0.marks.contains { $0.subject == subject } }
    case 1:
      let any: Condition = query.marks.contains { $0.points == points }
      return Asked("any \(points)", any) { $0.marks.contains { $0.points == points } }
    case 2:
      let any: Condition = query.marks.contains { $0.points >= points }
      return Asked("any from \(points)", any) { $0.marks.contains { $0.points >= points } }
    case 3:
      let any: Condition = query.marks.contains { $0.subject == subject && $0.points == points }
      return Asked("any \(subject) with \(points)", any) {
        $0.marks.contains { $0.subject == subject && $0.points == points }
      }
    case 4:
      let none: Condition = !query.marks.contains { $0.subject == subject }
      return Asked("no \(subject)", none) { !$0.marks.contains { $0.subject == subject } }
    case 5:
      let any: Condition = query.corrected.contains { $0.subject == subject }
      return Asked("corrects \(subject)", any) { $0.corrected.contains { $0.subject == subject } }
    case 6:
      let day = points % 7
      let any: Condition = query.clubs.contains { $0.day == day }
      return Asked("a club on \(day)", any) { $0.clubs.contains { $0.day == day } }
    default:
      let bound = points * 100
      return Asked("number below \(bound)", query.number < bound) { $0.number < bound }
    }
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `random conditions on destinations have the objects that they are true of`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var kinds: Set<String> = []
    for round in 0..<30 {
      if round == 15 { try change(&random) }
      if round == 20 { try context.save() }
      let (first, second) = (condition(&random), condition(&random))
      let isBoth = Bool.random(using: &random)
      let request = FetchRequest<Pupil>()
      request.predicate = isBoth ? first.condition && second.condition : first.condition || second.condition
      let isSorted = Bool.random(using: &random)
      if isSorted { request.sortDescriptors = [Sort<Pupil>.descending(\.number)] }
      let onlyBoarders = Int.random(in: 0..<4, using: &random) == 0
      if onlyBoarders { request.entity = Boarder.entity() }
      request.includesSubentities = onlyBoarders || Int.random(in: 0..<4, using: &random) > 0
      let all = try context.fetch(Pupil.self).filter { pupil in
        guard pupil is Boarder ? request.includesSubentities : !onlyBoarders else { return false }
        return isBoth
          ? first.holds(pupil) && second.holds(pupil) : first.holds(pupil) || second.holds(pupil)
      }
      let text = "seed \(seed): \(first.name) \(isBoth ? "and" : "or") \(second.name)"
      let expected = all.map(\.number).sorted()
      let found = try context.fetch(request).map(\.number)
      #expect(found.sorted() == expected, "\(text)")
      if isSorted { #expect(found == found.sorted(by: >), "\(text)") }
      #expect(try context.count(for: request) == expected.count, "\(text)")
      request.fetchLimit = 7
      #expect(try context.fetch(request).count == min(7, expected.count), "\(text)")
      request.fetchLimit = 0
      kinds.formUnion(try context.plan(for: request).steps.map { String($0.prefix { $0 != ":" }) })
    }
    #expect(kinds.isSuperset(of: ["scan", "identifiers", "intersection", "related"]), "\(kinds)")
  }

  private func change(_ random: inout SplitMix64) throws {
    let pupils = try context.fetch(Pupil.self)
    for _ in 0..<40 {
      let pupil = pupils[Int.random(in: pupils.indices, using: &random)]
      switch Int.random(in: 0..<3, using: &random) {
      case 0: addMark(to: pupil, &random)
      case 1: if let mark = pupil.marks.first { context.delete(mark) }
      default: pupil.marks.first?.pupil = pupils[Int.random(in: pupils.indices, using: &random)]
      }
    }
  }

  @Test func `two conditions on many destinations are an intersection of their owners, without a filter`()
    throws
  {
    let asked = FetchRequest<Pupil>(where: {
      $0.marks.contains { $0.subject == "art" } && $0.marks.contains { $0.points == 3 }
    })
    let steps = try context.plan(for: asked).steps
    #expect(steps.count == 1 && steps[0].hasPrefix("intersection: (identifiers: "), "\(steps)")
  }

  @Test func `a request with a limit does not look for all of many destinations`() throws {
    let asked = FetchRequest<Pupil>(where: { $0.marks.contains { $0.subject == "art" } })
    #expect(try context.plan(for: asked).steps.first?.hasPrefix("identifiers: ") == true)
    asked.fetchLimit = 5
    #expect(try context.plan(for: asked).steps.first == "scan: Pupil")
  }

  @Test func `an object that is gone is no owner of the destinations that still refer to it`() throws {
    let numbers = try context.fetch(Pupil.self, where: { $0.marks.contains { $0.subject == "art" } }).map(
      \.number)
    let gone = try #require(try context.fetch(Pupil.self, where: { $0.number == numbers[0] }).first)
    context.delete(gone)
    try context.save()
    let asked = FetchRequest<Pupil>(where: { $0.marks.contains { $0.subject == "art" } })
    #expect(try context.fetch(asked).map(\.number).sorted() == numbers.dropFirst().sorted())
    #expect(try context.count(for: asked) == numbers.count - 1)
  }
}

private class Pupil: ManagedObject {
  @Attribute var number: Int64 = 0
  @Relationship(inverse: { $0.pupil }, deleteRule: .noActionDeleteRule) var marks: Set<Mark>
  @Relationship(inverse: { $0.corrector }) var corrected: Set<Mark>
  @Relationship(inverse: { $0.members }) var clubs: Set<Club>
}

private final class Boarder: Pupil {
  @Attribute var room: Int64 = 0
}

private final class Mark: ManagedObject {
  @Attribute var subject = ""
  @Attribute(.indexed) var points: Int64 = 0
  @Relationship(inverse: { $0.marks }) var pupil: Pupil?
  @Relationship(inverse: { $0.corrected }) var corrector: Pupil?
  override class var compoundIndexes: [[String]] { [["subject", "pupil"]] }
}

private final class Club: ManagedObject {
  @Attribute(.indexed) var day: Int64 = 0
  @Relationship(inverse: { $0.clubs }) var members: Set<Pupil>
}
