import Foundation
import GraphTestSupport
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood

private final class Homeland: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.country }) var bands: Set<Band>
}

private final class Band: ManagedObject {
  @Attribute var name = ""
  @Attribute(.indexed, derived: "canonical:(name)") var searchName = ""
  @Attribute(derived: "albums.@count") var albumCount: Int64 = 0
  @Attribute(.indexed, derived: "albums.@sum.price * 2") var doublePrice: Int64?
  @Attribute(derived: "albums.@max.price") var dearest: Int64?
  // The property before the function, as Apple's models have it.
  @Attribute(derived: "albums.price.@sum") var total: Int64?
  @Attribute(derived: "fans.@count") var fanCount: Int64?
  @Attribute(derived: "country.name") var countryName: String?
  @Attribute(derived: "now()") var saved: Date?
  @Attribute(derived: "now()") var savedSeconds: Double?
  @Attribute(derived: "now()") var savedWholeSeconds: Int64?
  @Relationship(inverse: { $0.bands }) var country: Homeland?
  @Relationship(inverse: { $0.band }, deleteRule: .cascade) var albums: Set<Disc>
  @Relationship(inverse: { $0.bands }) var fans: Set<Fan>
}

private final class Disc: ManagedObject {
  @Attribute var title = ""
  @Attribute var price: Int64 = 0
  @Attribute(.indexed, derived: "uppercase:(band.country.name)") var origin: String?
  @Relationship(inverse: { $0.albums }) var band: Band?
}

private final class Fan: ManagedObject {
  @Attribute var name = ""
  @Attribute(derived: "bands.@count") var bandCount: Int64 = 0
  @Relationship(inverse: { $0.fans }) var bands: Set<Band>
}

private let types: [ManagedObject.Type] = [Homeland.self, Band.self, Disc.self, Fan.self]

