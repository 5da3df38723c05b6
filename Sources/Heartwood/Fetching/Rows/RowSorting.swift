/// Reads what computed rows are sorted by.
struct RowSorting {
  let keys: [RowProgram.Key]
  let row: ComputedRow
  let place: Place

  /// The values that some of the rows are sorted by.
  func values(of rows: [[Value]], _ numbers: some Sequence<Int>) throws -> SortValues {
    var values = SortValues(keys.map { SortValues.Column(isAscending: $0.isAscending, options: $0.options) })
    for number in numbers {
      row.values = rows[number]
      for key in keys { values.append(try key.reader.read(place), key.options) }
    }
    return values
  }
}

/// The values that rows are sorted by, those of a row one after the other.
struct SortValues {
  /// A key of the order.
  struct Column {
    let isAscending: Bool
    let options: ComparisonOptions
  }

  private let columns: [Column]
  private var values: [Value] = []
  /// The values as integers in ascending order, as long as all can be: they are compared without looking at their types.
  private var integers: [Int64]? = []

  init(_ columns: [Column]) { self.columns = columns }

  /// Adds the next value as its column's options order it.
  mutating func append(_ value: Value, _ options: ComparisonOptions) {
    if !options.isEmpty, let text = value.text {
      append(ComparableText.sortValue(text, options))
    } else {
      append(value)
    }
  }

  mutating func append(_ value: Value) {
    let column = values.count % columns.count
    values.append(value)
    guard integers != nil else { return }
    if let integer = value.sortInteger {
      integers?.append(columns[column].isAscending ? integer : ~integer)
    } else {
      integers = nil
    }
  }

  private var rowCount: Int { values.count / columns.count }

  /// Removes the values of the last row.
  mutating func removeLast() {
    values.removeLast(columns.count)
    integers?.removeLast(columns.count)
  }

  /// Replaces the values of a row by those of the last one.
  mutating func moveLast(to row: Int) {
    let (count, last) = (columns.count, values.count - columns.count)
    for column in 0..<count { values[row * count + column] = values[last + column] }
    if integers != nil {
      for column in 0..<count { integers![row * count + column] = integers![last + column] }
    }
    removeLast()
  }

  /// Negative if the left row comes first, zero if both are equal.
  func compare(_ left: Int, _ right: Int) -> Int {
    let (left, right) = (left * columns.count, right * columns.count)
    for (column, key) in columns.enumerated() {
      let order = ComparableText.order(values[left + column], values[right + column], key.options)
      if order != 0 { return key.isAscending ? order : -order }
    }
    return 0
  }

  /// The numbers of the rows in order; equal ones stay as they are.
  ///
  /// - Parameter placesEqual: Whether of two equal rows the first one comes before the second.
  /// - Complexity: O(n log n) for n rows.
  func order(_ placesEqual: (Int, Int) -> Bool = { $0 < $1 }) -> [Int] {
    guard let integers else {
      return (0..<rowCount).sorted { left, right in
        let order = compare(left, right)
        return order != 0 ? order < 0 : placesEqual(left, right)
      }
    }
    let count = columns.count
    return (0..<rowCount).sorted { left, right in
      for column in 0..<count {
        let (first, second) = (integers[left &* count &+ column], integers[right &* count &+ column])
        if first != second { return first < second }
      }
      return placesEqual(left, right)
    }
  }
}

extension Value {
  /// An integer in the order of the value among those of its type; nil if there is none.
  fileprivate var sortInteger: Int64? {
    switch self {
    case .int(let number): return number
    case .date(let seconds) where !seconds.isNaN:
      // Without the sign, the bits of negative numbers are in descending order. Adding zero makes both zeros equal.
      let bits = Int64(bitPattern: (seconds + 0).bitPattern)
      return bits < 0 ? bits ^ .max : bits
    default: return nil
    }
  }
}
