/// The objects that every peer gets: publishers and their books, a hundred books each.
struct Library {
  struct PublisherData {
    let number: Int64
    let name: String
    let city: String
  }

  struct BookData {
    let number: Int64
    let isbn: String
    let title: String
    let pages: Int64
    let price: Double
    /// Seconds since 1970, another one for each book.
    let published: Int64
    /// 0 to 9: a tenth of the books each.
    let shelf: Int64
    /// The place of its publisher in `publishers`.
    let publisher: Int
  }

  let publishers: [PublisherData]
  let books: [BookData]

  init(objects: Int) {
    var random = SplitMix64(seed: 42)
    let publisherCount = max(10, objects / 100)
    publishers = (0..<publisherCount).map { number in
      PublisherData(number: Int64(number), name: "House \(number)", city: Self.word(&random).capitalized)
    }
    let days = Array(0..<objects).shuffled(using: &random)
    books = (0..<objects).map { number in
      BookData(
        number: Int64(number), isbn: "978-" + Self.digits(SplitMix64.mixed(UInt64(number))),
        title: "\(Self.word(&random)) \(Self.word(&random)) \(number)",
        pages: Int64(random.next(below: 900)) + 50,
        price: Double(random.next(below: 10_000)) / 100, published: Int64(days[number]) * 86_400,
        shelf: Int64(number % 10), publisher: random.next(below: publisherCount))
    }
  }

  private static func word(_ random: inout SplitMix64) -> String {
    let letters = (0..<(4 + random.next(below: 6))).map { _ in UInt8(97 + random.next(below: 26)) }
    return String(decoding: letters, as: UTF8.self)
  }

  /// Ten decimal digits; different for different numbers in all likelihood, and checked by the unique index.
  private static func digits(_ number: UInt64) -> String {
    let text = String(number % 10_000_000_000)
    return String(repeating: "0", count: 10 - text.count) + text
  }
}

/// The questions of one round.
struct GraphWork {
  let library: Library
  /// Seconds that rows that read go on for at least.
  let least: Double
  let isbns: [String]
  /// Places in `library.books`.
  let loads: [Int]
  /// Lower bounds of the day of publication, each asked with a limit.
  let days: [Int64]
  let deletedPublishers: [Int64]

  init(_ library: Library, round: Int, least: Double) {
    var random = SplitMix64(seed: 2000 + UInt64(round))
    let count = library.books.count
    let wanted = max(1, count / 10)
    self.library = library
    self.least = least
    isbns = (0..<wanted).map { _ in library.books[random.next(below: count)].isbn }
    loads = Array((0..<count).shuffled(using: &random).prefix(wanted))
    days = (0..<100).map { _ in Int64(random.next(below: count)) * 86_400 }
    deletedPublishers = library.publishers.map(\.number).shuffled(using: &random)
      .prefix(library.publishers.count / 10).sorted()
  }
}
