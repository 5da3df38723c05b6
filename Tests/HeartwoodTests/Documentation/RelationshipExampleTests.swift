import Foundation
import Heartwood
import Testing

final class Playlist: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.playlists }) var songs: [Song]
  @Relationship(inverse: { $0.playlist }, deleteRule: .cascade) var remarks: Set<Remark>
  @Relationship(inverse: { $0.owned }, count: .required) var owner: Listener?
}

final class Song: ManagedObject {
  @Attribute var title = ""
  @Relationship(inverse: { $0.songs }) var playlists: Set<Playlist>

  override class var fetchedProperties: [FetchedPropertyDescription] {
    let request = FetchRequest<ManagedObject>(entityName: "Song")
    request.predicate = try? FormatPredicate("title == $FETCH_SOURCE.title AND SELF != $FETCH_SOURCE")
    request.fetchLimit = 20
    return [FetchedPropertyDescription(name: "versions", fetchRequest: request)]
  }
  var versions: [Song] { fetchedObjects(forKey: "versions") }
}

final class Remark: ManagedObject {
  @Attribute var text = ""
  @Relationship(inverse: { $0.remarks }) var playlist: Playlist?
}

final class Listener: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.owner }, deleteRule: .deny) var owned: Set<Playlist>
}

final class Voucher: ManagedObject {
  @Relationship(inverse: nil) var buyer: Listener?
}

@Suite struct `Examples of the article on relationships` {
  @Test func `both sides, large relationships, order and deletes`() throws {
    let container = try PersistentContainer(
      name: "Music", types: [Playlist.self, Song.self, Remark.self, Listener.self, Voucher.self],
      at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    let (evening, first) = (Playlist(context: context), Playlist(context: context))
    let owner = Listener(context: context)
    owner.owned = [evening, first]
    let (remark, second, third) = (
      Remark(context: context), Remark(context: context), Remark(context: context)
    )
    second.text = "second"
    third.text = "third"
    remark.playlist = evening
    evening.remarks.insert(second)
    first.remarks = [second]  // second leaves evening.remarks
    #expect(evening.remarks == [remark] && first.remarks == [second])
    evening.$remarks.insert(third)
    let isEmpty = evening.$remarks.isEmpty
    let count = evening.$remarks.count
    let isIn = evening.$remarks.contains(third)
    for remark in evening.$remarks where remark.text.isEmpty { context.delete(remark) }
    let ids = evening.$remarks.objectIDs
    evening.$remarks.remove(third)
    #expect(!isEmpty && count == 2 && isIn && ids.count == 2 && remark.isDeleted)
    let (blue, hejira, court) = (Song(context: context), Song(context: context), Song(context: context))
    evening.songs = [blue, hejira]
    evening.$songs.insert(court, at: 1)
    evening.$songs.insert(court, at: 0)  // moves it
    let opening = evening.$songs[0]
    let index = evening.$songs.firstIndex(of: hejira)
    evening.$songs.remove(at: 2)
    #expect(opening === court && index == 2 && evening.songs == [court, blue])
    second.playlist = evening
    try context.save()
    context.delete(evening)
    context.processPendingChanges()
    let isDeleted = second.isDeleted
    #expect(isDeleted)
    try context.save()
    let live = Song(context: context)
    (court.title, live.title) = ("Court and Spark", "Court and Spark")
    #expect(court.versions == [live] && live.versions == [court])
    context.delete(live)
    try context.save()
    #expect(try context.count(Remark.self) == 1 && context.count(Song.self) == 3)
  }
}
