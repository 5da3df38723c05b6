import Foundation
import Heartwood

@testable import HeartwoodPostgres

/// Every kind of derived attribute.
enum Derived {
  final class Homeland: ManagedObject {
    @Attribute var number: Int64 = 0
    @Attribute var name = ""
    @Relationship(inverse: { $0.country }) var bands: Set<Band>
  }

  final class Band: ManagedObject {
    @Attribute var number: Int64 = 0
    @Attribute var name = ""
    @Attribute(.indexed, derived: "canonical:(name)") var searchName = ""
    @Attribute(derived: "lowercase:(name)") var lowName = ""
    @Attribute(derived: "albums.@count") var albumCount: Int64 = 0
    @Attribute(.indexed, derived: "albums.@sum.price * 2") var doublePrice: Int64?
    @Attribute(derived: "albums.@max.price") var dearest: Int64?
    @Attribute(derived: "fans.@count") var fanCount: Int64?
    @Attribute(derived: "country.name") var countryName: String?
    @Attribute(derived: "now()") var saved: Date?
    @Relationship(inverse: { $0.bands }) var country: Homeland?
    @Relationship(inverse: { $0.band }, deleteRule: .cascade) var albums: Set<Disc>
    @Relationship(inverse: { $0.bands }) var fans: Set<Fan>
  }

  class Disc: ManagedObject {
    @Attribute var number: Int64 = 0
    @Attribute var price: Int64 = 0
    @Attribute(.indexed, derived: "uppercase:(band.country.name)") var origin: String?
    @Attribute(derived: "band.albums.@count") var siblings: Int64?
    @Relationship(inverse: { $0.albums }) var band: Band?
  }

  final class Single: Disc {
    @Attribute var side: String?
    @Attribute(derived: "price + 1") var more: Int64?
  }

  final class Fan: ManagedObject {
    @Attribute var number: Int64 = 0
    @Attribute(derived: "bands.@count") var bandCount: Int64 = 0
    @Relationship(inverse: { $0.fans }) var bands: Set<Band>
  }

  static let types: [ManagedObject.Type] = [
    Homeland.self, Band.self, Disc.self, Single.self, Fan.self,
  ]
}

/// A change of the graph that is the same for every kind of store.
struct DerivedStep {
  var random: SplitMix64
  var next: Int64 = 0

  private func any<Object: ManagedObject>(
    _ type: Object.Type, _ context: ManagedObjectContext, _ random: inout SplitMix64
  ) throws -> Object? {
    let all = try context.fetch(type).sorted {
      ($0.value(forKey: "number") as? Int64 ?? 0) < ($1.value(forKey: "number") as? Int64 ?? 0)
    }
    return all.randomElement(using: &random)
  }

  mutating func change(_ context: ManagedObjectContext) throws {
    let number = Int64.random(in: 0..<100, using: &random)
    next += 1
    switch Int.random(in: 0..<14, using: &random) {
    case 0:
      let country = Derived.Homeland(context: context)
      (country.number, country.name) = (next, "Ländchen \(number)")
    case 1:
      let band = Derived.Band(context: context)
      (band.number, band.name) = (next, "Bänd ΟΔΟΣ ß \(number)")
      band.country = try any(Derived.Homeland.self, context, &random)
    case 2, 3:
      let album = number % 2 == 0 ? Derived.Disc(context: context) : Derived.Single(context: context)
      (album.number, album.price) = (next, number)
      album.band = try any(Derived.Band.self, context, &random)
    case 4:
      let fan = try any(Derived.Fan.self, context, &random)
      fan?.bands = Set(
        [
          try any(Derived.Band.self, context, &random), try any(Derived.Band.self, context, &random),
        ].compactMap(\.self))
    case 5: Derived.Fan(context: context).number = next
    case 6: try any(Derived.Disc.self, context, &random)?.price = number
    case 7:
      let album = try any(Derived.Disc.self, context, &random)
      album?.band = try any(Derived.Band.self, context, &random)
    case 8: try any(Derived.Homeland.self, context, &random)?.name = "c\(number)"
    case 9:
      let band = try any(Derived.Band.self, context, &random)
      band?.country = try any(Derived.Homeland.self, context, &random)
    case 10: try any(Derived.Band.self, context, &random)?.name = "İ\(number)"
    case 11:
      let band = try any(Derived.Band.self, context, &random)
      band?.albumCount = 17
      band?.searchName = "nonsense"
    default:
      let victims: [ManagedObject?] = [
        try any(Derived.Band.self, context, &random), try any(Derived.Disc.self, context, &random),
        try any(Derived.Fan.self, context, &random), try any(Derived.Homeland.self, context, &random),
      ]
      if let victim = victims[Int(number % 4)] { context.delete(victim) }
    }
  }

