import Foundation
import SwiftData

// Every form in which models are declared. That they compile and keep their values is tested in `DeclarationTests`.

@Model
final class Plain {
  var bool: Bool = false
  var int: Int = 0
  var int16: Int16 = 0
  var int32: Int32 = 0
  var int64: Int64 = 0
  var float: Float = 0
  var double: Double = 0
  var string: String = ""
  var decimal: Decimal = 0
  var date: Date = Date(timeIntervalSinceReferenceDate: 0)
  var data: Data = Data()
  var uuid: UUID = UUID()
  var url: URL = URL(string: "https://example.org")!

  init() {}
}

@Model
final class Conditional {
  #if DEBUG
    var debugNote: String = "debug"
  #else
    var releaseNote: String = "release"
  #endif
  var always = 1

  init() {}
}

@Model
final class Optionals {
  var bool: Bool?
  var int: Int?
  var double: Double?
  var string: String?
  var decimal: Decimal?
  var date: Date?
  var data: Data?
  var uuid: UUID?
  var url: URL?
  var mood: Mood?
  var size: Size?
  var list: [Int]?
  var `default`: String?

  init() {}
}

enum Mood: String, Codable, CaseIterable {
  case good, bad
}

enum Size: Int, Codable {
  case small = 1
  case large = 2
}

/// An enumeration without raw values.
enum Weather: Codable, Equatable {
  case sunny
  case rain(millimetres: Double)
  case storm(name: String, force: Int)
}

struct Point: Codable, Hashable {
  var x = 0.0
  var y = 0.0
}

struct Address: Codable, Hashable {
  var street: String
  var city: String
  var zip: Int?
  var place: Point = Point()

  init(street: String = "", city: String = "", zip: Int? = nil) {
    self.street = street
    self.city = city
    self.zip = zip
  }
}

/// Names of parts that differ from those of the properties.
struct Renamed: Codable, Equatable {
  var first: Int = 0
  var second: String = ""

  enum CodingKeys: String, CodingKey {
    case first = "a"
    case second = "b"
  }
}

@Model
final class Values {
  var mood = Mood.good
  var size: Size = Size.small
  var weather: Weather = Weather.sunny
  var point = Point()
  var address: Address?
  var renamed: Renamed = Renamed()
  var tags: [String] = []
  var numbers: Set<Int> = []
  var table: [String: Int] = [:]
  var nested: [[Double]] = []
  var moods: [Mood] = []
  var points: [Point] = []
  @Attribute(.codable) var opaque: Point = Point(x: 1, y: 2)

  init() {}
}

/// Types are inferred, defaults are calls, and several macros and attributes are on lines of their own.
@Model
public final class Inferred {
  /// When it was made.
  public var created = Date()
  /// A property that is called as the identifier of models is.
  public var id = UUID()
  var count = 1 + 2
  var text =
    "a"
    + "b"
  internal private(set) var hidden: String = "hidden"
  fileprivate var secret = 7
  @Transient var cache: [Int: String] = [:]
  @Transient
  var observer: (() -> Void)?
  static let shared = 3
  static var counter: Int { 4 }
  let constant = 5
  var computed: String { "\(count) \(text)" }
  var settable: Int {
    get { count }
    set { count = newValue * 2 }
  }
  lazy var late = "late"

  /// A model with the values of the declarations.
  public init() {}

  init(secret: Int) { self.secret = secret }

  convenience init(text: String) {
    self.init()
    self.text = text
  }

  func change(_ hidden: String) { self.hidden = hidden }
  var readSecret: Int { secret }

  struct Inner: Codable {
    var value: Int
  }
  var inner: Inner?
  var innerMood: InnerMood = InnerMood.calm
  enum InnerMood: Int, Codable { case calm, wild }
}

enum Space {
  enum Deep {
    @Model
    final class Nested {
      var name: String
      init(name: String) { self.name = name }
    }
  }
}

