import Foundation

@testable import Heartwood

/// Text that is parsed as a predicate, compiled for two entities and evaluated for their rows.
enum PredicateTarget {
  static func finding(_ bytes: [UInt8]) -> String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    do {
      let world = try FuzzWorld.shared.get()
      let predicate = try FormatPredicate(text, argumentArray: [1, "name", 2.5])
      if let finding = rewritten(predicate) { return finding }
      for entity in [world.city, world.country] {
        guard let compiled = try? CompiledPredicate(predicate, entity: entity) else { continue }
        for key in world.keys(entity) {
          guard let row = try world.row(entity, key) else { continue }
          _ = try compiled.matches(row, key: key, in: world)
        }
      }
      return nil
    } catch let error as HeartwoodError {
      return error.description.isEmpty ? "an error without a message" : nil
    } catch {
      return "\(error)"
    }
  }

  /// Checks that a predicate's description is parsed as the same predicate.
  private static func rewritten(_ predicate: FormatPredicate) -> String? {
    let text = predicate.description
    do {
      let again = try FormatPredicate(text).description
      return again == text ? nil : "\(text) is read as \(again)"
    } catch {
      return "\(text) is not read again: \(error)"
    }
  }

  static var seeds: [[UInt8]] {
    [
      "population > 5 AND name BEGINSWITH[cd] 'p'",
      "ANY cities.name IN {'Lyon', \"Paris\"} OR cities.@count == 0",
      "NOT (area BETWEEN {1, 2.5}) && isOld == TRUE", "name LIKE '*a?' OR name MATCHES '^P.*s$'",
      "SUBQUERY(cities, $c, $c.population > %@ AND $c.name != %@).@count > 1", "country.code = nil",
      "founded < CAST(5, 'NSDate')", "small + 2 * medium - 1 >= -3.5e2 / 2", "cities.@sum.population <= 1",
      "%K CONTAINS 'x'", "TRUEPREDICATE OR FALSEPREDICATE", "SELF == nil", "ALL cities.area != 1",
      "page == 'https://www.paris.fr/'", "tag == '7D3B8E0A-1111-4222-8333-944455556666'", "#any == 1",
    ].map { [UInt8]($0.utf8) }
  }
}