  mutating func batch(_ context: ManagedObjectContext, into contexts: [ManagedObjectContext]) throws {
    let number = Int64.random(in: 0..<100, using: &random)
    next += 10
    switch Int.random(in: 0..<5, using: &random) {
    case 0:
      let update = BatchUpdateRequest(entityName: "Disc")
      update.predicate = try FormatPredicate("price < %@", number)
      update.propertiesToUpdate = ["price": try FormatExpression("price + 3")]
      try context.execute(update, mergingInto: contexts)
    case 1:
      let update = BatchUpdateRequest(entityName: "Disc")
      update.predicate = try FormatPredicate("price < %@", number)
      let band = try any(Derived.Band.self, context, &random)
      update.propertiesToUpdate = ["band": band?.objectID ?? NSNull() as Any]
      try context.execute(update, mergingInto: contexts)
    case 2:
      let update = BatchUpdateRequest(entityName: "Band")
      update.predicate = try FormatPredicate("number < %@", next / 2)
      update.propertiesToUpdate = ["name": "Größe \(number)"]
      try context.execute(update, mergingInto: contexts)
    case 3:
      let delete = BatchDeleteRequest(
        fetchRequest: FetchRequest<Derived.Fan>(where: { $0.number < number }))
      try context.execute(delete, mergingInto: contexts)
      let bands = BatchDeleteRequest(
        fetchRequest: FetchRequest<Derived.Band>(where: { $0.name.contains("7") }))
      try context.execute(bands, mergingInto: contexts)
    default:
      let band = try any(Derived.Band.self, context, &random)
      let rows = (0..<5).map { place -> [String: Any] in
        ["number": next - place, "price": number + place, "band": band?.objectID ?? NSNull() as Any]
      }
      try context.execute(BatchInsertRequest(entityName: "Single", objects: rows), mergingInto: contexts)
      let bands = (5..<8).map { ["number": next - $0, "name": "Né \($0)"] as [String: Any] }
      try context.execute(BatchInsertRequest(entityName: "Band", objects: bands), mergingInto: contexts)
    }
  }
}

/// All values of a store, by the numbers of the objects.
func derivedContents(_ context: ManagedObjectContext) throws -> [String] {
  var lines: [String] = []
  for band in try context.fetch(Derived.Band.self) {
    lines.append(
      "band \(band.number) \(band.name) \(band.searchName) \(band.lowName) \(band.albumCount) \(band.doublePrice ?? -1) "
        + "\(band.dearest ?? -1) \(band.fanCount ?? -1) \(band.countryName ?? "-") \(band.saved != nil)")
  }
  for album in try context.fetch(Derived.Disc.self) {
    lines.append(
      "disc \(album.number) \(album.price) \(album.origin ?? "-") \(album.siblings ?? -1) \(album.band?.number ?? -1) "
        + "\((album as? Derived.Single)?.more ?? -1)")
  }
  for fan in try context.fetch(Derived.Fan.self) { lines.append("fan \(fan.number) \(fan.bandCount)") }
  return lines.sorted()
}

/// Whether all derived values are what their expressions say, computed from the objects.
func wrongDerivedValues(_ context: ManagedObjectContext) throws -> [String] {
  var wrong: [String] = []
  func check(_ isRight: Bool, _ what: String) { if !isRight { wrong.append(what) } }
  for band in try context.fetch(Derived.Band.self) {
    let prices = band.albums.map(\.price)
    check(
      band.albumCount == Int64(prices.count), "albumCount \(band.number): \(band.albumCount), \(prices.count)"
    )
    check(band.doublePrice == prices.reduce(0, +) * 2, "doublePrice \(band.number)")
    check(band.dearest == prices.max(), "dearest \(band.number)")
    check(band.fanCount == Int64(band.fans.count), "fanCount \(band.number)")
    check(band.countryName == band.country?.name, "countryName \(band.number)")
  }
  for album in try context.fetch(Derived.Disc.self) {
    check(album.origin == album.band?.country?.name.uppercased(), "origin \(album.number)")
    check(
      album.siblings == Int64(album.band?.albums.count ?? 0),
      "siblings \(album.number): \(album.siblings ?? -1), \(album.band?.albums.count ?? -1)")
  }
  for fan in try context.fetch(Derived.Fan.self) {
    check(fan.bandCount == Int64(fan.bands.count), "bandCount \(fan.number)")
  }
  return wrong
}
