import Foundation
import Heartwood
import HeartwoodFiles
import Testing

@testable import FaultProgramme

final class Playlist: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.lists }) var tracks: [Track]
}

final class Track: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.tracks }) var lists: [Playlist]
}

@Suite struct `Orders in a graph` {
  @Test func `an order is saved as it was set, whichever object was changed before`() throws {
    let container = try GraphSession.open(MemoryFileSystem())
    let context = container.newBackgroundContext()
    let books = ["1", "2", "3"].map { GraphWorkload.makeBook($0, in: context) }
    try context.save()

    books[2].title = "changed first"
    books[0].citations = [books[1], books[2]]
    try context.save()
    #expect(try citations(container) == ["2", "3"])

    books[2].title = "changed again"
    books[0].citations = [books[2], books[0], books[1]]
    try context.save()
    #expect(try citations(container) == ["3", "1", "2"])
  }

  @Test func `an order that was set is applied to the store's rows when its object is refreshed`() throws {
    let container = try GraphSession.open(MemoryFileSystem())
    let context = container.newBackgroundContext()
    let books = ["1", "2", "3", "4", "5"].map { GraphWorkload.makeBook($0, in: context) }
    books[0].citations = Array(books[1...3])
    try context.save()

    books[0].citations = [books[3], books[2], books[1]]
    context.refreshAllObjects()
    #expect(books[0].citations.map(\.isbn) == ["4", "3", "2"])
    try context.save()
    #expect(try citations(container) == ["4", "3", "2"])

    let other = container.newBackgroundContext()
    books[0].citations = [books[1], books[2], books[3]]
    let elsewhere = try GraphWorkload.book("1", other)
    elsewhere.citations = elsewhere.citations.suffix(2) + [try GraphWorkload.book("5", other)]
    try other.save()
    context.refreshAllObjects()
    #expect(books[0].citations.map(\.isbn) == ["2", "3", "5"])
    try context.save()
    #expect(try citations(container) == ["2", "3", "5"])
  }

  @Test func `an order may be set by the save that deletes one of its destinations`() throws {
    let container = try GraphSession.open(MemoryFileSystem())
    let context = container.newBackgroundContext()
    let books = ["1", "2", "3", "4"].map { GraphWorkload.makeBook($0, in: context) }
    books[0].citations = Array(books[1...3])
    let shelf = Shelf(context: context)
    shelf.books = Array(books[1...3])
    try context.save()
    books[0].citations = [books[3], books[1]]
    shelf.books = [books[3], books[1]]
    context.delete(books[2])
    try context.save()
    #expect(try citations(container) == ["4", "2"])
    let other = container.newBackgroundContext()
    let shelves = try other.fetch(Shelf.self)
    #expect(shelves.map { $0.books.map(\.isbn) } == [["4", "2"]])
  }

  private func citations(_ container: PersistentContainer) throws -> [String] {
    let context = container.newBackgroundContext()
    return try GraphWorkload.book("1", context).citations.map(\.isbn)
  }

  @Test func `both sides of a relationship may have an order`() throws {
    let container = try PersistentContainer(
      name: "Music", types: [Playlist.self, Track.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    let tracks = ["a", "b", "c"].map { name in
      let track = Track(context: context)
      track.name = name
      return track
    }
    let lists = [Playlist(context: context), Playlist(context: context)]
    for (list, name) in zip(lists, ["first", "second"]) { list.name = name }
    try context.save()
    tracks[1].name = "b, changed first"
    lists[1].tracks = [tracks[2], tracks[1]]
    lists[0].tracks = [tracks[1], tracks[0], tracks[2]]
    try context.save()
    #expect(
      try orders(container) == ["first: bac", "second: cb", "a: first", "b: second first", "c: second first"])
    tracks[0].lists = [lists[1], lists[0]]
    tracks[1].lists = []
    try context.save()
    #expect(
      try orders(container) == ["first: ac", "second: ca", "a: second first", "b: ", "c: second first"])
  }

  private func orders(_ container: PersistentContainer) throws -> [String] {
    let context = container.newBackgroundContext()
    let lists = try context.fetch(Playlist.self, sort: [.ascending(\.name)])
    let tracks = try context.fetch(Track.self, sort: [.ascending(\.name)])
    return lists.map { "\($0.name): \($0.tracks.map { letter($0) }.joined())" }
      + tracks.map { "\(letter($0)): \($0.lists.map(\.name).joined(separator: " "))" }
  }

  private func letter(_ track: Track) -> String { String(track.name.prefix(1)) }
}
