/// The numbers of transactions that code of migrations has saved, so that they are not taken for those of users.
package struct TransactionNumbers: Equatable, Sendable {
  /// In ascending order, without a number between two of them that is in none.
  private var ranges: [ClosedRange<UInt64>] = []

  /// - Parameter number: A greater one than all others.
  mutating func add(_ number: UInt64) {
    if let last = ranges.last, last.upperBound + 1 == number {
      ranges[ranges.count - 1] = last.lowerBound...number
    } else {
      ranges.append(number...number)
    }
  }

  mutating func add(_ other: TransactionNumbers) {
    ranges = (ranges + other.ranges).sorted { $0.lowerBound < $1.lowerBound }
  }

  package func contains(_ number: Int64) -> Bool {
    guard let number = UInt64(exactly: number) else { return false }
    return ranges.contains { $0.contains(number) }
  }

  var isEmpty: Bool { ranges.isEmpty }

  /// Such as `12-15`, for metadata.
  var texts: [String] { ranges.map { "\($0.lowerBound)-\($0.upperBound)" } }

  init() {}

  /// All up to a number; none for 0.
  init(through number: UInt64) { ranges = number > 0 ? [1...number] : [] }

  init(texts: [String]) {
    ranges = texts.compactMap { text in
      let ends = text.split(separator: "-").compactMap { UInt64($0) }
      guard ends.count == 2, ends[0] <= ends[1] else { return nil }
      return ends[0]...ends[1]
    }
  }
}
