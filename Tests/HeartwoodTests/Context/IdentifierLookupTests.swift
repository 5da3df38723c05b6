import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

class Instrument: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.instruments }) var player: Player?
}

final class Violin: Instrument {
  @Attribute var strings: Int64 = 4
}

final class Horn: Instrument {
  @Attribute var tubes: Int64 = 3
}

final class Player: ManagedObject {
  @Attribute var name = ""
  @Attribute var pattern = ""
  @Attribute var mark = UUID()
  @Relationship(inverse: { $0.player }) var instruments: Set<Instrument>
}

@Suite struct `Objects by their identifiers` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let violin: ManagedObjectID

  init() throws {
    container = try PersistentContainer(
      name: "Orchestra", types: [Instrument.self, Violin.self, Horn.self, Player.self],
      at: URL(fileURLWithPath: "/dev/null"))
    context = container.newBackgroundContext()
    let violin = Violin(context: context)
    violin.name = "Amati"
    try context.save()
    self.violin = violin.objectID
  }

  /// Puts other bytes in the place of the violin's row; returns the former ones.
  private func replaceRow(_ bytes: [UInt8]?) throws -> [UInt8] {
    let store = try #require(container.persistentStoreCoordinator.objectStore as? LogStore)
    let root = violin.entity.rootEntity
    let former = try Array(#require(try store.view().row(root, violin.key)).bytes)
    try store.engine.write { try $0.put(KeySpace.rowKey(root.number, violin.key), bytes ?? [1, 2, 3]) }
    return former
  }

  // Findings: a failed read registers a fault of the superentity
  @Test func `an object whose row could not be read comes in its own class once it can be read`() throws {
    let row = try replaceRow(nil)
    let instrument = try #require(container.managedObjectModel.entitiesByName["Instrument"])
    let other = container.newBackgroundContext()
    let identifier = ManagedObjectID(entity: instrument, key: violin.key, store: violin.store)
    let broken = other.object(with: identifier)
    #expect(heartwoodError { _ = try other.fetch(Player.self) }?.code == .persistentStoreDamaged)
    _ = try replaceRowWithoutReading(row)
    other.refresh(broken, mergeChanges: false)
    let found = try #require(try other.fetch(Instrument.self).first)
    #expect(found is Violin && found.name == "Amati")
    #expect(try other.existingObject(with: identifier) === found)
    found.name = "Guarneri"
    try other.save()
  }

  private func replaceRowWithoutReading(_ bytes: [UInt8]) throws {
    let store = try #require(container.persistentStoreCoordinator.objectStore as? LogStore)
    try store.engine.write {
      try $0.put(KeySpace.rowKey(violin.entity.rootEntity.number, violin.key), bytes)
    }
  }

  // Findings: a URI with the entity of a sibling makes an object of the wrong class
  @Test func `an identifier with the entity of a sibling leads to the object's own class by a fetch`() throws
  {
    let horn = try #require(container.managedObjectModel.entitiesByName["Horn"])
    let other = container.newBackgroundContext()
    let wrong = other.object(with: ManagedObjectID(entity: horn, key: violin.key, store: violin.store))
    #expect(wrong is Horn)
    let found = try #require(try other.fetch(Violin.self).first)
    #expect(found.name == "Amati" && found.strings == 4)
    #expect(wrong.managedObjectContext == nil)
    found.name = "Guarneri"
    try other.save()

    let third = container.newBackgroundContext()
    let touched = try #require(
      third.object(with: ManagedObjectID(entity: horn, key: violin.key, store: violin.store)) as? Horn)
    #expect(touched.tubes == 3)
    let error = heartwoodError { try third.save() }
    #expect(error?.message.contains("names Horn, but the row is one of Violin") == true)
    third.refresh(touched, mergeChanges: false)
    #expect(try third.fetch(Violin.self).map(\.name) == ["Guarneri"])
    try third.save()
  }

  // Findings: object(with:) takes any temporary identifier
  @Test func `a temporary identifier of another context leads to an inaccessible object`() throws {
    let player = Player(context: context)
    player.name = "Ida"
    let other = container.newBackgroundContext()
    let stranger = try #require(other.object(with: player.objectID) as? Player)
    #expect(stranger.isFault && !stranger.isInserted)
    #expect(stranger.name == "" && stranger.isDeleted)
    #expect(throws: HeartwoodError.self) { try other.existingObject(with: player.objectID) }
    try other.save()
    #expect(stranger.managedObjectContext == nil)
    let again = try #require(other.object(with: player.objectID) as? Player)
    again.name = "Eva"
    #expect(again.isDeleted && !again.isUpdated)
    try other.save()
    #expect(try other.count(Player.self) == 0)
  }

  @Test func `an object without a row is shown once its row is read`() throws {
    for way in ["fetch", "refresh", "refreshAll", "merge", "pin", "existing"] {
      let (writer, reader) = (container.newBackgroundContext(), container.newBackgroundContext())
      if way == "pin" { try reader.setQueryGenerationFrom(.current) }
      _ = try reader.fetch(Player.self)
      let player = Player(context: writer)
      player.name = way
      try writer.obtainPermanentIDs(for: [player])
      if way == "pin" { try writer.save() }
      let found = reader.object(with: player.objectID, as: Player.self)
      #expect(found.name == "" && found.isDeleted)
      let lone = Player(context: reader)
      lone.name = "lone"
      if way != "pin" { try writer.save() }
      switch way {
      case "refresh": reader.refresh(found, mergeChanges: false)
      case "refreshAll": reader.refreshAllObjects()
      case "pin": try reader.setQueryGenerationFrom(nil)
      case "merge":
        reader.mergeChanges(
          fromContextDidSave: Notification(
            name: .managedObjectContextDidSave, userInfo: ["inserted": [player.objectID]]))
        #expect(found.name == way)
      case "existing": #expect(try reader.existingObject(with: player.objectID) === found)
      default: break
      }
      let all = try reader.fetch(Player.self, where: { $0.name == way })
      #expect(all == [found] && found.name == way && !found.isDeleted, "\(way)")
      let horn = Horn(context: reader)
      horn.player = found
      try reader.save()
      #expect(try container.newBackgroundContext().count(Horn.self, where: { $0.player.name == way }) == 1)
    }
  }

  @Test func `a new object takes the place of one that was made for its identifier`() throws {
    for (obtains, reads) in [(false, false), (false, true), (true, false), (true, true)] {
      let known = Player(context: context)
      try context.save()
      let next = ManagedObjectID(
        entity: known.entity, key: known.objectID.key + 1, store: known.objectID.store)
      let stranger = context.object(with: next, as: Player.self)
      if reads { #expect(stranger.name == "" && stranger.isDeleted) }
      let player = Player(context: context)
      player.name = "Ida"
      if obtains { try context.obtainPermanentIDs(for: [player]) }
      try context.save()
      #expect(player.objectID == next && stranger.managedObjectContext == nil)
      #expect(context.object(with: next) === player)
      player.name = "Eva"
      try context.save()
      #expect(try context.count(Player.self, where: { $0.name == "Eva" }) == 1)
      context.delete(player)
      try context.save()
    }
  }

  // Findings: free objects show the default of the prototype
  @Test func `a default that is made for each object is one for an object without a context, too`() throws {
    let entity = try #require(container.managedObjectModel.entitiesByName["Player"])
    let free = (0..<3).map { _ in Player(entity: entity, insertInto: nil) }
    let marks = free.map(\.mark)
    #expect(Set(marks).count == 3)
    #expect(free.map(\.mark) == marks)
    free.forEach(context.insert)
    #expect(free.map(\.mark) == marks)
    try context.save()
    let fresh = container.newBackgroundContext()
    #expect(try Set(fresh.fetch(Player.self).map(\.mark)) == Set(marks))
  }

  // Findings: objectIDs of a to-one after obtainPermanentIDs
  @Test func `the identifier of a to-one destination is the permanent one once that is obtained`() throws {
    let player = Player(context: context)
    let horn = Horn(context: context)
    horn.player = player
    try context.obtainPermanentIDs(for: [player])
    #expect(horn.objectIDs(forRelationshipNamed: "player") == [player.objectID])
    #expect(!player.objectID.isTemporaryID)
  }

  // Findings: a pattern of MATCHES that cannot be read is false
  @Test func `a pattern from another property that is no regular expression is an error`() throws {
    for (name, pattern) in [("Ida", "I.a"), ("Eva", "X.*")] {
      let player = Player(context: context)
      (player.name, player.pattern) = (name, pattern)
    }
    let request = FetchRequest<Player>()
    request.predicate = try FormatPredicate("name MATCHES pattern")
    #expect(try context.fetch(request).map(\.name) == ["Ida"])
    try context.save()
    #expect(try context.fetch(request).map(\.name) == ["Ida"])
    let broken = Player(context: context)
    (broken.name, broken.pattern) = ("Ada", "(")
    #expect(heartwoodError { _ = try context.fetch(request) }?.message.contains("regular expression") == true)
    try context.save()
    #expect(heartwoodError { _ = try context.fetch(request) }?.message.contains("regular expression") == true)
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `relationships lead to objects that get their identifiers at any time`(seed: UInt64) throws {
    var random = Randomness(seed: seed)
    let albums = try PersistentContainer(
      name: "Albums", types: [Artist.self, Album.self, Track.self], at: URL(filePath: "/dev/null"))
    let context = albums.newBackgroundContext()
    var (homes, all): ([Track: Album], [Album]) = ([:], [])
    var (tracks, artists): ([Track], [Album: Artist]) = ([], [:])
    func pick<Object>(_ objects: [Object]) -> Object? {
      objects.isEmpty ? nil : objects[random.below(objects.count)]
    }
    for step in 0..<200 {
      switch random.below(9) {
      case 0:
        all.append(Album(context: context))
      case 1:
        tracks.append(Track(context: context))
      case 2:
        let artist = Artist(context: context)
        artist.name = "\(step)"
        if let album = all.last {
          artist.albums.insert(album)
          artists[album] = artist
        }
      case 3, 4:
        guard let track = pick(tracks), let album = pick(all) else { continue }
        track.album = album
        homes[track] = album
      case 5:
        guard let track = pick(tracks) else { continue }
        track.album = nil
        homes[track] = nil
      case 6:
        guard let track = pick(tracks), let album = pick(all) else { continue }
        album.$tracks.insert(track, at: random.below(album.$tracks.count + (homes[track] === album ? 0 : 1)))
        homes[track] = album
      case 7:
        let new = context.insertedObjects.sorted { $0.objectID.key < $1.objectID.key }
        try context.obtainPermanentIDs(for: new.filter { _ in random.below(4) == 0 })
      default:
        if random.below(4) == 0 { try context.save() }
      }
      for album in all {
        let expected = Set(homes.filter { $0.value === album }.keys)
        #expect(Set(album.tracks) == expected, "seed \(seed), step \(step)")
        #expect(album.tracks.map(\.objectID) == album.$tracks.objectIDs, "seed \(seed), step \(step)")
        #expect(album.artist === artists[album], "seed \(seed), step \(step)")
      }
    }
    try context.save()
    let reader = albums.newBackgroundContext()
    for album in all {
      let read = try reader.existingObject(with: album.objectID, as: Album.self)
      #expect(read.tracks.map(\.objectID) == album.tracks.map(\.objectID), "seed \(seed)")
    }
  }
}
