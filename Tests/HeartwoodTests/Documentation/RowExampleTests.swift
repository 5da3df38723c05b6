import Foundation
import Heartwood
import Testing

@Suite struct `Examples of the article on rows` {
  private let context: ManagedObjectContext

  init() throws {
    let container = try PersistentContainer(
      name: "Music", types: [Artist.self, Album.self, Track.self], at: URL(fileURLWithPath: "/dev/null"))
    context = container.newBackgroundContext()
    let joni = Artist(context: context)
    joni.name = "Joni Mitchell"
    let (blue, hejira) = (Album(context: context), Album(context: context))
    (blue.title, blue.year, blue.artist) = ("Blue", 1971, joni)
    (hejira.title, hejira.year, hejira.artist) = ("Hejira", 1976, joni)
    for (title, seconds, rating, album) in [
      ("Carey", 182, 3.0, blue), ("River", 244, 5.0, blue), ("Coyote", 301, 5.0, hejira),
      ("Amelia", 361, 4.0, hejira),
    ] {
      let track = Track(context: context)
      (track.title, track.seconds, track.rating, track.album) = (title, seconds, rating, album)
    }
    try context.save()
  }

  @Test func `columns are a tuple or a struct`() throws {
    let rows = try context.fetchRows(
      Track.self, columns: { ($0.title, $0.album.artist.name, $0.seconds / 60) },
      where: { $0.seconds > 210 }, sort: { [.ascending($0.title)] })
    for (title, artist, minutes) in rows { print(title ?? "", artist ?? "", minutes ?? 0) }
    #expect(rows.map(\.0) == ["Amelia", "Coyote", "River"])
    #expect(rows.map(\.1) == ["Joni Mitchell", "Joni Mitchell", "Joni Mitchell"])
    #expect(rows.map(\.2) == [6, 5, 4])

    struct Length: Decodable { var title: String, seconds: Int }
    let lengths = try context.fetchRows(
      Track.self, as: Length.self, columns: { ["title": $0.title, "seconds": $0.seconds] })
    #expect(lengths.reduce(0) { $0 + $1.seconds } == 1088)

    var total = 0
    try context.enumerateRows(Track.self, columns: { ($0.title, $0.seconds) }) { title, seconds in
      total += seconds ?? 0
      return total < 600
    }
    #expect(total == 727)
  }

  @Test func `groups have aggregates, and joins make rows of destinations`() throws {
    let albums = try context.fetchRows(
      Track.self,
      columns: {
        ($0.album.title, RowFunction.count(), $0.seconds.sum(), $0.seconds.max(where: $0.rating > 4))
      },
      having: { _ in RowFunction.count() >= 1 }, sort: { [.descending($0.seconds.sum())] }, limit: 10)
    #expect(albums.map(\.0) == ["Hejira", "Blue"])
    #expect(albums.map(\.1) == [2, 2])
    #expect(albums.map(\.2) == [662, 426])
    #expect(albums.map(\.3) == [301, 244])

    let perArtist = try context.fetchRows(
      Artist.self, joining: { $0.albums }, columns: { artist, album in (artist.name, album.year.min()) })
    #expect(perArtist.map(\.1) == [1971])
  }

  @Test func `pairs, values of other fetches, frames and unions do what the article says`() throws {
    let together = try context.fetchRows(
      Album.self, joining: { $0.tracks }, { album, track in album.tracks },
      columns: { album, first, second in (album.title, first.title, second.title) },
      where: { album, first, second in first.seconds < second.seconds })
    #expect(
      Set(together.map { "\($0.0 ?? "") \($0.1 ?? "") \($0.2 ?? "")" }) == [
        "Blue Carey River", "Hejira Coyote Amelia",
      ])

    let above = try context.fetchRows(
      Track.self, columns: { ($0.album.title, $0.seconds.average()) },
      having: { $0.seconds.average() > RowFunction.value(of: Track.self) { $0.seconds.average() } })
    let longer = try context.fetch(
      Track.self, where: { $0.seconds > RowFunction.value(of: Track.self) { $0.seconds.median() } })
    #expect(above.map(\.0) == ["Hejira"] && Set(longer.map(\.title)) == ["Coyote", "Amelia"])

    let moving = try context.fetchRows(
      Track.self,
      columns: {
        ($0.title, $0.seconds.average().over(orderedBy: .ascending($0.title), frame: .rows(preceding: 2)))
      }, sort: { [.ascending($0.title)] })
    #expect(moving.map(\.0) == ["Amelia", "Carey", "Coyote", "River"])
    #expect(moving.last?.1 == Double(182 + 301 + 244) / 3)

    let steps = try context.fetchRows(
      Track.self,
      columns: {
        let step = $0.seconds - $0.seconds.lag(partitionedBy: $0.album, orderedBy: .ascending($0.seconds))
        return ($0.album.title, step.max())
      }, sort: { [.ascending($0.album.title)] })
    #expect(steps.map(\.1) == [62, 60])

    let albums = RowFetch(Album.self, columns: { ($0.title, $0.year) })
    let tracks = RowFetch(Track.self, columns: { ($0.title, $0.album.year) }, where: { $0.rating > 4 })
    let names = try context.fetchRows(
      albums.union(tracks).sorted(by: .descending(column: 1), .ascending(column: 0)).limited(to: 20))
    #expect(names.map(\.0) == ["Coyote", "Hejira", "Blue", "River"])
  }

  @Test func `windows rank, sum up and look back`() throws {
    let ranked = try context.fetchRows(
      Track.self,
      columns: {
        (
          $0.title, RowFunction.rank(partitionedBy: $0.album, orderedBy: .descending($0.seconds)),
          $0.seconds.sum().over(orderedBy: .ascending($0.title)),
          $0.seconds.lag(orderedBy: .ascending($0.title))
        )
      }, sort: { [.ascending($0.title)] })
    #expect(ranked.map(\.0) == ["Amelia", "Carey", "Coyote", "River"])
    #expect(ranked.map(\.1) == [1, 2, 2, 1])
    #expect(ranked.map(\.2) == [361, 543, 844, 1088])
    #expect(ranked.map(\.3) == [nil, 361, 182, 301])

    let longest = try context.fetchRows(
      Track.self, columns: { ($0.album.title, $0.title) },
      having: { RowFunction.rank(partitionedBy: $0.album, orderedBy: .descending($0.seconds)) <= 3 })
    #expect(longest.count == 4)
  }

  @Test func `dictionaries are grouped by names`() throws {
    let request = FetchRequest<Track>()
    request.propertiesToFetch = [
      "album.title", try ExpressionDescription(name: "total", format: "@sum.seconds"),
      try ExpressionDescription(name: "tracks", format: "@count"),
    ]
    request.propertiesToGroupBy = ["album.title"]
    request.havingPredicate = try FormatPredicate("total > 600 AND @avg.seconds < 1000")
    request.sortDescriptors = [NamedSort("total", ascending: false)]
    let dictionaries = try context.fetchDictionaries(request)
    #expect(dictionaries.map { $0["album.title"] as? String } == ["Hejira"])
    #expect(dictionaries.map { $0["total"] as? Int64 } == [662])
    #expect(dictionaries.map { $0["tracks"] as? Int } == [2])
  }
}
