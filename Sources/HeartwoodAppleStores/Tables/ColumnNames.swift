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

  /// The kind of value that a column is declared for.
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

  /// The column whose name has the least rank; nil if none has one.
  mutating func take(_ rank: (Substring) -> (Int, Int)?) -> Int? {
    let ranked = places.filter { !taken.contains($0.value) }.compactMap { name, place in
      rank(name[...]).map { (rank: $0, place: place) }
    }
    guard let place = ranked.min(by: { $0.rank < $1.rank })?.place else { return nil }
    taken.insert(place)
    return place
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

  /// How near the name is to that of a property: 0 if it is the same, more by the number at its end, nil if it is another one.
  func rank(of property: String) -> Int? {
    let wanted = property.uppercased()
    guard name.hasPrefix(wanted) else { return nil }
    let digits = name.dropFirst(wanted.count)
    guard digits.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
    return digits.isEmpty ? 0 : 1 + min(Int(digits) ?? Self.mostDigits, Self.mostDigits)
  }

  private static let mostDigits = 1_000_000
}
