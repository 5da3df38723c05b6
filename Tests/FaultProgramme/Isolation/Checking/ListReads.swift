/// What reads saw of lists, and the order of the elements that follows from it.
struct ListReads {
  struct Read {
    let key: Int
    let reader: Int
    /// Without what the reader itself had appended before.
    let value: [Int]
  }

  private(set) var reads: [Read] = []
  /// The longest that was seen of each list.
  private(set) var orders: [Int: [Int]] = [:]

  mutating func add(_ value: [Int], of key: Int, by reader: Int) {
    reads.append(Read(key: key, reader: reader, value: value))
    addVersion(value, of: key)
  }

  mutating func addVersion(_ value: [Int], of key: Int) {
    if value.count > orders[key]?.count ?? 0 { orders[key] = value }
  }

  /// Whether the list was so at some time.
  func isVersion(_ value: [Int], of key: Int) -> Bool { (orders[key] ?? []).starts(with: value) }

  /// The element that was appended next.
  func successor(of version: [Int], of key: Int) -> Int? {
    guard let order = orders[key], version.count < order.count else { return nil }
    return order[version.count]
  }
}
