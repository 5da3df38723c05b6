import Foundation
import Heartwood
import Testing

final class Artist: ManagedObject {
  @Attribute(.unique) var name = ""
  @Attribute var isActive = true
  @Relationship(inverse: { $0.artist }) var albums: Set<Album>
}

final class Album: ManagedObject {
  @Attribute(.indexed) var title = ""
  @Attribute var year: Int?
  @Attribute var genre = Genre.other
  @Relationship(inverse: { $0.albums }) var artist: Artist?
  @Relationship(inverse: { $0.album }) var tracks: [Track]
}

final class Track: ManagedObject {
  @Attribute var title = ""
  @Attribute var seconds = 0
  @Attribute var price: Decimal = 0
  @Attribute var rating: Double?
  @Attribute(.fullText) var lyrics: String?
  @Relationship(inverse: { $0.tracks }) var album: Album?
}

final class Concert: ManagedObject {
  @Attribute var name = ""
  @Attribute var begins = Date()
  @Attribute var ends: Date?
}

enum Genre: String, AttributeValue { case rock, jazz, other }

@Suite struct `Examples of the article on asking` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let joni: Artist
  private let favourites: [Album]

  /// Joni Mitchell has Blue, of 1971 with eleven tracks, and Hejira, without a year and with one long track of the same title.
  init() throws {
    container = try PersistentContainer(
      name: "Music", types: [Artist.self, Album.self, Track.self, Concert.self],
      at: URL(fileURLWithPath: "/dev/null"))
    context = container.newBackgroundContext()
    joni = Artist(context: context)
    joni.name = "Joni Mitchell"
    let (blue, hejira) = (Album(context: context), Album(context: context))
    (blue.title, blue.year, blue.genre, blue.artist) = ("Blue", 1971, .rock, joni)
    (hejira.title, hejira.artist) = ("Hejira", joni)
    favourites = [hejira]
    for number in 0..<11 {
      let track = Track(context: context)
      (track.title, track.seconds, track.price, track.album) = ("Track \(number)", 201 + number, 1, blue)
    }
    let long = Track(context: context)
    (long.title, long.seconds, long.price, long.rating, long.album) = ("Hejira", 700, 3, 10, hejira)
    try context.save()
  }

  private func expect(_ found: [ManagedObject], _ names: [String]) {
    let shown = found.map { $0 is Artist ? $0["name"] as? String : $0["title"] as? String }
    #expect(shown.compactMap(\.self).sorted() == names.sorted())
  }

  @Test func `attributes are compared with constants`() throws {
    let found = try context.fetch(Album.self, where: { $0.title == "Blue" || $0.title == "Hejira" })
    let others = try context.fetch(
      Album.self, where: { $0.year >= 1970 && $0.year != 1972 && $0.genre == .rock })
    let further = try context.fetch(Artist.self, where: { $0.isActive && !($0.name == "Various") })
    expect(found, ["Blue", "Hejira"])
    expect(others, ["Blue"])
    expect(further, ["Joni Mitchell"])
  }

  @Test func `dates are subtracted, moved and taken apart`() throws {
    let concert = Concert(context: context)
    concert.begins = try Date("2024-07-02T19:30:00Z", strategy: .iso8601)
    concert.ends = concert.begins + 3 * 3600
    Concert(context: context).begins = try Date("2023-07-02T10:00:00Z", strategy: .iso8601)
    let now = Date()
    let long = try context.fetch(Concert.self, where: { $0.ends - $0.begins > 2 * 3600 })
    let inJuly = try context.fetch(Concert.self, where: { $0.begins.month == 7 && $0.begins.year >= 2024 })
    let late = try context.fetch(
      Concert.self, where: { $0.begins.component(.hour, in: TimeZone(identifier: "Europe/Berlin")!) >= 20 })
    let soon = try context.fetch(Concert.self, where: { $0.begins - 86_400 < now && $0.ends == nil })
    #expect(long == [concert] && inJuly == [concert] && late == [concert])
    #expect(soon.count == 1 && soon != [concert])
    context.rollback()
  }

  @Test func `large results come one array after the other`() throws {
    var seconds = 0
    try context.enumerate(FetchRequest<Track>(sort: [.ascending(\.title)]), batchSize: 500) { tracks in
      for track in tracks { seconds += track.seconds }
    }
    #expect(seconds == 700 + (0..<11).reduce(0) { $0 + 201 + $1 })
  }

  @Test func `large results come in batches, with their relationships`() throws {
    var names: [String] = []
    let request = FetchRequest<Artist>(where: { $0.isActive }, sort: [.ascending(\.name)])
    request.fetchBatchSize = 50
    request.relationshipKeyPathsForPrefetching = ["albums.tracks"]
    for artist in try context.fetch(request) {
      names += artist.albums.flatMap(\.tracks).map(\.title)
    }
    #expect(names.count == 12 && names.contains("Hejira"))
  }

  @Test func `a sequence of batches has what is made of them`() async throws {
    var all: [String] = []
    for try await titles in context.batches(of: FetchRequest<Album>(), size: 100, { $0.map(\.title) }) {
      all += titles
    }
    #expect(all.sorted() == ["Blue", "Hejira"])
  }

  @Test func `missing values and ranges`() throws {
    let found = try context.fetch(Album.self, where: { $0.year == nil || 1970...1979 ~= $0.year })
    let others = try context.fetch(
      Album.self, where: { $0.year.between(1970, 1979) && $0.genre.isIn([.rock, .jazz]) })
    let further = try context.fetch(Album.self, where: { [1971, 1974].contains($0.year) })
    expect(found, ["Blue", "Hejira"])
    expect(others, ["Blue"])
    expect(further, ["Blue"])
  }

  @Test func `texts`() throws {
    let found = try context.fetch(
      Artist.self, where: { $0.name.hasPrefix("J") && $0.name.like("*Mitchell") })
    let others = try context.fetch(
      Artist.self, where: { $0.name.equals("beyonce", [.caseInsensitive, .diacriticInsensitive]) })
    let further = try context.fetch(Artist.self, where: { $0.name.localizedStandardContains("mitch") })
    expect(found, ["Joni Mitchell"])
    expect(others, [])
    expect(further, ["Joni Mitchell"])
  }

  @Test func `words of longer texts`() throws {
    let all = try context.fetch(Track.self)
    all[0].lyrics = "I wish I had a river I could skate away on"
    all[1].lyrics = "So long, it's been good"
    all[2].lyrics = "A river of money"
    try context.save()
    let found = try context.fetch(Track.self, where: { $0.lyrics.matchesWords("riv* skate") })
    let others = try context.fetch(
      Track.self, where: { $0.lyrics.matchesWords("\"so long\" OR (river -money)") })
    #expect(found == [all[0]] && others == [all[0], all[1]])
    let best = try context.fetch(
      Track.self, where: { $0.lyrics.matchesWords("river OR money") },
      sort: [.descending { $0.lyrics.relevance(of: "river money") }], limit: 2)
    #expect(best == [all[2], all[0]])
  }

  @Test func `numbers of several types are computed`() throws {
    let found = try context.fetch(
      Track.self, where: { $0.seconds * $0.price > 500 && $0.rating * 2 >= $0.seconds / 60 })
    expect(found, ["Hejira"])
  }

  @Test func `to-one relationships lead on`() throws {
    let id = joni.objectID
    let found = try context.fetch(
      Track.self, where: { $0.album.artist.name == "Joni Mitchell" && $0.album != nil })
    let others = try context.fetch(
      Album.self, where: { $0.artist == joni || $0.artist == id || $0.isIn(favourites) })
    #expect(found.count == 12)
    expect(others, ["Blue", "Hejira"])
  }

  @Test func `conditions on to-many relationships`() throws {
    let found = try context.fetch(
      Album.self, where: { $0.tracks.contains { $0.seconds > 600 && $0.rating > 4 } })
    let others = try context.fetch(
      Album.self, where: { $0.tracks.allSatisfy { $0.price == 0 } && !$0.tracks.isEmpty })
    let further = try context.fetch(
      Album.self, where: { album in album.tracks.contains { $0.title == album.title } })
    let more = try context.fetch(
      Artist.self, where: { $0.albums.contains { $0.tracks.contains { $0.seconds > 600 } } })
    expect(found, ["Hejira"])
    expect(others, [])
    expect(further, ["Hejira"])
    expect(more, ["Joni Mitchell"])
  }

  @Test func `numbers of to-many relationships`() throws {
    let found = try context.fetch(
      Album.self, where: { $0.tracks.count > 10 && $0.tracks.count { $0.price > 1 } < 3 })
    let others = try context.fetch(
      Album.self, where: { $0.tracks.sum { $0.seconds } > 2400 || $0.tracks.max { $0.price } > 2 })
    let further = try context.fetch(
      Album.self, where: { $0.tracks.average { $0.rating } >= 4 || $0.tracks.min { $0.seconds } < 60 })
    expect(found, ["Blue"])
    expect(others, ["Hejira"])
    expect(further, ["Hejira"])
  }

  @Test func `functions`() throws {
    let found = try context.fetch(
      Artist.self, where: { $0.name.uppercased() == "JONI MITCHELL" && $0.name.count > 5 })
    let others = try context.fetch(
      Album.self,
      where: { ($0.year ?? 2000) > 1990 || ($0.genre == .rock).then($0.year, else: 0) == 1971 })
    expect(found, ["Joni Mitchell"])
    expect(others, ["Blue", "Hejira"])
  }

  @Test func `places and values of destinations`() throws {
    let found = try context.fetch(
      Album.self, where: { $0.tracks.first.seconds < 600 && $0.tracks[1].title == "Track 1" })
    let others = try context.fetch(
      Album.self, where: { $0.tracks.map { $0.title }.contains("Hejira") })
    let further = try context.fetch(
      Album.self, where: { $0.tracks.sum({ $0.seconds }, where: { $0.price > 2 }) == 700 })
    expect(found, ["Blue"])
    expect(others, ["Hejira"])
    expect(further, ["Hejira"])
  }

  @Test func `Foundation's predicates and sort descriptors`() throws {
    let request = FetchRequest<Album>()
    request.predicate = #Predicate<Album> { $0.title.starts(with: "B") && $0.artist?.name == "Joni Mitchell" }
    request.sortDescriptors = [SortDescriptor(\Album.title)]
    expect(try context.fetch(request), ["Blue"])
  }

  @Test func `orders by computed values`() throws {
    let request = FetchRequest<Album>()
    let long = try context.fetch(
      Album.self, sort: [.descending { $0.tracks.sum { $0.seconds } }, .ascending { $0.title.lowercased() }],
      limit: 3)
    request.sortDescriptors = [
      try ComputedSort("tracks.@sum.seconds", ascending: false), try ComputedSort("lowercase(title)"),
    ]
    #expect(!long.isEmpty)
    #expect(try Array(context.fetch(request).prefix(3)) == long)
    let shown = try context.fetch(Album.self, sort: [.ascending(\.title, .localizedStandard)])
    request.sortDescriptors = [NamedSort("title", options: [.localized, .caseInsensitive])]
    #expect(try context.fetch(request) == shown)
  }

  @Test func `order, limit and count`() throws {
    let page = try context.fetch(
      Album.self, where: { $0.year != nil }, sort: [.descending(\.year), .ascending(\.artist?.name)],
      limit: 10, offset: 20)
    let number = try context.count(Album.self, where: { $0.genre == .jazz })
    #expect(page.isEmpty && number == 0)
  }

  @Test func `conditions are values`() async throws {
    let background = container.newBackgroundContext()
    let (year, text): (Int?, String) = (1971, "bl")
    var wanted = Where<Album> { _ in .true }
    if let year { wanted = wanted && Where { $0.year == year } }
    if !text.isEmpty { wanted = wanted && Where { $0.title.localizedStandardContains(text) } }
    let order: [Sort<Album>] = [.ascending(\.title)]
    let titles = try await background.perform { [wanted] in
      try background.fetch(wanted, sort: order).map(\.title)
    }
    #expect(titles == ["Blue"])
  }

  @Test func `conditions in the format language`() throws {
    let request = FetchRequest<Album>()
    request.predicate = try FormatPredicate(
      "title BEGINSWITH[cd] %@ AND (year == NIL OR year BETWEEN {1970, 1979})", "blue")
    expect(try context.fetch(request), ["Blue"])
    request.predicate = try FormatPredicate(
      "artist.name IN %@ AND NOT genre == %@", ["Joni Mitchell", "Can"], "jazz")
    expect(try context.fetch(request), ["Blue", "Hejira"])
    request.predicate = try FormatPredicate(
      "ANY tracks.seconds > %d AND tracks.@count > 10 AND %K != NIL", 200, "artist")
    expect(try context.fetch(request), ["Blue"])
    request.predicate = try FormatPredicate(
      "SUBQUERY(tracks, $t, $t.seconds > 600 AND $t.rating > 4).@count > 0")
    expect(try context.fetch(request), ["Hejira"])
  }
}
