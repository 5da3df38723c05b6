/// The values of lists that reads returned, and the resulting order of the elements.
struct ListReads {
  struct Read {
    let key: Int
    let reader: Int
    /// The value without the elements that the reader itself had appended before.
    let value: [Int]
  }

  private(set) var reads: [Read] = []
  /// The longest value that was read of each list.
  private(set) var orders: [Int: [Int]] = [:]

  mutating func add(_ value: [Int], of key: Int, by reader: Int) {
    reads.append(Read(key: key, reader: reader, value: value))
    addVersion(value, of: key)
  }

  mutating func addVersion(_ value: [Int], of key: Int) {
    if value.count > orders[key]?.count ?? 0 { orders[key] = value }
  }

  /// Whether the value is a version of the list.
  func isVersion(_ value: [Int], of key: Int) -> Bool { (orders[key] ?? []).starts(with: value) }

  /// The element that was appended to this version.
  func successor(of version: [Int], of key: Int) -> Int? {
    guard let order = orders[key], version.count < order.count else { return nil }
    return order[version.count]
  }
}
