import BenchmarkHarness
import Foundation

/// The objects of two published benchmarks, made from a seed:
///
/// - users, and students of schools with their grades, as in "SwiftData vs Realm: Performance Comparison"
///   (https://www.emergetools.com/blog/posts/swiftdata-vs-realm-performance-comparison): 100,000 of each, a hundred schools,
///   two to seven grades of a student;
/// - orders of fourteen columns, as in Lighter's page on its performance, which loads the 16,000 of the Northwind database
///   (https://github.com/Lighter-swift/PerformanceTestSuite).
struct PublishedData {
  struct User {
    let identity: UUID
    let firstName, surname: String
    let age: Int64
  }

  struct School {
    let identity: UUID
    let name, location, kind: String
    let students: [Student]
  }

  struct Student {
    let identity: UUID
    let firstName, surname: String
    let age: Int64
    let grades: [Grade]
  }

  struct Grade {
    let identity: UUID
    let subject, grade, board: String
  }

  struct Order {
    let number: Int64
    let customer: String
    let employee: Int64
    /// As the database has them: `2019-02-10 04:59:33`. Some were not shipped.
    let ordered, required: String
    let shipped: String?
    let shipper: Int64
    let freight: Double
    let name, address, city: String
    let region: String?
    let postalCode, country: String
  }

  let users: [User]
  let schools: [School]
  let orders: [Order]

  static let askedName = "Jane"
  static let newName = "Wendy"
  static let askedSubject = "physics"
  static let askedGrade = "aStar"

  private static let subjects = [
    "maths", "english", "literature", askedSubject, "chemistry", "biology", "history", "geography", "french",
    "german", "music", "art", "physicalEducation", "religiousStudies",
  ]
  private static let grades = [askedGrade, "a", "b", "c", "d", "e", "f", "u"]
  private static let boards = ["aqa", "edexcel", "ocr"]
  private static let kinds = ["comprehensive", "grammar", "private", "religious"]

  var students: Int { schools.reduce(0) { $0 + $1.students.count } }

  /// How many objects the schools are, with their students and grades.
  var objectsOfSchools: Int {
    schools.reduce(0) { $0 + 1 + $1.students.reduce(0) { $0 + 1 + $1.grades.count } }
  }

  /// - Parameter objects: How many users and students; there are 16 orders to a hundred of them.
  init(objects: Int) {
    var draw = Draw()
    users = (0..<objects).map { _ in
      User(
        identity: draw.identity(), firstName: draw.firstName(), surname: draw.surname(), age: draw.number(99))
    }
    schools = (0..<100).map { number in
      School(
        identity: draw.identity(), name: "School \(number)", location: draw.surname(),
        kind: draw.one(of: Self.kinds),
        students: (0..<max(1, objects / 100)).map { _ in
          Student(
            identity: draw.identity(), firstName: draw.firstName(), surname: draw.surname(),
            age: 11 + draw.number(7),
            grades: (0..<2 + draw.number(6)).map { _ in
              Grade(
                identity: draw.identity(), subject: draw.one(of: Self.subjects),
                grade: draw.one(of: Self.grades),
                board: draw.one(of: Self.boards))
            })
        })
    }
    orders = (0..<max(1, objects * 16 / 100)).map { draw.order(10_248 + Int64($0)) }
  }

  /// Draws values in a fixed order.
  private struct Draw {
    private var random = SplitMix64(seed: 77)
    private var firstNames: [String] = []
    private var surnames: [String] = []

    init() {
      firstNames = [PublishedData.askedName] + (0..<499).map { _ in word() }
      surnames = (0..<1000).map { _ in word() }
    }

    mutating func number(_ limit: Int) -> Int64 { Int64(random.next(below: limit)) }

    mutating func one(of texts: [String]) -> String { texts[random.next(below: texts.count)] }

    mutating func firstName() -> String { one(of: firstNames) }

    mutating func surname() -> String { one(of: surnames) }

    mutating func identity() -> UUID {
      var bytes = UUID().uuid
      withUnsafeMutableBytes(of: &bytes) { bytes in
        bytes.storeBytes(of: random.next(), toByteOffset: 0, as: UInt64.self)
        bytes.storeBytes(of: random.next(), toByteOffset: 8, as: UInt64.self)
      }
      return UUID(uuid: bytes)
    }

    mutating func word() -> String {
      let letters = (0..<(4 + random.next(below: 6))).map { _ in UInt8(97 + random.next(below: 26)) }
      return String(decoding: letters, as: UTF8.self).capitalized
    }

    mutating func day() -> String {
      func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
      return "\(2016 + number(8))-\(two(1 + number(12)))-\(two(1 + number(28))) "
        + "\(two(number(24))):\(two(number(60))):\(two(number(60)))"
    }

    mutating func order(_ number: Int64) -> Order {
      Order(
        number: number, customer: word().prefix(5).uppercased(), employee: 1 + self.number(9), ordered: day(),
        required: day(), shipped: self.number(20) == 0 ? nil : day(), shipper: 1 + self.number(3),
        freight: Double(self.number(100_000)) / 100, name: "\(word()) \(word())",
        address: "\(self.number(100)) \(word()) Street", city: word(),
        region: self.number(3) == 0 ? nil : word(), postalCode: String(10_000 + self.number(90_000)),
        country: word())
    }
  }
}

extension ReadDigest {
  /// Takes in every column of an order.
  mutating func add(
    _ numbers: (Int64, Int64, Int64), _ freight: Double, _ texts: (String, String, String, String, String),
    _ others: (String, String, String), _ optional: (String?, String?)
  ) {
    add(UInt64(bitPattern: numbers.0))
    add(UInt64(bitPattern: numbers.1))
    add(UInt64(bitPattern: numbers.2))
    add(freight.bitPattern)
    for text in [texts.0, texts.1, texts.2, texts.3, texts.4, others.0, others.1, others.2] { add(text) }
    for text in [optional.0, optional.1] { add(text ?? "-") }
  }
}
