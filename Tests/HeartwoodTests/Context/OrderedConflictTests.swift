import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

private final class ListTeam: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.team }) var members: [ListPerson]
}

private final class ListPerson: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.members }) var team: ListTeam?
}

private let policies: [MergePolicyType] = [
  .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
]

/// Two contexts that change the same ordered relationships, each without knowing of the other.
@Suite struct `Ordered relationships that two contexts change` {
  /// Three teams, of which some have members, and two contexts that have read all of it.
  private struct World {
    let folder: TemporaryFolder
    let container: PersistentContainer
    let first: ManagedObjectContext
    let second: ManagedObjectContext

    /// - Parameter members: The numbers of each team's members.
    init(_ members: [[Int]], _ type: MergePolicyType) throws {
      folder = try TemporaryFolder()
      container = try PersistentContainer(
        name: "Lists", types: [ListTeam.self, ListPerson.self], at: folder.store)
      let context = container.newBackgroundContext()
      var persons: [Int: ListPerson] = [:]
      for (number, members) in members.enumerated() {
        let team = ListTeam(context: context)
        team.name = "t\(number)"
        for member in members {
          let person = ListPerson(context: context)
          person.name = "p\(member)"
          persons[member] = person
        }
        team.members = members.compactMap { persons[$0] }
      }
      try context.save()
      (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
      second.mergePolicy = MergePolicy(merge: type)
      for context in [first, second] { _ = try Self.state(context) }
    }

    /// The members of each team, and the team of each person.
    static func state(_ context: ManagedObjectContext) throws -> (
      lists: [String: [String]], teams: [String: String]
    ) {
      var (lists, teams): ([String: [String]], [String: String]) = ([:], [:])
      for team in try context.fetch(ListTeam.self) { lists[team.name] = team.members.map(\.name) }
      for person in try context.fetch(ListPerson.self) { teams[person.name] = person.team?.name }
      return (lists, teams)
    }

    /// Expects that both sides of the relationship agree in the store.
    func check(_ comment: String) throws {
      let (lists, teams) = try Self.state(container.newBackgroundContext())
      for (team, members) in lists {
        let referring = teams.filter { $0.value == team }.map(\.key).sorted()
        #expect(members.sorted() == referring, "\(comment): \(team) has \(members), but \(teams)")
      }
    }

    /// Saves the second context; a conflict drops its changes.
    func saveSecond() throws {
      do {
        try second.save()
      } catch let error as HeartwoodError where error.code == .managedObjectMerge {
        second.rollback()
      }
    }
  }

  private static func team(_ number: Int, _ context: ManagedObjectContext) throws -> ListTeam {
    try #require(try context.fetch(ListTeam.self, where: { $0.name == "t\(number)" }).first)
  }

  private static func person(_ number: Int, _ context: ManagedObjectContext) throws -> ListPerson {
    try #require(try context.fetch(ListPerson.self, where: { $0.name == "p\(number)" }).first)
  }

  // MRG-01
  @Test(arguments: policies)
  func `a list that is set to what it was keeps the members that another context has added`(
    type: MergePolicyType
  ) throws {
    let world = try World([[1], [], [0]], type)
    try Self.person(1, world.first).team = Self.team(2, world.first)
    try world.first.save()
    let team = try Self.team(2, world.second)
    team.members = [try Self.person(0, world.second)]
    try world.saveSecond()
    try world.check("\(type)")
  }

  @Test(arguments: policies)
  func `a member that is moved within its list stays in the team that another context has given it`(
    type: MergePolicyType
  ) throws {
    let world = try World([[0, 1], [], []], type)
    try Self.person(0, world.first).team = Self.team(2, world.first)
    try world.first.save()
    let team = try Self.team(0, world.second)
    let person = try #require(team.members.last)
    team.members = [person] + team.members.dropLast()
    try world.saveSecond()
    try world.check("\(type)")
  }

  @Test(arguments: policies)
  func `a member that another context has deleted is in its list if it is inserted again`(
    type: MergePolicyType
  ) throws {
    let world = try World([[0], [], []], type)
    let mine = try Self.person(0, world.second)
    world.first.delete(try Self.person(0, world.first))
    try world.first.save()
    mine.name = "q"
    try world.saveSecond()
    try world.check("\(type)")
  }

  @Test(arguments: policies)
  func `a deleted member is in no list, also if another context has moved it`(type: MergePolicyType) throws {
    let world = try World([[0], [], []], type)
    let mine = try Self.person(0, world.second)
    try Self.person(0, world.first).team = Self.team(2, world.first)
    try world.first.save()
    world.second.delete(mine)
    try world.saveSecond()
    try world.check("\(type)")
  }

  @Test(arguments: policies)
  func `a member that is kept although it was deleted is in its list`(type: MergePolicyType) throws {
    let world = try World([[0, 1], [], []], type)
    let mine = try Self.person(0, world.second)
    try Self.person(0, world.first).name = "p0"
    try Self.person(0, world.first).name = "other"
    try world.first.save()
    world.second.delete(mine)
    try world.saveSecond()
    try world.check("\(type)")
    // A refused save has read nothing.
    if type == .error { world.second.refreshAllObjects() }
    #expect(try World.state(world.second) == World.state(world.container.newBackgroundContext()))
    #expect(try world.container.persistentStoreCoordinator.verify().findings == [])
  }

  @Test(arguments: policies)
  func `both sides agree after any changes by two contexts`(type: MergePolicyType) throws {
    for seed in (0..<60 as Range<UInt64>).sampled(every: 3) {
      var random = SplitMix64(seed: seed &* 31 &+ UInt64(type.rawValue))
      let world = try World([[0, 1], [2], [3]], type)
      var log: [String] = []
      for _ in 0..<4 {
        for (name, context) in [("first", world.first), ("second", world.second)] {
          for _ in 0...random.below(2) { log.append(name + " " + (try Self.change(context, &random))) }
        }
        do { try world.first.save() } catch is HeartwoodError { world.first.rollback() }
        try world.saveSecond()
        try world.check("seed \(seed), \(log)")
        if random.below(2) == 0 { world.first.refreshAllObjects() }
        if random.below(2) == 0 { world.second.refreshAllObjects() }
      }
    }
  }

  private static func change(_ context: ManagedObjectContext, _ random: inout SplitMix64) throws -> String {
    let teams = try context.fetch(ListTeam.self, sort: [.ascending(\.name)])
    let persons = try context.fetch(ListPerson.self, sort: [.ascending(\.name)]).filter { !$0.isDeleted }
    let team = teams[random.below(teams.count)]
    guard !persons.isEmpty else { return "nothing" }
    let person = persons[random.below(persons.count)]
    switch random.below(6) {
    case 0:
      person.team = team
      return "\(person.name).team = \(team.name)"
    case 1:
      team.members = team.members.reversed()
      return "\(team.name) reversed"
    case 2:
      team.members = [person]
      return "\(team.name) = [\(person.name)]"
    case 3:
      let name = person.name
      context.delete(person)
      return "delete \(name)"
    case 4:
      person.name = "p\(random.below(1000) + 10)"
      return "rename to \(person.name)"
    default:
      person.team = nil
      return "\(person.name).team = nil"
    }
  }
}
