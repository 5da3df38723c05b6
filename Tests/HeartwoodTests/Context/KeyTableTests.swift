import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// The tables of a context beside dictionaries.
@Suite struct KeyTableTests {
  private struct Place: Hashable {
    let root: UInt16
    let key: UInt64
  }

  /// An identity map that closures may capture.
  private final class Table {
    var map = IdentityMap()
  }

  private static func entities() throws -> (ManagedObjectModel, [EntityDescription]) {
    let entities = ["Author", "Book"].map { EntityDescription(name: $0) }
    let model = ManagedObjectModel(entities: entities)
    try model.freeze()
    return (model, entities)
  }

  /// Keys in runs, as rows have them, some far away, and temporary ones.
  private static func key(_ random: inout SplitMix64) -> UInt64 {
    switch random.below(4) {
    case 0: UInt64(random.below(1 << 40))
    case 1: .temporaryKeyMark | UInt64(random.below(200))
    default: UInt64(random.below(400))
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `an identity map has the objects of a dictionary`(seed: UInt64) throws {
    print("identity map with seed \(seed)")
    var random = SplitMix64(seed: 0x6964_656e + seed)
    let (model, entities) = try Self.entities()
    defer { withExtendedLifetime(model) {} }
    let table = Table()
    var plain: [Place: ManagedObject] = [:]
    for step in 0..<3000 {
      let entity = entities[random.below(2)]
      let place = Place(root: entity.number, key: Self.key(&random))
      switch random.below(100) {
      case ..<70 where plain[place] == nil:
        let object = entity.makeObject()
        object.identifier = ManagedObjectID(entity: entity, key: place.key, store: .none)
        plain[place] = object
        table.map.insert(object, place.root, place.key)
      case ..<97:
        let gone = plain.keys.isEmpty || random.below(3) == 0 ? place : Self.any(of: plain, &random)
        plain[gone] = nil
        table.map.remove(gone.root, gone.key)
      case ..<99: Self.sweep(table, &plain, &random)
      default:
        table.map.removeAll()
        plain = [:]
      }
      let (count, objects) = (table.map.count, table.map.objects)
      try #require(count == plain.count && Set(objects) == Set(plain.values), "seed \(seed), step \(step)")
      let found = table.map.object(place.root, place.key)
      try #require(found === plain[place], "seed \(seed), step \(step)")
      table.map.checkInvariants()
    }
  }

  private static func any(of plain: [Place: ManagedObject], _ random: inout SplitMix64) -> Place {
    let places = plain.keys.sorted { ($0.root, $0.key) < ($1.root, $1.key) }
    return places[random.below(places.count)]
  }

  /// Releases some objects. Those with even keys stay in the map.
  private static func sweep(
    _ table: Table, _ plain: inout [Place: ManagedObject], _ random: inout SplitMix64
  ) {
    var released: [Place] = []
    for place in plain.keys where random.below(3) == 0 {
      released.append(place)
      plain[place] = nil
    }
    table.map.sweep { $0.identifier.key.isMultiple(of: 2) }
    for place in released where place.key.isMultiple(of: 2) {
      plain[place] = table.map.object(place.root, place.key)
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `a key map has the pairs of a dictionary`(seed: UInt64) throws {
    print("key map with seed \(seed)")
    var random = SplitMix64(seed: 0x6b65_796d + seed)
    var map = KeyMap()
    var plain: [UInt64: UInt64] = [:]
    for step in 0..<1000 {
      let temporary = .temporaryKeyMark | UInt64(random.below(600))
      let permanent = UInt64(random.below(1 << 30))
      switch random.below(20) {
      case 0: map.reserve(random.below(500))
      case 1:
        var other = KeyMap()
        other.insert(permanent, for: temporary)
        map.merge(other)
        plain[temporary] = plain[temporary] ?? permanent
      default:
        map.insert(permanent, for: temporary)
        plain[temporary] = permanent
      }
      let asked = .temporaryKeyMark | UInt64(random.below(600))
      try #require(map[asked] == plain[asked], "seed \(seed), step \(step)")
      try #require(map.permanent(asked) == plain[asked] ?? asked, "seed \(seed), step \(step)")
      try #require(map.permanent(permanent) == permanent && map.count == plain.count)
    }
  }
}
