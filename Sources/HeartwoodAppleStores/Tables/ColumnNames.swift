import HeartwoodSQLite

/// The columns of a table that are not given to a property yet. Core Data makes a column's name of the property's, in upper case after a `Z`,
/// with a digit at the end where the name is taken already: by a property of a superentity, of a sibling, or of another group.
struct ColumnNames {
  private let columns: [SQLiteColumn]
  private var places: [String: Int] = [:]
  private var taken: Set<Int> = []

  /// How many digits at the end are tried.
  private static let mostDigits = 99
  /// Names of at least this length may have been cut.
  private static let shortestCut = 20

  init(_ table: SQLiteTable) {
    columns = table.columns
    for (place, column) in columns.enumerated() { places[column.name.uppercased()] = place }
  }

  /// What kind of value a column is declared for.
  enum Kind: String, CaseIterable {
    case integer = "INTEGER"
    case date = "TIMESTAMP"
    case number = "FLOAT"
    case decimal = "DECIMAL"
    case text = "VARCHAR"
    case bytes = "BLOB"
  }

  /// The column of a property by the name that it would have without clashes; nil if there is none. It is not given again.
  ///
  /// - Parameter onlyOfKind: Whether a column that is declared for another kind is none.
  mutating func take(_ name: String, _ kind: Kind, onlyOfKind: Bool = false) -> Int? {
    var free = candidates(name)
    if onlyOfKind {
      free.removeAll { place in
        Kind(rawValue: columns[place].declaredType.uppercased()).map { $0 != kind } ?? false
      }
    }
    guard
      let place = free.first(where: { columns[$0].declaredType.uppercased() == kind.rawValue }) ?? free.first
    else { return nil }
    taken.insert(place)
    return place
  }

  /// The column with one of several names, without regard to its kind.
  mutating func take(anyOf names: [String]) -> Int? {
    for name in names {
      guard let place = candidates(name).first else { continue }
      taken.insert(place)
      return place
    }
    return nil
  }

  /// The columns whose names match, in the order of their digits at the end.
  mutating func take(where matches: (Substring) -> Bool) -> Int? {
    let found = places.filter { !taken.contains($0.value) && matches($0.key[...]) }.min { left, right in
      (left.key.count, left.key) < (right.key.count, right.key)
    }
    guard let found else { return nil }
    taken.insert(found.value)
    return found.value
  }

  private func candidates(_ name: String) -> [Int] {
    let name = name.uppercased()
    var found: [Int] = []
    if let place = places[name], !taken.contains(place) { found.append(place) }
    for number in 1...Self.mostDigits {
      guard let place = places["\(name)\(number)"] else {
        // Numbers follow one another, but a migration may have removed the first ones.
        if number > 9 { break }
        continue
      }
      if !taken.contains(place) { found.append(place) }
    }
    if found.isEmpty, name.count > Self.shortestCut {
      let cut = places.filter { key, place in
        !taken.contains(place) && key.count >= Self.shortestCut && name.hasPrefix(key)
      }
      if let longest = cut.max(by: { $0.key.count < $1.key.count }) { found.append(longest.value) }
    }
    return found
  }
}

/// A name of a table or column with numbers: `Z_FOK_12ASSETS1` without its beginning.
struct NumberedName {
  let number: Int64
  let name: Substring

  /// Nil if the text does not begin with a number.
  init?(_ text: Substring) {
    let digits = text.prefix { ("0"..."9").contains($0) }
    guard !digits.isEmpty, let number = Int64(digits) else { return nil }
    self.number = number
    name = text.dropFirst(digits.count)
  }

  /// Whether the name is that of a property, maybe with digits at its end.
  func isName(of property: String) -> Bool {
    let wanted = property.uppercased()
    guard name.hasPrefix(wanted) else { return false }
    return name.dropFirst(wanted.count).allSatisfy { ("0"..."9").contains($0) }
  }
}
