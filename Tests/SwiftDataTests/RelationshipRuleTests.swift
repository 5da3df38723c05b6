import Foundation
import SwiftData
import Testing

enum Rules {
  @Model
  final class Team {
    var name: String
    @Relationship(minimumModelCount: 2, maximumModelCount: 3) var players: [Player] = []
    init(_ name: String, players: Int) {
      self.name = name
      self.players = (0..<players).map { Player("\($0)") }
    }
  }

  @Model
  final class Player {
    var name: String
    var team: Team?
    init(_ name: String) { self.name = name }
  }

  @Model
  final class Owner {
    var name: String
    @Relationship(deleteRule: .noAction, inverse: \Pet.owner) var pets: [Pet] = []
    @Relationship(deleteRule: .deny, inverse: \House.owner) var houses: [House] = []
    init(_ name: String) { self.name = name }
  }

  @Model
  final class Pet {
    var name: String
    var owner: Owner?
    init(_ name: String, _ owner: Owner) {
      self.name = name
      self.owner = owner
    }
  }

  @Model
  final class House {
    var owner: Owner?
    init(_ owner: Owner) { self.owner = owner }
  }

  /// Two relationships with one inverse.
  @Model
  final class Trellis {
    @Relationship(deleteRule: .cascade, inverse: \Vine.trellis) var leading: [Vine] = []
    @Relationship(deleteRule: .cascade, inverse: \Vine.trellis) var trailing: [Vine] = []
    init() {}
  }

  @Model
  final class Vine {
    var name: String
    var trellis: Trellis?
    init(_ name: String) { self.name = name }
  }

  @Model
  final class Seat {
    var row: Int
    @Relationship(.unique) var guest: Guest?
    init(row: Int, guest: Guest?) {
      self.row = row
      self.guest = guest
    }
  }

  @Model
  final class Crew {
    var name: String
    @Relationship(minimumModelCount: 1, inverse: \Sailor.crew) var sailors: [Sailor] = []
    @Relationship(minimumModelCount: 2) var reserves: [Sailor]?
    @Relationship(minimumModelCount: 1) var boat: Boat?
    init(_ name: String) { self.name = name }
  }

  @Model
  final class Sailor {
    var name: String
    var crew: Crew?
    init(_ name: String) { self.name = name }
  }

  @Model
  final class Boat {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model
  final class Convoy {
    @Relationship(maximumModelCount: 1) var boats: [Boat] = []
    init() {}
  }

  @Model
  final class Hall {
    // A list of models, which the macro cannot tell from one of values.
    @Attribute(.unique) var guests: [Guest] = []
    init() {}
  }

  @Model
  final class Guest {
    var name: String
    init(_ name: String) { self.name = name }
  }
}

struct RelationshipRuleTests {
  let context: ModelContext

  init() throws {
    context = ModelContext(
      try ModelContainer(
        for: Rules.Team.self, Rules.Owner.self, Rules.Seat.self, Rules.Crew.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
  }

  // SWD-04, SWD-40
  @Test(arguments: [1, 4]) func `too few and too many related models are refused by a save`(count: Int) throws
  {
    let team = Rules.Team("T", players: count)
    context.insert(team)
    #expect { try context.save() } throws: {
      SwiftDataError.modelValidationFailure ~= $0 && "\($0)".contains("players")
    }
    #expect(context.hasChanges)
    // The same context goes on once there are as many as there may be.
    if count == 1 { team.players.append(Rules.Player("new")) } else { team.players.removeLast() }
    try context.save()
    #expect(
      try ModelContext(context.container).fetch(FetchDescriptor<Rules.Team>()).first?.players.count
        == (count == 1 ? 2 : 3))
  }

