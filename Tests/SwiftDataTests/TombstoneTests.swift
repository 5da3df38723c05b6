import Foundation
import SwiftData
import Testing

enum Kept {
  struct Point: Codable, Equatable {
    var x: Int
    var y: Double
    var note: String?
  }

  struct Line: Codable, Equatable {
    var from: Point
    var name: String
  }

  enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case none
  }

  enum Level: Int, Codable { case low, high }

  /// Everything is kept, but `other`.
  @Model
  final class Monument {
    @Attribute(.preserveValueOnDeletion) var point: Point
    @Attribute(.preserveValueOnDeletion) var place: Point?
    @Attribute(.preserveValueOnDeletion) var nowhere: Point?
    @Attribute(.preserveValueOnDeletion) var line: Line
    @Attribute(.preserveValueOnDeletion) var numbers: [Int]
    @Attribute(.preserveValueOnDeletion) var points: [Point]
    @Attribute(.preserveValueOnDeletion) var counts: [String: Int]
    @Attribute(.preserveValueOnDeletion) var shape: Shape
    @Attribute(.preserveValueOnDeletion) var level: Level
    @Attribute(.preserveValueOnDeletion) var price: Decimal
    @Attribute(.preserveValueOnDeletion) var link: URL
    @Attribute(.preserveValueOnDeletion) var built: Date
    @Attribute(.preserveValueOnDeletion) var key: UUID
    @Attribute(.preserveValueOnDeletion) var small: Int8
    @Attribute(.preserveValueOnDeletion) var large: UInt64
    @Attribute(.externalStorage, .preserveValueOnDeletion) var picture: Data
    var other: Point

    init() {
      point = Point(x: 1, y: 2.5, note: "p")
      place = Point(x: 3, y: 4)
      line = Line(from: Point(x: 5, y: 6, note: "l"), name: "L")
      (numbers, points, counts) = ([1, 2], [Point(x: 7, y: 8)], ["a": 1])
      (shape, level, small, large) = (.circle(radius: 2), .high, -3, .max)
      price = Decimal(string: "1.25") ?? 0
      link = URL(filePath: "/a")
      (built, key) = (Date(timeIntervalSince1970: 1000), UUID())
      picture = Data(repeating: 7, count: 1 << 20)
      other = Point(x: 0, y: 0)
    }
  }
}

struct TombstoneTests {
  // SWD-02, SWD-33
  @Test func `a tombstone has values of all types`() throws {
    let context = try Library.context(of: Kept.Monument.self)
    let model = Kept.Monument()
    context.insert(model)
    try context.save()
    context.delete(model)
    try context.save()
    let last = try #require((try context.fetchHistory() as [DefaultHistoryTransaction]).last)
    guard case .delete(let delete as DefaultHistoryDelete<Kept.Monument>)? = last.changes.first else {
      Issue.record("the last change is no deletion")
      return
    }
    let stone = delete.tombstone
    #expect(stone[\.point] == model.point && stone[\.place] == model.place && stone[\.line] == model.line)
    #expect(stone[\.nowhere] == nil && stone[\.other] == nil)
    #expect(stone[\.numbers] == [1, 2] && stone[\.points] == model.points && stone[\.counts] == ["a": 1])
    #expect(stone[\.shape] == .circle(radius: 2) && stone[\.level] == .high)
    #expect(stone[\.price] == model.price && stone[\.link] == model.link && stone[\.built] == model.built)
    #expect(stone[\.key] == model.key && stone[\.small] == -3 && stone[\.large] == .max)
    #expect(stone[\.picture] == Data(repeating: 7, count: 1 << 20))
    #expect(stone.map { "\($0.value)" }.count == 15)
  }
}
