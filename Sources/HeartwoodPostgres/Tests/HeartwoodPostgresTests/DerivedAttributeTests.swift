import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

@Suite struct `Derived attributes in PostgreSQL` {
  private static func log() throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Derived", managedObjectModel: try ManagedObjectModel(types: Derived.types))
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.type = .inMemory
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  @Test
  func `the saved objects have their derived values when the save returns, also for others that read them`()
    throws
  {
    let world = try PostgresWorld(types: Derived.types)
    let context = world.context()
    let country = Derived.Homeland(context: context)
    country.name = "Iceland"
    let band = Derived.Band(context: context)
    (band.name, band.country) = ("Mötley Crüe", country)
    for price in [10, 20] {
      let album = Derived.Disc(context: context)
      (album.price, album.band) = (Int64(price), band)
    }
    try context.save()
    #expect(band.searchName == "motley crue" && band.albumCount == 2 && band.doublePrice == 60)
    #expect(band.dearest == 20 && band.fanCount == 0 && band.countryName == "Iceland")
    #expect(band.albums.allSatisfy { $0.origin == "ICELAND" && $0.siblings == 2 } && !context.hasChanges)
    #expect(band.saved.map { abs($0.timeIntervalSinceNow) < 3600 } == true)
    let elsewhere = try PostgresWorld(at: world.url, types: Derived.types)
    let other = elsewhere.context()
    let identifier = try #require(
      elsewhere.container.persistentStoreCoordinator.managedObjectID(
        forURIRepresentation: band.objectID.uriRepresentation()))
    let mine = try #require(other.object(with: identifier) as? Derived.Band)
    mine.name = "ABBA"
    country.name = "Norway"
    let album = Derived.Single(context: context)
    (album.price, album.band) = (5, band)
    try context.save()
    #expect(band.albumCount == 3 && band.countryName == "Norway" && album.origin == "NORWAY")
    // Another value of a derived attribute is no conflict.
    try other.save()
    #expect(mine.albumCount == 3 && mine.countryName == "Norway" && mine.searchName == "abba")
    #expect(try other.count(Derived.Disc.self, where: { $0.origin == "NORWAY" }) == 3)
    let update = BatchUpdateRequest(entityName: "Disc")
    update.propertiesToUpdate = ["price": try FormatExpression("price * 10")]
    try context.execute(update, mergingInto: [context])
    #expect(band.doublePrice == 700 && band.dearest == 200 && album.more == 51)
    let delete = BatchDeleteRequest(fetchRequest: FetchRequest<Derived.Disc>(where: { $0.price == 200 }))
    try context.execute(delete, mergingInto: [context])
    #expect(band.albumCount == 2 && band.doublePrice == 300 && album.siblings == 2)
    #expect(try wrongDerivedValues(world.context()) == [])
  }

  @Test(arguments: 0..<3)
  func `random saves and batches give the same values as the log store`(seed: UInt64) throws {
    let url = try PostgresServer.shared.get().url()
    let worlds = try (0..<2).map { _ in try PostgresWorld(at: url, types: Derived.types) }
    let log = try Self.log()
    let stores = [
      worlds.map { $0.context() }, (0..<2).map { _ in log.newBackgroundContext() },
    ]
    var step = DerivedStep(random: SplitMix64(seed: 0xd05 + seed))
    for number in 0..<70 {
      let actor = Int.random(in: 0..<2, using: &step.random)
      let count = Int.random(in: 1...4, using: &step.random)
      var after = step
      for contexts in stores {
        after = step
        let context = contexts[actor]
        for _ in 0..<count { try after.change(context) }
        try context.save()
        if number % 4 == 3 { try after.batch(context, into: [context]) }
        for context in contexts { context.refreshAllObjects() }
      }
      step = after
      let expected = try derivedContents(log.newBackgroundContext())
      for context in [worlds[1 - actor].context(), stores[0][actor]] {
        let difference = try derivedContents(context).difference(from: expected).map { "\($0)" }
        try #require(difference == [], "seed \(seed), step \(number)")
      }
    }
    let wrong = try wrongDerivedValues(worlds[0].context())
    #expect(wrong == [])
    #expect(try wrongDerivedValues(log.newBackgroundContext()) == [])
    #expect(try !worlds[0].context().fetch(Derived.Disc.self).isEmpty)
  }

  @Test func `values are right after saves of several connections at the same time`() throws {
    let url = try PostgresServer.shared.get().url()
    let world = try PostgresWorld(at: url, types: Derived.types)
    let context = world.context()
    for number in 0..<3 {
      let country = Derived.Homeland(context: context)
      (country.number, country.name) = (Int64(number), "C\(number)")
      let (band, fan) = (Derived.Band(context: context), Derived.Fan(context: context))
      (band.number, band.country, fan.number) = (Int64(number), country, Int64(number))
    }
    try context.save()
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        let context = try PostgresWorld(at: url, types: Derived.types).context()
        context.mergePolicy = .mergeByPropertyObjectTrump
        var step = DerivedStep(random: SplitMix64(seed: UInt64(thread)), next: Int64(thread) * 10000)
        for _ in 0..<25 {
          do {
            try step.change(context)
            try step.change(context)
            try context.save()
          } catch let error as HeartwoodError
            where error.code == .managedObjectReferentialIntegrity || error.isDeadlock
          {
            // An object that others have deleted meanwhile.
            context.rollback()
          }
          context.refreshAllObjects()
        }
      } catch {
        failures.add("\(error)")
      }
    }
    #expect(failures.all == [])
    #expect(try wrongDerivedValues(world.context()) == [])
  }

  @Test func `a migration computes derived attributes that are new or have another expression`() throws {
    let first = try PostgresWorld(types: [Plain.Shop.self, Plain.Ware.self])
    let context = first.context()
    for number in 0..<1200 {
      let shop = Plain.Shop(context: context)
      shop.name = "Shop \(number)"
      let ware = Plain.Ware(context: context)
      (ware.price, ware.shop) = (Int64(number), shop)
    }
    try context.save()
    try first.container.close()
    let second = try PostgresWorld(at: first.url, types: [WithDerived.Shop.self, WithDerived.Ware.self])
    let reading = second.context()
    let shops = try reading.fetch(WithDerived.Shop.self)
    #expect(shops.count == 1200)
    #expect(shops.allSatisfy { $0.key == $0.name.lowercased() && $0.worth == $0.wares.first?.price })
    try second.container.close()
    let third = try PostgresWorld(at: first.url, types: [WithOthers.Shop.self, WithOthers.Ware.self])
    #expect(
      try third.context().count(WithOthers.Shop.self, where: { $0.key == "SHOP 77" && $0.worth == 1 }) == 1)
    #expect(try third.context().count(WithOthers.Shop.self, where: { $0.worth == 1 }) == 1200)
  }
}