  // SWD-04
  @Test func `the counts of a relationship are in the schema`() throws {
    let team = try #require(context.container.schema.entity(for: Rules.Team.self))
    #expect(team.relationshipsByName["players"]?.minimumModelCount == 2)
    #expect(team.relationshipsByName["players"]?.maximumModelCount == 3)
    for count in 2...3 { context.insert(Rules.Team("T", players: count)) }
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Rules.Player>()) == 5)
  }

  // SWD-04, SWD-40
  @Test func `a relationship with a minimum cannot be empty, unless it is optional`() throws {
    let crew = Rules.Crew("C")
    context.insert(crew)
    func isRefused() -> Bool {
      do {
        try context.save()
        return false
      } catch {
        return SwiftDataError.modelValidationFailure ~= error && "\(error)".contains("sailors")
      }
    }
    #expect(isRefused())
    let sailor = Rules.Sailor("S")
    crew.sailors = [sailor]
    try context.save()
    // The last one cannot be taken away, from either side, or be deleted.
    crew.sailors = []
    #expect(isRefused())
    crew.sailors = [sailor]
    sailor.crew = nil
    #expect(isRefused())
    context.rollback()
    context.delete(sailor)
    #expect(isRefused())
    context.rollback()
    // Of an optional relationship there may be none, or as many as the minimum says.
    crew.reserves = [Rules.Sailor("R")]
    #expect {
      try context.save()
    } throws: {
      SwiftDataError.modelValidationFailure ~= $0 && "\($0)".contains("reserves")
    }
    crew.reserves?.append(Rules.Sailor("T"))
    try context.save()
    crew.reserves = nil
    crew.boat = Rules.Boat("B")
    try context.save()
    let described = context.container.schema.entity(for: Rules.Crew.self)?.relationshipsByName
    #expect(described?["sailors"]?.isOptional == false && described?["reserves"]?.isOptional == true)
  }

  // SWD-04
  @Test func `with no action, models that led to a deleted one stay, and read as without it`() throws {
    let owner = Rules.Owner("O")
    let pet = Rules.Pet("P", owner)
    context.insert(pet)
    try context.save()
    context.delete(owner)
    try context.save()
    #expect(owner.name == "O" && owner.modelContext == nil)
    let other = ModelContext(context.container)
    let found = try #require(try other.fetch(FetchDescriptor<Rules.Pet>()).first)
    #expect(found.name == "P")
    // It leads to a row that is not there, which reads as its defaults; no other model takes its place.
    #expect((found.owner?.name ?? "").isEmpty && (pet.owner?.name ?? "").isEmpty)
    context.insert(Rules.Owner("N"))
    try context.save()
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Rules.Pet>()).first?.owner?.name != "N")
    found.owner = nil
    try other.save()
    #expect(try other.fetchCount(FetchDescriptor<Rules.Pet>(predicate: #Predicate { $0.owner == nil })) == 1)
  }

  // SWD-04, SWD-40
  @Test func `a deletion is denied while there are related models`() throws {
    let owner = Rules.Owner("O")
    let house = Rules.House(owner)
    context.insert(house)
    try context.save()
    context.delete(owner)
    #expect { try context.save() } throws: { SwiftDataError.modelValidationFailure ~= $0 }
    context.delete(house)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Rules.Owner>()) == 0)
  }

  // SWD-04, SWD-07
  @Test func `a unique relationship makes a save update the model that leads there`() throws {
    let guest = Rules.Guest("G")
    context.insert(Rules.Seat(row: 1, guest: guest))
    try context.save()
    context.insert(Rules.Seat(row: 2, guest: guest))
    context.insert(Rules.Seat(row: 3, guest: Rules.Guest("H")))
    try context.save()
    let seats = FetchDescriptor<Rules.Seat>(sortBy: [SortDescriptor(\.row)])
    #expect(try ModelContext(context.container).fetch(seats).map(\.row) == [2, 3])
    #expect(context.container.schema.entity(for: Rules.Seat.self)?.uniquenessConstraints == [["guest"]])
  }

  // SWD-04, SWD-40
  @Test func `a relationship to several models cannot have a maximum of one`() {
    #expect {
      try ModelContainer(
        for: Rules.Convoy.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    } throws: {
      SwiftDataError.loadIssueModelContainer ~= $0 && "\($0)".contains("Convoy.boats")
    }
  }

  // SWD-04, SWD-40
  @Test func `a relationship to several models cannot be unique`() {
    #expect {
      try ModelContainer(
        for: Rules.Hall.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    } throws: {
      SwiftDataError.loadIssueModelContainer ~= $0 && "\($0)".contains("Hall.guests")
    }
  }

  // SWD-04, SWD-05
  @Test func `of two relationships that name the same inverse, it leads back to the first`() throws {
    let container = try ModelContainer(
      for: Rules.Trellis.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let entity = try #require(container.schema.entity(for: Rules.Trellis.self))
    #expect(entity.relationshipsByName.mapValues(\.inverseName) == ["leading": "trellis", "trailing": nil])
    let context = ModelContext(container)
    let trellis = Rules.Trellis()
    context.insert(trellis)
    let vines = ["a", "b", "c"].map { Rules.Vine($0) }
    trellis.leading = [vines[0]]
    trellis.trailing = [vines[1]]
    vines[2].trellis = trellis
    try context.save()
    let stored = try #require(
      try ModelContext(container).fetch(FetchDescriptor<Rules.Trellis>()).first)
    #expect(Set(stored.leading.map(\.name)) == ["a", "c"] && stored.trailing.map(\.name) == ["b"])
    #expect(stored.leading.allSatisfy { $0.trellis === stored } && stored.trailing[0].trellis == nil)
    context.delete(trellis)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Rules.Vine>()) == 0)
  }
}