// MOD-47, MOD-48, BAT-15
@Suite struct `Derived attributes` {
  private let folder: TemporaryFolder
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    container = try PersistentContainer(name: "Bands", types: types, at: folder.store)
    context = container.newBackgroundContext()
  }

  private func makeBand(_ name: String, prices: [Int64] = [], in country: String? = nil) -> Band {
    let band = Band(context: context)
    band.name = name
    for price in prices { makeAlbum(of: band, price) }
    if let country {
      let made = Homeland(context: context)
      made.name = country
      band.country = made
    }
    return band
  }

  @discardableResult
  private func makeAlbum(of band: Band, _ price: Int64) -> Disc {
    let album = Disc(context: context)
    (album.price, album.band) = (price, band)
    return album
  }

  @Test func `the saved objects have their derived values when the save returns`() throws {
    let band = makeBand("Mötley Crüe", prices: [10, 20], in: "Iceland")
    #expect(band.albumCount == 0 && band.searchName.isEmpty)
    try context.save()
    #expect(band.searchName == "motley crue" && band.albumCount == 2 && band.doublePrice == 60)
    #expect(band.dearest == 20 && band.total == 30 && band.fanCount == 0 && band.countryName == "Iceland")
    #expect(band.albums.allSatisfy { $0.origin == "ICELAND" } && !context.hasChanges)
    #expect(band.saved.map { abs($0.timeIntervalSinceNow) < 3600 } == true)
    // As in a column of numbers of Apple's stores.
    #expect(band.savedSeconds == band.saved?.timeIntervalSinceReferenceDate)
    #expect(band.savedWholeSeconds == band.savedSeconds.map { Int64($0) })
  }

  @Test func `an object has new derived values when others that it reads are saved, without a conflict`()
    throws
  {
    let band = makeBand("Abba", prices: [10], in: "Sweden")
    try context.save()
    let other = container.newBackgroundContext()
    let mine = try #require(other.object(with: band.objectID) as? Band)
    mine.name = "ABBA"
    let album = makeAlbum(of: band, 5)
    band.country?.name = "Norway"
    let saved = Heard(context, .managedObjectContextDidSaveObjectIDs)
    try context.save()
    #expect(band.albumCount == 2 && band.countryName == "Norway" && album.origin == "NORWAY")
    let identifiers = ObjectIDChanges(userInfo: try #require(saved.notifications.last?.userInfo))
    #expect(identifiers.updatedObjectIDs.isSuperset(of: [band.objectID]))
    try other.save()
    #expect(mine.albumCount == 2 && mine.countryName == "Norway" && mine.searchName == "abba")
    let fresh = container.newBackgroundContext()
    #expect(try fresh.fetch(Disc.self, where: { $0.origin == "NORWAY" }).count == 2)
    #expect(try fresh.count(Band.self, where: { $0.doublePrice == 30 && $0.searchName == "abba" }) == 1)
  }

  @Test(arguments: [PersistentStore.StoreType.binary, .json, .xml])
  func `stores that are one file keep derived values`(type: PersistentStore.StoreType) throws {
    func open() throws -> PersistentContainer {
      let opened = PersistentContainer(name: "Bands", managedObjectModel: container.managedObjectModel)
      let description = PersistentStoreDescription(
        url: folder.url.appendingPathComponent("bands.\(type.rawValue)"))
      description.type = type
      opened.persistentStoreDescriptions = [description]
      try opened.loadPersistentStores()
      return opened
    }
    let first = try open()
    let writing = first.newBackgroundContext()
    let band = Band(context: writing)
    band.name = "Ärzte"
    for price in [3, 4] {
      let disc = Disc(context: writing)
      (disc.price, disc.band) = (Int64(price), band)
    }
    try writing.save()
    let saved = try #require(band.saved)
    #expect(band.searchName == "arzte" && band.doublePrice == 14)
    try first.close()
    let second = try open()
    let reading = second.newBackgroundContext()
    let found = try #require(try reading.fetch(Band.self, where: { $0.searchName == "arzte" }).first)
    #expect(found.doublePrice == 14 && found.albumCount == 2 && found.saved == saved)
    found.name = "Die Ärzte"
    try reading.save()
    #expect(found.searchName == "die arzte")
    try second.close()
  }

  @Test(arguments: 0..<3)
  func `an incremental store keeps derived values by what Heartwood computes for it`(seed: UInt64) throws {
    let world = try DictionaryWorld(types: types)
    var random = SplitMix64(seed: 0x1de + seed)
    let contexts = (0..<2).map { _ in world.context() }
    for context in contexts { context.mergePolicy = .mergeByPropertyObjectTrump }
    for step in 0..<40 {
      let context = contexts[Int.random(in: 0..<2, using: &random)]
      for _ in 0..<Int.random(in: 1...4, using: &random) { try change(context, &random) }
      do {
        try context.save()
      } catch {
        context.rollback()
      }
      try check(context, "seed \(seed), step \(step), saving context")
      for context in contexts { context.refreshAllObjects() }
      try check(world.context(), "seed \(seed), step \(step)")
    }
    #expect(try world.context().fetch(Band.self).contains { $0.saved != nil && $0.albumCount > 0 })
  }

  @Test func `a value that the program sets is replaced by the derived one`() throws {
    let band = makeBand("Abba", prices: [1])
    try context.save()
    band.albumCount = 17
    band.searchName = "nonsense"
    try context.save()
    #expect(band.albumCount == 1 && band.searchName == "abba")
  }

  @Test func `the history names derived attributes that have changed, and each object once`() throws {
    let band = makeBand("Abba", prices: [1])
    try context.save()
    let token = try #require(container.persistentStoreCoordinator.currentPersistentHistoryToken())
    makeAlbum(of: band, 2)
    band.name = "B"
    try context.save()
    let history = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token))
    let changes = history.transactions.flatMap { $0.changes ?? [] }.filter {
      $0.changedObjectID == band.objectID
    }
    #expect(changes.count == 1)
    let names = Set(changes.first?.updatedProperties?.map(\.name) ?? [])
    #expect(names.isSuperset(of: ["name", "searchName", "albumCount", "doublePrice", "dearest"]))
  }

  @Test func `batch requests keep derived values, and cannot set them`() throws {
    let band = makeBand("Abba", prices: [1, 2])
    try context.save()
    let update = BatchUpdateRequest(entityName: "Disc")
    update.propertiesToUpdate = ["price": try FormatExpression("price * 10")]
    try context.execute(update, mergingInto: [context])
    #expect(band.doublePrice == 60 && band.dearest == 20)
    let delete = BatchDeleteRequest(fetchRequest: FetchRequest<Disc>(where: { $0.price == 20 }))
    try context.execute(delete, mergingInto: [context])
    #expect(band.albumCount == 1 && band.doublePrice == 20)
    let wrong = BatchUpdateRequest(entityName: "Band")
    wrong.propertiesToUpdate = ["albumCount": 3]
    #expect(heartwoodError { try context.execute(wrong) }?.message.contains("derived") == true)
  }

  @Test(arguments: [
    ("discs.@sum.title", "needs numbers"), ("discs.title", "no attribute"), ("nothing", "no property"),
    ("discs.@count + random()", "alone only"), ("discCount + 1", "derived itself"), ("name", "is a text"),
    ("", "set its"), ("idol.name", "no inverse"),
    ("SUBQUERY(discs, $a, $a.price > 1).@count", "without a condition"),
  ])
  func `a model whose derivation is wrong is refused with the reason`(expression: String, reason: String)
    throws
  {
    let band = EntityDescription(
      name: "Band",
      properties: [
        AttributeDescription(name: "name", type: .string),
        DerivedAttributeDescription(
          name: "discCount", type: .integer64, derivationExpression: "discs.@count"),
        DerivedAttributeDescription(name: "wrong", type: .integer64, derivationExpression: expression),
      ])
    let disc = EntityDescription(
      name: "Disc",
      properties: [
        AttributeDescription(name: "title", type: .string),
        AttributeDescription(name: "price", type: .integer64),
      ])
    let discs = RelationshipDescription(name: "discs", destination: disc, isToMany: true)
    let back = RelationshipDescription(name: "band", destination: band, isToMany: false)
    (discs.inverseRelationship, back.inverseRelationship) = (back, discs)
    let idol = RelationshipDescription(name: "idol", destination: band, isToMany: false)
    band.ownProperties += [discs, idol]
    disc.ownProperties.append(back)
    let model = ManagedObjectModel(entities: [band, disc])
    let error = heartwoodError { _ = try PersistentStoreCoordinator(checking: model) }
    #expect(
      error?.message.contains(reason) == true && error?.message.contains("Band.wrong") == true,
      "\(error as Any)")
  }

  @Test func `a model keeps its derivations in a store and in a file of Xcode`() throws {
    let model = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.store)
    #expect(model.entitiesByName["Band"]?.attributesByName["searchName"]?.derivation == "canonical:(name)")
    let file = folder.url.appendingPathComponent("Bands.xcdatamodel")
    try model.writeXcodeModel(to: file)
    let read = try ManagedObjectModel(contentsOf: file)
    #expect(
      read.entitiesByName["Disc"]?.attributesByName["origin"]?.derivation == "uppercase:(band.country.name)")
    #expect(read.versionChecksum == model.versionChecksum)
  }

  @Test(arguments: 0..<4)
  func `random changes of several contexts and batches keep all derived values`(seed: UInt64) throws {
    var random = SplitMix64(seed: 0xde51 + seed)
    let contexts = (0..<2).map { _ in container.newBackgroundContext() }
    for context in contexts {
      context.mergePolicy = .mergeByPropertyObjectTrump
      context.automaticallyMergesChangesFromParent = seed % 2 == 0
    }
    for step in 0..<60 {
      let context = contexts[Int.random(in: 0..<2, using: &random)]
      try context.performAndWait {
        for _ in 0..<Int.random(in: 1...4, using: &random) { try change(context, &random) }
        do {
          try context.save()
        } catch {
          context.rollback()
        }
        context.refreshAllObjects()
      }
      if step % 7 == 0 {
        let update = BatchUpdateRequest(entityName: "Disc")
        update.predicate = try FormatPredicate("price < %@", Int64.random(in: 0..<50, using: &random))
        update.propertiesToUpdate = ["price": try FormatExpression("price + 3")]
        try container.newBackgroundContext().execute(update, mergingInto: contexts)
      }
      try check(container.newBackgroundContext(), "seed \(seed), step \(step)")
      try context.performAndWait { try check(context, "seed \(seed), step \(step), saving context") }
    }
    #expect(try container.persistentStoreCoordinator.verify().findings == [])
    try container.persistentStoreCoordinator.close()
    let reopened = try PersistentContainer(name: "Bands", types: types, at: folder.store)
    try check(reopened.newBackgroundContext(), "seed \(seed), reopened")
  }

  private func change(_ context: ManagedObjectContext, _ random: inout SplitMix64) throws {
    func any<Object: ManagedObject>(_ type: Object.Type) throws -> Object? {
      let all = try context.fetch(type).sorted { $0.objectID.key < $1.objectID.key }
      return all.randomElement(using: &random)
    }
    let number = Int64.random(in: 0..<100, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0: Homeland(context: context).name = "C\(number)"
    case 1:
      let band = Band(context: context)
      (band.name, band.country) = ("Bänd \(number)", try any(Homeland.self))
    case 2, 3:
      let album = Disc(context: context)
      (album.price, album.band) = (number, try any(Band.self))
    case 4: try any(Fan.self)?.bands = Set([try any(Band.self), try any(Band.self)].compactMap { $0 })
    case 5: Fan(context: context).name = "F"
    case 6: try any(Disc.self)?.price = number
    case 7: try any(Disc.self)?.band = try any(Band.self)
    case 8: try any(Homeland.self)?.name = "c\(number)"
    case 9: try any(Band.self)?.country = try any(Homeland.self)
    case 10: try any(Band.self)?.name = "B\(number)"
    default:
      let victims: [ManagedObject?] = [
        try any(Band.self), try any(Disc.self), try any(Fan.self), try any(Homeland.self),
      ]
      if let victim = victims[Int(number % 4)] { context.delete(victim) }
    }
  }

  private func check(_ context: ManagedObjectContext, _ place: String) throws {
    for band in try context.fetch(Band.self) {
      let prices = band.albums.map(\.price)
      #expect(band.albumCount == Int64(prices.count), "\(place)")
      #expect(band.doublePrice == prices.reduce(0, +) * 2 && band.dearest == prices.max(), "\(place)")
      #expect(band.fanCount == Int64(band.fans.count) && band.countryName == band.country?.name, "\(place)")
      #expect(
        band.searchName
          == band.name.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil), "\(place)")
    }
    for album in try context.fetch(Disc.self) {
      #expect(album.origin == album.band?.country?.name.uppercased(), "\(place)")
    }
    for fan in try context.fetch(Fan.self) {
      #expect(fan.bandCount == Int64(fan.bands.count), "\(place)")
    }
  }
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

