import Foundation
import Heartwood
import Testing

/// Questions about what the shop has, each answered by one fetch.
@Suite struct `Questions about a shop's catalogue` {
  private let shop: ShopStore
  private let context: ManagedObjectContext

  init() throws {
    shop = try ShopStore.shared.get()
    context = shop.container.newBackgroundContext()
  }

  @Test func `what was never sold is found without a loop`() throws {
    shop.expect(
      "tracks that were never sold, the first twenty by name",
      try context.fetchRows(
        Shop.Track.self, columns: { ($0.name, $0.number) }, where: { $0.lines.isEmpty },
        sort: { [.ascending($0.name), .ascending($0.number)] }, limit: 20))
    shop.expect(
      "how many tracks of each genre were never sold",
      try context.fetchRows(
        Shop.Track.self, columns: { ($0.genre.name, RowFunction.count()) }, where: { $0.lines.isEmpty },
        sort: { [.descending(RowFunction.count()), .ascending($0.genre.name)] }))
  }

  @Test func `playlists have lengths and genres`() throws {
    shop.expect(
      "playlists by length, empty ones too",
      try context.fetchRows(
        Shop.Playlist.self, columns: { ($0.name, $0.tracks.count, $0.tracks.sum { $0.milliseconds }) },
        sort: { [.descending($0.tracks.sum { $0.milliseconds }), .ascending($0.number)] }))
    shop.expect(
      "genres within playlists",
      try context.fetchRows(
        Shop.Playlist.self, joining: { $0.tracks },
        columns: { list, track in (list.number, track.genre.name, RowFunction.count()) },
        sort: { list, track in [.ascending(list.number), .ascending(track.genre.name)] }))
    let common = try context.count(Shop.Track.self, where: { $0.playlists.count > 3 })
    shop.expect("tracks in more than three playlists", common)
  }

  @Test func `tracks are compared with those of their genre, and albums by all their tracks`() throws {
    shop.expect(
      "tracks more than three times as long as the average of their genre",
      try context.fetchRows(
        Shop.Track.self, columns: { ($0.name, $0.milliseconds) },
        where: { $0.milliseconds > 3 * $0.genre.tracks.average { $0.milliseconds } },
        sort: { [.descending($0.milliseconds), .ascending($0.number)] }))
    shop.expect(
      "albums of which every track is longer than five minutes",
      try context.fetchRows(
        Shop.Album.self, columns: { $0.title },
        where: { $0.tracks.allSatisfy { $0.milliseconds > 300_000 } }, sort: { [.ascending($0.title)] }))
    shop.expect(
      "the average number of tracks of an album, and the longest album",
      try context.fetchRows(
        Shop.Album.self,
        columns: { ($0.tracks.count.average(), $0.tracks.sum { $0.milliseconds }.max()) }))
  }

  @Test func `artists have albums, or none`() throws {
    let without = try context.count(Shop.Artist.self, where: { $0.albums.isEmpty })
    shop.expect("artists without an album", without)
    shop.expect(
      "artists with most albums, and their tracks",
      try context.fetchRows(
        Shop.Artist.self, columns: { ($0.name, $0.albums.count, $0.albums.sum { $0.tracks.count }) },
        sort: { [.descending($0.albums.count), .ascending($0.name)] }, limit: 10))
    shop.expect(
      "the third page of twenty albums by title",
      try context.fetchRows(
        Shop.Album.self, columns: { ($0.title, $0.artist.name) },
        sort: { [.ascending($0.title), .ascending($0.number)] }, limit: 20, offset: 40))
  }

  @Test func `tracks have medians, shares and composers`() throws {
    shop.expect(
      "median length by media type",
      try context.fetchRows(
        Shop.Track.self, columns: { ($0.mediaType.name, $0.milliseconds.median()) },
        sort: { [.ascending($0.mediaType.name)] }))
    shop.expect(
      "the share of each genre in all tracks, in percent",
      try context.fetchRows(
        Shop.Track.self,
        columns: {
          (
            $0.genre.name, RowFunction.count(),
            100.0 * RowFunction.count().asDouble / RowFunction.count().sum().over().asDouble
          )
        }, sort: { [.descending(RowFunction.count()), .ascending($0.genre.name)] }))
    shop.expect(
      "how many composers are known, and how many tracks have none",
      try context.fetchRows(
        Shop.Track.self,
        columns: { ($0.composer.count(distinct: true), RowFunction.count() - $0.composer.count()) }))
    shop.expect(
      "love in the names of tracks, by genre",
      try context.fetchRows(
        Shop.Track.self, columns: { ($0.genre.name, RowFunction.count()) },
        where: { $0.name.contains("love", .caseInsensitive) }, having: { _ in RowFunction.count() > 1 },
        sort: { [.descending(RowFunction.count()), .ascending($0.genre.name)] }))
  }
}
