import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

/// The music shop of `Fixtures/Shop`, with classes for its entities.
enum Shop {
  final class Artist: ManagedObject {
    @Attribute(.unique) var number = 0
    @Attribute(.indexed) var name = ""
    @Relationship(inverse: { $0.artist }, deleteRule: .cascade) var albums: Set<Album>
  }

  final class Album: ManagedObject {
    @Attribute(.unique) var number = 0
    @Attribute(.indexed) var title = ""
    @Relationship(inverse: { $0.albums }) var artist: Artist?
    @Relationship(inverse: { $0.album }, deleteRule: .cascade) var tracks: Set<Track>
  }

  final class Genre: ManagedObject {
    @Attribute(.unique) var number = 0
    @Attribute(.unique) var name = ""
    @Relationship(inverse: { $0.genre }) var tracks: Set<Track>
  }

  final class MediaType: ManagedObject {
    @Attribute(.unique) var number = 0
    @Attribute(.unique) var name = ""
    @Relationship(inverse: { $0.mediaType }) var tracks: Set<Track>
  }

  final class Track: ManagedObject {
    @Attribute(.unique) var number = 0
    @Attribute(.indexed) var name = ""
    @Attribute var composer: String?
    @Attribute var milliseconds = 0
    @Attribute var bytes = 0
    @Attribute var unitPrice = Decimal()
    @Relationship(inverse: { $0.tracks }) var album: Album?
    @Relationship(inverse: { $0.tracks }) var genre: Genre?
    @Relationship(inverse: { $0.tracks }) var mediaType: MediaType?
    @Relationship(inverse: { $0.tracks }) var playlists: Set<Playlist>
    @Relationship(inverse: { $0.track }) var lines: Set<InvoiceLine>
  }

  final class Playlist: ManagedObject {
    @Attribute(.unique) var number = 0
    @Attribute var name = ""
    @Relationship(inverse: { $0.playlists }) var tracks: Set<Track>
  }

  final class Employee: ManagedObject {
    @Attribute(.unique) var number = 0
    @Attribute var firstName = ""
    @Attribute var lastName = ""
    @Attribute var title = ""
    @Attribute var hired = Date(timeIntervalSince1970: 0)
    @Attribute var country = ""
    @Relationship(inverse: { $0.reports }) var manager: Employee?
    @Relationship(inverse: { $0.manager }) var reports: Set<Employee>
    @Relationship(inverse: { $0.representative }) var customers: Set<Customer>
  }

  final class Customer: ManagedObject {
    @Attribute(.unique) var number = 0
    @Attribute var firstName = ""
    @Attribute var lastName = ""
    @Attribute var company: String?
    @Attribute var city = ""
    @Attribute(.indexed) var country = ""
    @Relationship(inverse: { $0.customers }) var representative: Employee?
    @Relationship(inverse: { $0.customer }) var invoices: Set<Invoice>
  }

  final class Invoice: ManagedObject {
    @Attribute(.unique) var number = 0
    @Attribute(.indexed) var date = Date(timeIntervalSince1970: 0)
    @Attribute var country = ""
    @Attribute var total = Decimal()
    @Relationship(inverse: { $0.invoices }) var customer: Customer?
    @Relationship(inverse: { $0.invoice }, deleteRule: .cascade) var lines: Set<InvoiceLine>
  }

  final class InvoiceLine: ManagedObject {
    @Attribute(.unique) var number = 0
    @Attribute var unitPrice = Decimal()
    @Attribute var quantity = 0
    @Relationship(inverse: { $0.lines }) var invoice: Invoice?
    @Relationship(inverse: { $0.lines }) var track: Track?
  }

  static let types: [ManagedObject.Type] = [
    Artist.self, Album.self, Genre.self, MediaType.self, Track.self, Playlist.self, Employee.self,
    Customer.self, Invoice.self, InvoiceLine.self,
  ]
}

/// A store that was imported from the shop's document, and SQLite's answers to the questions of `Fixtures/Shop/questions.sql`.
final class ShopStore: Sendable {
  let container: PersistentContainer
  private let answers: [String: [[String?]]]

  /// One store for all tests, which only read it.
  static let shared = Result { try ShopStore() }
  nonisolated(unsafe) private static var folder: TemporaryFolder?

  private init() throws {
    let folder = try TemporaryFolder()
    Self.folder = folder
    atexit {
      try? ShopStore.shared.get().container.close()
      ShopStore.folder = nil
    }
    let path = folder.path("shop.heartwood")
    let imported = CommandRun("import", path, Fixture.path("Shop/shop.json"))
    #expect(imported.status == .success, "\(imported.output)")
    container = try PersistentContainer(
      name: "Shop", types: Shop.types, at: URL(fileURLWithPath: path))
    let document = try Data(contentsOf: URL(fileURLWithPath: Fixture.path("Shop/answers.json")))
    answers = try JSONDecoder().decode([String: [[String?]]].self, from: document)
  }

  /// Expects a number to be SQLite's answer.
  func expect(_ question: String, _ number: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(answers[question] == [[String(number)]], sourceLocation: sourceLocation)
  }

  /// Expects rows to be SQLite's answer.
  func expect<each Cell>(
    _ question: String, _ rows: [(repeat each Cell)], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let found = rows.map { row in
      var cells: [String?] = []
      repeat cells.append(Self.text(each row))
      return cells
    }
    #expect(answers[question] == found, sourceLocation: sourceLocation)
  }

  /// A value as the answers have it: prices with two digits, other fractions with six, dates as days.
  private static func text(_ value: Any) -> String? {
    switch value {
    case let value as Decimal: return String(format: "%.2f", NSDecimalNumber(decimal: value).doubleValue)
    case let value as Double: return String(format: "%.6f", value)
    case let value as Date: return value.formatted(.iso8601.year().month().day())
    case let value as Int: return String(value)
    case let value as String: return value
    default:
      let mirror = Mirror(reflecting: value)
      guard mirror.displayStyle == .optional else { return "\(value)" }
      return mirror.children.first.flatMap { text($0.value) }
    }
  }
}
