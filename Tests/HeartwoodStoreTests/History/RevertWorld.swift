import Foundation
import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood

/// Teams and players: relationships of every kind, of which transactions are reverted.
final class Team: ManagedObject {
  @Attribute(.unique) var name = ""
  @Attribute var size: Int64?
  @Relationship(inverse: { $0.team }) var players: [Player]
  @Relationship(inverse: { $0.liked }) var fans: [Player]
  @Relationship(inverse: { $0.captainOf }) var captain: Player?
  @Relationship(inverse: { $0.owner }, deleteRule: .cascade) var parts: Set<Part>
  @Relationship var mascot: Player?
  @Relationship var guests: Set<Player>
}

final class Player: ManagedObject {
  @Attribute(.unique) var number: Int64 = 0
  @Attribute var nick: String?
  @Relationship(inverse: { $0.players }) var team: Team?
  @Relationship(inverse: { $0.fans }) var liked: Set<Team>
  @Relationship(inverse: { $0.captain }) var captainOf: Team?
}

final class Part: ManagedObject {
  @Attribute var title = ""
  @Relationship(inverse: { $0.parts }) var owner: Team?
}

/// The value of one property in a store.
enum RevertValue: Equatable {
  case attribute(String)
  case one(ManagedObjectID?)
  case many([ManagedObjectID], isOrdered: Bool)

  var members: [ManagedObjectID] {
    switch self {
    case .attribute: []
    case .one(let identifier): identifier.map { [$0] } ?? []
    case .many(let identifiers, _): identifiers
    }
  }
}

typealias RevertState = [ManagedObjectID: [String: RevertValue]]

/// A store of teams, and random transactions of it.
struct RevertWorld {
  let container: PersistentContainer
  var random: SplitMix64

  init(seed: UInt64) throws {
    print("random seed \(seed)")
    container = try PersistentContainer(
      name: "Teams", types: [Team.self, Player.self, Part.self], at: URL(fileURLWithPath: "/dev/null"))
    random = SplitMix64(seed: seed)
  }

  var number: UInt64 { container.currentHistoryToken?.transactionNumber ?? 0 }

  /// All objects with their values. A reference to an object that is gone is none.
  func state() throws -> RevertState {
    let context = container.newBackgroundContext()
    let objects: [ManagedObject] =
      try context.fetch(Team.self) + context.fetch(Player.self) + context.fetch(Part.self)
    let known = Set(objects.map(\.objectID))
    var state: RevertState = [:]
    for object in objects {
      for property in object.entity.properties {
        state[object.objectID, default: [:]][property.name] = value(of: property, object, known)
      }
    }
    return state
  }

  private func value(
    of property: PropertyDescription, _ object: ManagedObject, _ known: Set<ManagedObjectID>
  ) -> RevertValue {
    guard let relationship = property as? RelationshipDescription else {
      return .attribute(object.value(forKey: property.name).map { "\($0)" } ?? "nil")
    }
    let found = object.objectIDs(forRelationshipNamed: property.name).filter(known.contains)
    guard relationship.isToMany else { return .one(found.first) }
    return .many(
      relationship.isOrdered ? found : found.sorted { $0.key < $1.key }, isOrdered: relationship.isOrdered)
  }

  /// Saves one to four random changes, and returns the number of the transaction; nil if they have changed nothing.
  mutating func transaction(author: String? = nil) throws -> UInt64? {
    let before = number
    let context = container.newBackgroundContext()
    context.transactionAuthor = author
    for _ in 0...random.below(3) { try change(in: context) }
    try context.save()
    return number == before ? nil : number
  }

  private mutating func change(in context: ManagedObjectContext) throws {
    let teams = try context.fetch(Team.self).sorted { $0.name < $1.name }
    let players = try context.fetch(Player.self).sorted { $0.number < $1.number }
    let names = (0..<8).map { "team \($0)" }.filter { name in !teams.contains { $0.name == name } }
    let numbers = (0..<12).map { Int64($0) }.filter { number in !players.contains { $0.number == number } }
    guard let team = teams.randomElement(using: &random), let player = players.randomElement(using: &random),
      random.below(5) > 0
    else { return insert(in: context, names, numbers, teams) }
    switch random.below(12) {
    case 0: context.delete(team)
    case 1: context.delete(player)
    case 2: if let name = names.randomElement(using: &random) { team.name = name }
    case 3: if let number = numbers.randomElement(using: &random) { player.number = number }
    case 4: team.size = random.below(3) == 0 ? nil : Int64(random.below(5))
    case 5: team.players = some(players)
    case 6: team.players.shuffle(using: &random)
    case 7: team.fans = some(players)
    case 8: team.captain = random.below(4) == 0 ? nil : player
    case 9: player.captainOf = random.below(4) == 0 ? nil : team
    case 10: team.mascot = random.below(4) == 0 ? nil : player
    default:
      team.guests = Set(some(players))
      player.team = random.below(4) == 0 ? nil : team
    }
  }

  private mutating func insert(
    in context: ManagedObjectContext, _ names: [String], _ numbers: [Int64], _ teams: [Team]
  ) {
    switch random.below(3) {
    case 0:
      guard let name = names.randomElement(using: &random) else { return }
      Team(context: context).name = name
    case 1:
      guard let number = numbers.randomElement(using: &random) else { return }
      let player = Player(context: context)
      player.number = number
      player.team = teams.randomElement(using: &random)
    default:
      let part = Part(context: context)
      part.title = "\(random.below(9))"
      part.owner = teams.randomElement(using: &random)
    }
  }

  private mutating func some(_ players: [Player]) -> [Player] {
    Array(players.shuffled(using: &random).prefix(random.below(players.count + 1)))
  }

  /// Reverts a transaction, and saves what could be taken back.
  func revert(_ number: UInt64) throws -> [RevertConflict] {
    let context = container.newBackgroundContext()
    let conflicts = try context.revert(transaction: number)
    try context.save()
    return conflicts
  }
}