final class Failures: @unchecked Sendable {
  private let lock = NSLock()
  private var found: [String] = []
  var all: [String] { lock.withLock { found } }
  func add(_ text: String) { lock.withLock { found.append(text) } }
}

extension HeartwoodError {
  fileprivate var isDeadlock: Bool { message.contains("save again") }
}

private enum Plain {
  final class Shop: ManagedObject {
    @Attribute var name = ""
    @Relationship(inverse: { $0.shop }) var wares: Set<Ware>
  }
  final class Ware: ManagedObject {
    @Attribute var price: Int64 = 0
    @Relationship(inverse: { $0.wares }) var shop: Shop?
  }
}

private enum WithDerived {
  final class Shop: ManagedObject {
    @Attribute var name = ""
    @Attribute(.indexed, derived: "lowercase:(name)") var key = ""
    @Attribute(derived: "wares.@sum.price") var worth: Int64 = 0
    @Relationship(inverse: { $0.shop }) var wares: Set<Ware>
  }
  final class Ware: ManagedObject {
    @Attribute var price: Int64 = 0
    @Relationship(inverse: { $0.wares }) var shop: Shop?
  }
}

private enum WithOthers {
  final class Shop: ManagedObject {
    @Attribute var name = ""
    @Attribute(.indexed, derived: "uppercase:(name)") var key = ""
    @Attribute(derived: "wares.@count") var worth: Int64 = 0
    @Relationship(inverse: { $0.shop }) var wares: Set<Ware>
  }
  final class Ware: ManagedObject {
    @Attribute var price: Int64 = 0
    @Relationship(inverse: { $0.wares }) var shop: Shop?
  }
}
