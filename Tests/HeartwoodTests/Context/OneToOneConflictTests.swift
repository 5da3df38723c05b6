import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

private final class Captain: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.captain }) var ship: Vessel?
}

private final class Vessel: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.ship }) var captain: Captain?
  @Relationship(inverse: { $0.ship }, deleteRule: .cascade) var flag: Flag?
  @Relationship(inverse: { $0.twin }) var twin: Vessel?
}

private final class Flag: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.flag }) var ship: Vessel?
}

private let policies: [MergePolicyType] = [
  .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
]

/// Two contexts that change the same one-to-one relationships, each without knowing of the other.
@Suite struct `One-to-one relationships that two contexts change` {
  /// A fleet in a store, and two contexts that have read all of it.
  private struct World {
    let folder: TemporaryFolder
    let container: PersistentContainer
    let first: ManagedObjectContext
    let second: ManagedObjectContext

    /// - Parameter captains: The numbers of captains that have a vessel, and of their vessels.
    init(
      ships: Int, captains: [Int: Int] = [:], _ type: MergePolicyType, kind: PersistentStore.StoreType = .log,
      merging: Bool = false
    ) throws {
      folder = try TemporaryFolder()
      container = PersistentContainer(
        name: "Fleet",
        managedObjectModel: try ManagedObjectModel(types: [Captain.self, Vessel.self, Flag.self]))
      let description = PersistentStoreDescription(url: folder.store)
      description.type = kind
      container.persistentStoreDescriptions = [description]
      try container.loadPersistentStores()
      let context = container.newBackgroundContext()
      for number in 0..<ships {
        let (ship, captain) = (Vessel(context: context), Captain(context: context))
        (ship.name, captain.name) = ("s\(number)", "c\(number)")
      }
      try context.save()
      for (captain, ship) in captains {
        try Self.captain(captain, context).ship = try Self.ship(ship, context)
      }
      try context.save()
      (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
      second.mergePolicy = MergePolicy(merge: type)
      for context in [first, second] {
        context.automaticallyMergesChangesFromParent = merging
        _ = try Self.state(context)
      }
    }

    static func captain(_ number: Int, _ context: ManagedObjectContext) throws -> Captain {
      try #require(try context.fetch(Captain.self, where: { $0.name == "c\(number)" }).first)
    }

    static func ship(_ number: Int, _ context: ManagedObjectContext) throws -> Vessel {
      try #require(try context.fetch(Vessel.self, where: { $0.name == "s\(number)" }).first)
    }

    /// All relationships that are set, from both sides.
    static func state(_ context: ManagedObjectContext) throws -> Set<String> {
      var links: Set<String> = []
      for captain in try context.fetch(Captain.self) {
        links.insert("\(captain.name)")
        if let ship = captain.ship { links.insert("\(captain.name).ship = \(ship.name)") }
      }
      for ship in try context.fetch(Vessel.self) {
        links.insert("\(ship.name)")
        if let captain = ship.captain { links.insert("\(ship.name).captain = \(captain.name)") }
        if let flag = ship.flag { links.insert("\(ship.name).flag = \(flag.name)") }
        if let twin = ship.twin { links.insert("\(ship.name).twin = \(twin.name)") }
      }
      for flag in try context.fetch(Flag.self) {
        links.insert("\(flag.name)")
        if let ship = flag.ship { links.insert("\(flag.name).ship = \(ship.name)") }
      }
      return links
    }

    /// Expects that both sides of every relationship agree in the store.
    func check(_ comment: String) throws {
      #expect(try container.persistentStoreCoordinator.verify().findings == [], "\(comment)")
      let links = try Self.state(container.newBackgroundContext())
      for link in links {
        guard let (from, to, name) = Self.parts(link) else { continue }
        let back = ["captain": "ship", "ship": to.hasPrefix("s") && from.hasPrefix("f") ? "flag" : "captain"]
        let inverse = name == "twin" ? "twin" : name == "flag" ? "ship" : back[name] ?? ""
        #expect(links.contains("\(to).\(inverse) = \(from)"), "\(comment): \(link), but \(links.sorted())")
      }
    }

    private static func parts(_ link: String) -> (from: String, to: String, name: String)? {
      guard let equals = link.range(of: " = "), let dot = link.firstIndex(of: ".") else { return nil }
      return (
        String(link[..<dot]), String(link[equals.upperBound...]),
        String(link[link.index(after: dot)..<equals.lowerBound])
      )
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

  // MRG-01
  @Test(arguments: policies)
  func `a ship that was given to a captain has none after the captain is deleted`(type: MergePolicyType)
    throws
  {
    let world = try World(ships: 1, type)
    let mine = try World.captain(0, world.second)
    try World.captain(0, world.first).ship = try World.ship(0, world.first)
    try world.first.save()
    world.second.delete(mine)
    try world.saveSecond()
    try world.check("\(type)")
    let links = try World.state(world.container.newBackgroundContext())
    let isDeleted = type == .mergeByPropertyObjectTrump || type == .overwrite
    #expect(links == (isDeleted ? ["s0"] : ["s0", "c0", "c0.ship = s0", "s0.captain = c0"]))
    // A refused save has read nothing.
    if type == .error { world.second.refreshAllObjects() }
    #expect(try World.state(world.second) == links)
  }

  @Test(arguments: policies)
  func `a captain whom two contexts give different ships has one`(type: MergePolicyType) throws {
    let world = try World(ships: 2, type)
    let mine = try World.captain(0, world.second)
    try World.captain(0, world.first).ship = try World.ship(0, world.first)
    try world.first.save()
    try World.ship(1, world.second).captain = mine
    try world.saveSecond()
    try world.check("\(type)")
    let isMine = type == .mergeByPropertyObjectTrump || type == .overwrite
    let ship = isMine ? "s1" : "s0"
    let links = try World.state(world.container.newBackgroundContext())
    #expect(links == ["s0", "s1", "c0", "c1", "c0.ship = \(ship)", "\(ship).captain = c0"])
    if type == .error { world.second.refreshAllObjects() }
    #expect(try World.state(world.second) == links)
  }

  @Test(arguments: [MergePolicyType.mergeByPropertyStoreTrump, .rollback])
  func `a cascade that is taken back takes what was edited before it back, too`(type: MergePolicyType) throws
  {
    let world = try World(ships: 1, type)
    let flag = Flag(context: world.first)
    try world.first.save()
    let mine = try #require(try world.second.existingObject(with: flag.objectID) as? Flag)
    let vessel = try World.ship(0, world.second)
    vessel.flag = mine
    world.second.processPendingChanges()
    world.second.delete(vessel)
    world.second.processPendingChanges()
    flag.name = "f"
    try world.first.save()
    try world.second.save()
    try world.check("\(type)")
    #expect(try World.state(world.container.newBackgroundContext()) == ["c0", "f"])
    #expect(mine.name == "f" && mine.ship == nil)
  }

  @Test(arguments: [MergePolicyType.mergeByPropertyObjectTrump, .overwrite])
  func `an object that is inserted again refers to nothing that the same save deletes`(type: MergePolicyType)
    throws
  {
    let world = try World(ships: 2, type)
    let (left, right) = (try World.ship(0, world.first), try World.ship(1, world.first))
    left.twin = right
    try world.first.save()
    world.second.refreshAllObjects()
    let mine = try World.ship(0, world.second)
    mine.name = "s2"
    world.first.delete(left)
    try world.first.save()
    world.second.refreshAllObjects()
    world.second.delete(try World.ship(1, world.second))
    try world.second.save()
    try world.check("\(type)")
    #expect(try World.state(world.container.newBackgroundContext()) == ["c0", "c1", "s2"])
  }

  @Test(arguments: policies, [PersistentStore.StoreType.log, .json])
  func `both sides of one-to-one relationships agree after any changes by two contexts`(
    type: MergePolicyType, kind: PersistentStore.StoreType
  ) throws {
    for seed in (0..<(kind == .log ? 50 : 12) as Range<UInt64>).sampled(every: 3) {
      var random = SplitMix64(seed: seed &* 31 &+ UInt64(type.rawValue))
      let isMerging = random.below(2) == 0
      let world = try World(
        ships: 4, captains: [0: 0, 1: 2], type, kind: kind, merging: isMerging)
      var log: [String] = []
      for _ in 0..<4 {
        for (name, context) in [("first", world.first), ("second", world.second)] {
          for _ in 0...random.below(2) {
            log.append(name + " " + (try context.performAndWait { try Self.change(context, &random) }))
          }
        }
        try world.first.performAndWait {
          do { try world.first.save() } catch is HeartwoodError { world.first.rollback() }
        }
        try world.second.performAndWait { try world.saveSecond() }
        log.append("saved")
        try world.check("seed \(seed), merging \(isMerging), \(log)")
        if isMerging {
          for context in [world.first, world.second] {
            #expect(
              try context.performAndWait { try World.state(context) }
                == World.state(world.container.newBackgroundContext()),
              "seed \(seed), \(context === world.first ? "first" : "second"), \(log)")
          }
        }
        if random.below(2) == 0 { world.first.performAndWait { world.first.refreshAllObjects() } }
        if random.below(2) == 0 { world.second.performAndWait { world.second.refreshAllObjects() } }
      }
      try world.container.close()
      try world.container.loadPersistentStores()
      try world.check("seed \(seed), opened again")
    }
  }

  private static func change(
    _ context: ManagedObjectContext, _ random: inout SplitMix64
  ) throws -> String {
    let ships = try context.fetch(Vessel.self, sort: [.ascending(\.name)]).filter { !$0.isDeleted }
    let captains = try context.fetch(Captain.self, sort: [.ascending(\.name)]).filter { !$0.isDeleted }
    let flags = try context.fetch(Flag.self, sort: [.ascending(\.name)]).filter { !$0.isDeleted }
    guard !ships.isEmpty, !captains.isEmpty else { return "nothing" }
    let (ship, captain) = (ships[random.below(ships.count)], captains[random.below(captains.count)])
    let (name, other) = (ship.name, captain.name)
    switch random.below(9) {
    case 0:
      captain.ship = ship
      return "\(other).ship = \(name)"
    case 1:
      ship.captain = captain
      return "\(name).captain = \(other)"
    case 2:
      captain.ship = nil
      return "\(other).ship = nil"
    case 3:
      context.delete(captain)
      return "delete \(other)"
    case 4:
      context.delete(ship)
      return "delete \(name)"
    case 5:
      let flag = Flag(context: context)
      flag.name = "f\(random.below(1000))"
      ship.flag = flag
      return "\(name).flag = new \(flag.name)"
    case 6:
      guard !flags.isEmpty else { return "nothing" }
      let flag = flags[random.below(flags.count)]
      ship.flag = flag
      return "\(name).flag = \(flag.name)"
    case 7:
      let twin = ships[random.below(ships.count)]
      ship.twin = twin
      return "\(name).twin = \(twin.name)"
    default:
      let new = Captain(context: context)
      new.name = "c\(10 + random.below(1000))"
      ship.captain = new
      return "\(name).captain = new \(new.name)"
    }
  }
}
