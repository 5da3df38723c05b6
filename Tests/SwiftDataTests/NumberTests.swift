import Foundation
import SwiftData
import Testing

/// Whole numbers of all widths are stored as numbers: they sort and compare as such.
struct NumberTests {
  let context: ModelContext
  let models: [Widths]

  init() throws {
    context = try Library.context(of: Widths.self)
    models = [100, 1, 20, 3, 5].map { Widths($0) } + [Widths(least: true), Widths(least: false)]
    for model in models { context.insert(model) }
    try context.save()
  }

  private func checkOrder<Value: Comparable>(
    _ path: KeyPath<Widths, Value> & Sendable, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(path)])).map { $0[keyPath: path] }
    #expect(found == models.map { $0[keyPath: path] }.sorted(), sourceLocation: sourceLocation)
  }

  private func check(
    _ predicate: Predicate<Widths>, _ count: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try ModelContext(context.container).fetch(FetchDescriptor(predicate: predicate))
    let expected = try models.filter { try predicate.evaluate($0) }
    #expect(Set(found.map(\.name)) == Set(expected.map(\.name)), sourceLocation: sourceLocation)
    #expect(!expected.isEmpty && expected.count < models.count, sourceLocation: sourceLocation)
    if let count { #expect(expected.count == count, sourceLocation: sourceLocation) }
  }

  // SWD-24
  @Test func `numbers of all widths are sorted by their value`() throws {
    try checkOrder(\.i8)
    try checkOrder(\.u8)
    try checkOrder(\.u16)
    try checkOrder(\.u32)
    try checkOrder(\.u64)
    try checkOrder(\.u)
    try checkOrder(\.level)
    try checkOrder(\.pair.second)
  }

  // SWD-23
  @Test func `numbers of all widths are compared by their value`() throws {
    let (some, limit): ([UInt64], UInt64) = ([1, .max], 1 << 63)
    let none: UInt8? = nil
    try check(#Predicate { $0.i8 > 9 }, 3)
    try check(#Predicate { $0.i8 < 0 }, 1)
    try check(#Predicate { $0.u8 > 9 }, 3)
    try check(#Predicate { $0.u16 >= 100 }, 2)
    try check(#Predicate { $0.u32 <= 3 }, 3)
    try check(#Predicate { $0.u64 > limit }, 1)
    try check(#Predicate { $0.u64 == 20 }, 1)
    try check(#Predicate { some.contains($0.u64) }, 2)
    try check(#Predicate { (3...20).contains($0.u) }, 3)
    try check(#Predicate { $0.optional == none }, 2)
    try check(#Predicate { ($0.optional ?? 4) < 5 }, 4)
    try check(#Predicate { $0.pair.second > 9 }, 3)
  }

  // SWD-23
  @Test func `numbers of all widths are computed with`() throws {
    try check(#Predicate { $0.u8 / 3 == 6 }, 1)
    try check(#Predicate { $0.u32 % 3 == 2 })
    try check(#Predicate { $0.u64 % 3 == 2 })
    try check(#Predicate { $0.u64 / 2 * 2 == $0.u64 })
  }

  // SWD-23
  @Test func `enumerations with such numbers are conditions`() throws {
    let high = Level.high
    try check(#Predicate { $0.level == high })
    try check(#Predicate { $0.level.rawValue > 1 })
  }

  // SWD-01
  @Test func `the greatest and the least numbers are stored, and all defaults`() throws {
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Widths>())
    for model in models {
      let stored = try #require(found.first { $0.name == model.name })
      #expect(stored.i8 == model.i8 && stored.u8 == model.u8 && stored.u16 == model.u16)
      #expect(stored.u32 == model.u32 && stored.u64 == model.u64 && stored.u == model.u)
      #expect(stored.optional == model.optional && stored.pair == model.pair && stored.level == model.level)
      #expect(stored.same == 7)
    }
  }

  // SWD-07
  @Test func `a unique number is one of all`() throws {
    let model = Widths(1)
    model.name = "second"
    context.insert(model)
    try context.save()
    let found = try ModelContext(context.container).fetch(
      FetchDescriptor<Widths>(predicate: #Predicate { $0.u == 1 }))
    #expect(found.map(\.name) == ["second"])
  }

  // SWD-24, SWD-40
  @Test func `no order is by what is stored in a form with another order`() throws {
    let context = try Library.context(of: Ranked.self)
    #expect { try context.fetch(FetchDescriptor<Ranked>(sortBy: [SortDescriptor(\.rank)])) } throws: {
      SwiftDataError.unsupportedSortDescriptor ~= $0
    }
    #expect { try context.fetch(FetchDescriptor<Ranked>(sortBy: [SortDescriptor(\.plain)])) } throws: {
      SwiftDataError.unsupportedSortDescriptor ~= $0
    }
    #expect(try context.fetch(FetchDescriptor<Ranked>(sortBy: [SortDescriptor(\.level)])).isEmpty)
  }
}

/// Values that are stored in a form which has another order, or of which equality means nothing.
struct EncodedComparisonTests {
  let context: ModelContext

  init() throws {
    context = try Library.context(of: Ranked.self)
    context.insert(Ranked(rank: .low, plain: .small, level: .low))
    context.insert(Ranked(rank: .high, plain: .large, level: .high))
    try context.save()
  }

  private func expectRefusal(
    _ predicate: Predicate<Ranked>, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(sourceLocation: sourceLocation) {
      try context.fetch(FetchDescriptor(predicate: predicate))
    } throws: {
      SwiftDataError.unsupportedPredicate ~= $0
    }
  }

  // SWD-23, SWD-40
  @Test func `comparisons of what is stored in another order are refused`() {
    let (rank, plain, tags): (Rank, Unnumbered, Set<String>) = (.mid, .small, ["a"])
    expectRefusal(#Predicate { $0.rank > rank })
    expectRefusal(#Predicate { $0.plain > plain })
    expectRefusal(#Predicate { $0.tags == tags })
  }

  // SWD-23
  @Test func `enumerations without raw values are equal or not`() throws {
    let (rank, plain, level): (Rank, Unnumbered, Level) = (.low, .small, .low)
    func count(_ predicate: Predicate<Ranked>) throws -> Int {
      try context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(try count(#Predicate { $0.rank == rank }) == 1)
    #expect(try count(#Predicate { $0.plain == plain }) == 1)
    #expect(try count(#Predicate { $0.plain != plain }) == 1)
    #expect(try count(#Predicate { $0.level > level }) == 1)
  }
}

enum Level: UInt8, Codable, Comparable, CaseIterable {
  case low = 1
  case high = 20
  static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
}

/// Its cases are not ordered as their texts are.
enum Rank: String, Codable, Comparable, CaseIterable {
  case low, mid, high
  static func < (left: Rank, right: Rank) -> Bool {
    (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
  }
}

enum Unnumbered: Codable, Comparable { case small, large }

struct Pair: Codable, Equatable {
  var first: UInt8 = 0
  var second: UInt8 = 0
  var third: UInt64?
}

@Model final class Widths {
  #Index<Widths>([\.u64], [\.i8])
  var name: String
  var i8: Int8
  var u8: UInt8
  var u16: UInt16
  var u32: UInt32
  var u64: UInt64
  @Attribute(.unique) var u: UInt
  var optional: UInt8?
  var same: UInt16 = 7
  var level: Level
  var pair: Pair

  init(_ number: Int) {
    name = "\(number)"
    i8 = Int8(number)
    u8 = UInt8(number)
    u16 = UInt16(number)
    u32 = UInt32(number)
    u64 = UInt64(number)
    u = UInt(number)
    optional = UInt8(number)
    level = number > 4 ? .high : .low
    pair = Pair(first: 0, second: UInt8(number), third: number > 4 ? .max : nil)
  }

  init(least: Bool) {
    name = least ? "least" : "greatest"
    i8 = least ? .min : .max
    u8 = least ? .min : .max
    u16 = least ? .min : .max
    u32 = least ? .min : .max
    u64 = least ? .min : .max
    u = least ? .min : .max
    level = least ? .low : .high
    pair = Pair(first: 1, second: least ? .min : .max, third: least ? .min : .max)
  }
}

@Model final class Ranked {
  var rank: Rank
  var plain: Unnumbered
  var level: Level
  var tags: Set<String> = []

  init(rank: Rank, plain: Unnumbered, level: Level) {
    self.rank = rank
    self.plain = plain
    self.level = level
  }
}
