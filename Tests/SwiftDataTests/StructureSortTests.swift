import Foundation
import SwiftData
import Testing

private enum Map {
  struct Position: Codable, Equatable {
    var latitude: Double
    var longitude: Double
    var name: String?
  }
  struct Plot: Codable, Equatable {
    var area: Double
    var position: Position?
    var code: String
    /// Computed, and of the type of a part.
    var circumference: Double { 4 * area + 1 }
  }

  enum Soil: String, Codable, Comparable {
    case sand, clay
    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  @Model final class Site {
    var number: Int
    var plot: Plot?
    var soil: Soil
    init(_ number: Int, _ plot: Plot?) {
      (self.number, self.plot) = (number, plot)
      soil = number % 2 == 0 ? .sand : .clay
    }
  }
}

struct StructureSortTests {
  private func context() throws -> ModelContext {
    let context = try Library.context(of: Map.Site.self)
    for number in 0..<6 {
      let position = Map.Position(
        latitude: Double(number * 5 % 6), longitude: Double(-number), name: "\(number * 5 % 6)")
      context.insert(
        Map.Site(number, Map.Plot(area: Double(number), position: position, code: "\(9 - number)")))
    }
    try context.save()
    return context
  }

  private func numbers(_ order: SortDescriptor<Map.Site>) throws -> [Int] {
    try context().fetch(FetchDescriptor<Map.Site>(sortBy: [order])).map(\.number)
  }

  // SWD-24
  @Test func `models are ordered by parts of structures, and of structures in them`() throws {
    #expect(try numbers(SortDescriptor(\.plot?.area)) == [0, 1, 2, 3, 4, 5])
    #expect(try numbers(SortDescriptor(\.plot?.code)) == [5, 4, 3, 2, 1, 0])
    #expect(try numbers(SortDescriptor(\.plot?.position?.latitude)) == [0, 5, 4, 3, 2, 1])
    #expect(try numbers(SortDescriptor(\.plot?.position?.longitude)) == [5, 4, 3, 2, 1, 0])
    #expect(try numbers(SortDescriptor(\.plot?.position?.name)) == [0, 5, 4, 3, 2, 1])
  }

  // SWD-24
  @Test func `an order by what a structure computes is refused`() throws {
    #expect {
      try numbers(SortDescriptor(\.plot?.circumference))
    } throws: {
      SwiftDataError.unsupportedSortDescriptor ~= $0
    }
  }

  // SWD-24
  @Test func `an order by a raw value is refused, and one by the enumeration works`()
    throws
  {
    #expect {
      try numbers(SortDescriptor(\.soil.rawValue))
    } throws: {
      SwiftDataError.unsupportedSortDescriptor ~= $0 && "\($0)".contains("sort by an enumeration itself")
    }
    #expect(try Set(numbers(SortDescriptor(\.soil)).prefix(3)) == [1, 3, 5])
  }
}