// Relationships of all kinds.

@Model
final class Author {
  @Attribute(.unique) var name: String
  @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
  @Relationship(deleteRule: .nullify, inverse: \Author.friends) var friendOf: [Author] = []
  var friends: [Author] = []
  @Relationship(inverse: \Profile.author) var profile: Profile?

  init(name: String, books: [Book] = []) {
    self.name = name
    self.books = books
  }
}

@Model
final class Book {
  #Index<Book>([\.title], [\.year, \.title])
  #Unique<Book>([\.title, \.year])

  var title: String
  var year: Int
  var pages: Int = 100
  var rating: Double?
  var price: Decimal = 0
  var author: Author?
  // Inferred as inverses of each other.
  var shelves: [Shelf] = []
  @Attribute(originalName: "text") var summary: String?

  init(title: String, year: Int, author: Author? = nil) {
    self.title = title
    self.year = year
    self.author = author
  }
}

@Model
final class Shelf {
  var name: String
  var books: [Book] = []

  init(_ name: String, _ books: [Book] = []) {
    self.name = name
    self.books = books
  }
}

@Model
final class Profile {
  var motto: String
  var author: Author?
  init(_ motto: String) { self.motto = motto }
}

@Model
final class Node {
  var name: String
  var parent: Node?
  @Relationship(deleteRule: .cascade, inverse: \Node.parent) var children: [Node]? = []

  init(_ name: String, children: [Node] = []) {
    self.name = name
    self.children = children
  }
}

@Model
final class Ticket {
  #Unique<Ticket>([\.project, \.number])
  var project: Project
  var number: Int
  init(_ project: Project, _ number: Int) {
    self.project = project
    self.number = number
  }
}

@Model
final class Project {
  @Attribute(.unique, .preserveValueOnDeletion) var key: String
  @Relationship(deleteRule: .cascade, inverse: \Ticket.project) var tickets: [Ticket] = []
  init(key: String) { self.key = key }
}

@Model
final class Place {
  #Index<Place>(.rtree([\.latitude, \.longitude]), .binary([\.name]))
  var name: String
  var latitude: Double
  var longitude: Double
  init(_ name: String, _ latitude: Double, _ longitude: Double) {
    self.name = name
    self.latitude = latitude
    self.longitude = longitude
  }
}

// Inheritance.

@Model
class Vehicle {
  var name: String
  var wheels: Int = 4
  init(name: String) { self.name = name }
  func describe() -> String { "\(name) with \(wheels) wheels" }
}

@Model
class Car: Vehicle {
  var doors: Int
  init(name: String, doors: Int) {
    self.doors = doors
    super.init(name: name)
  }
  override func describe() -> String { super.describe() + " and \(doors) doors" }
}

@Model
final class SportsCar: Car {
  var topSpeed: Double = 300
  init(name: String) {
    super.init(name: name, doors: 2)
    wheels = 4
  }
}

// Transformers.

final class Colour: NSObject, Codable {
  let red: Double
  init(red: Double) { self.red = red }
}

final class ColourTransformer: ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? Colour).map { Data("\($0.red)".utf8) }
  }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).flatMap { Double(String(decoding: $0, as: UTF8.self)) }.map { Colour(red: $0) }
  }
  static func register() {
    ValueTransformer.setValueTransformer(
      ColourTransformer(), forName: NSValueTransformerName("ColourTransformer"))
  }
}

@Model
final class Palette {
  @Attribute(.transformable(by: ColourTransformer.self)) var colour: Colour?
  @Attribute(.ephemeral) var isSelected = false
  @Attribute(.externalStorage) var picture: Data?
  @Attribute(.spotlight, .allowsCloudEncryption, hashModifier: "2") var note: String = ""
  init() {}
}

/// A protocol with models behind it.
protocol Named {
  var name: String { get }
}
extension Author: Named {}
extension Shelf: Named {}