extension `Derived attributes` {
  @Test func `a migration computes derived attributes that are new or have another expression`() throws {
    let place = folder.url.appendingPathComponent("shops")
    let first = try PersistentContainer(
      name: "Shops", types: [Plain.Shop.self, Plain.Ware.self], at: place)
    let context = first.newBackgroundContext()
    for number in 0..<2500 {
      let shop = Plain.Shop(context: context)
      shop.name = "Shop \(number)"
      let ware = Plain.Ware(context: context)
      (ware.price, ware.shop) = (Int64(number), shop)
    }
    try context.save()
    try first.persistentStoreCoordinator.close()
    let second = try PersistentContainer(
      name: "Shops", types: [WithDerived.Shop.self, WithDerived.Ware.self], at: place)
    let reading = second.newBackgroundContext()
    let shops = try reading.fetch(WithDerived.Shop.self)
    #expect(shops.count == 2500)
    #expect(shops.allSatisfy { $0.key == $0.name.lowercased() && $0.worth == $0.wares.first?.price })
    #expect(
      try second.newBackgroundContext().count(WithDerived.Shop.self, where: { $0.key == "shop 77" }) == 1)
    #expect(try second.persistentStoreCoordinator.verify().findings == [])
    try second.persistentStoreCoordinator.close()
    let third = try PersistentContainer(
      name: "Shops", types: [WithOthers.Shop.self, WithOthers.Ware.self], at: place)
    let again = third.newBackgroundContext()
    #expect(try again.count(WithOthers.Shop.self, where: { $0.key == "SHOP 77" && $0.worth == 1 }) == 1)
    #expect(try again.count(WithOthers.Shop.self, where: { $0.key == "shop 77" }) == 0)
    #expect(try third.persistentStoreCoordinator.verify().findings == [])
  }
}
