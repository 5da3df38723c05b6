/// Puts of keys without values, and deletes: collected, then applied in key order.
///
/// Neighbours in the tree are changed one after another, in whatever order the changes were made. In the log what is put meanwhile is
/// contiguous, without these keys between, which makes scans faster.
///
/// - Invariant: Changes of one key keep the order in which they were made.
package struct KeyChanges {
  package enum Kind: UInt8, BitwiseCopyable {
    case delete, put
    /// A put that the caller looks at again.
    case notedPut
  }

  @usableFromInline struct Change: BitwiseCopyable {
    /// The key's first sixteen bytes as numbers, which distinguish nearly all keys.
    let first, second: UInt64
    var offset: Int
    /// How many changes were made before this one.
    let order: UInt32
    let count: UInt16
    let kind: Kind

    @usableFromInline init(_ bytes: UnsafeRawBufferPointer, from offset: Int, _ order: Int, _ kind: Kind) {
      let count = bytes.count - offset
      (first, second) = (Self.word(bytes, offset, count), Self.word(bytes, offset + 8, count - 8))
      (self.offset, self.order, self.count, self.kind) = (offset, UInt32(order), UInt16(count), kind)
    }

    /// Eight bytes as a number with the same order, padded with zeros.
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ count: Int) -> UInt64 {
      if count >= 8 { return bytes.field64(offset).byteSwapped }
      var word: UInt64 = 0
      for index in 0..<8 { word = word << 8 | (index < count ? UInt64(bytes[offset + index]) : 0) }
      return word
    }
  }

  /// The keys, one after another: in the order in which the changes were made, and once they are sorted, in their own.
  @usableFromInline var bytes: [UInt8] = []
  @usableFromInline var changes: [Change] = []
  /// Whether some are noted puts.
  package private(set) var hasNoted = false

  package init() {}

  package var isEmpty: Bool { changes.isEmpty }
  package var count: Int { changes.count }

  /// Reserves memory for `count` more changes. Called for each of many parts, it moves what is there as seldom as appending does.
  package mutating func reserve(_ count: Int) {
    let usualKeySize = 32
    let (most, mostBytes) = (changes.count + count, bytes.count + count * usualKeySize)
    if most > changes.capacity { changes.reserveCapacity(max(most, 2 * changes.capacity)) }
    if mostBytes > bytes.capacity { bytes.reserveCapacity(max(mostBytes, 2 * bytes.capacity)) }
  }

  package mutating func add(_ kind: Kind, _ key: [UInt8]) {
    add(kind) { bytes in
      bytes += key
      return true
    }
  }

  /// - Parameter write: Appends the key, of at most 65,535 bytes; returns false if there is none.
  @inlinable @inline(__always)
  package mutating func add(_ kind: Kind, _ write: (inout [UInt8]) -> Bool) {
    let offset = bytes.count
    guard write(&bytes) else { return }
    append(kind, offset)
  }

  @usableFromInline mutating func append(_ kind: Kind, _ offset: Int) {
    changes.append(bytes.withUnsafeBytes { Change($0, from: offset, changes.count, kind) })
    if kind == .notedPut { hasNoted = true }
  }

  /// Makes the changes in key order, and removes them from the collection.
  ///
  /// - Returns: The changes.
  @discardableResult
  package mutating func write(to transaction: WriteTransaction) throws -> KeyChanges {
    var written = KeyChanges()
    swap(&written, &self)
    written.sort()
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    try written.forEach { kind, key, _ in
      if kind == .delete { _ = try transaction.delete(key) } else { try transaction.put(key, nothing) }
    }
    return written
  }

  /// Calls `body` with each change and a number that ascends in the order in which changes were made. What `write` returns is in key order.
  package func forEach(_ body: (Kind, UnsafeRawBufferPointer, Int) throws -> Void) rethrows {
    try bytes.withUnsafeBytes { bytes in
      for change in changes { try body(change.kind, change.key(in: bytes), Int(change.order)) }
    }
  }

  mutating func sort() {
    let isSorted = bytes.withUnsafeBytes { bytes in
      guard !zip(changes, changes.dropFirst()).allSatisfy({ $0.precedes($1, in: bytes) }) else { return true }
      changes = KeySort(changes, bytes).sorted()
      assert(
        zip(changes, changes.dropFirst()).allSatisfy { $0.precedes($1, in: bytes) },
        "changes of keys are out of order")
      return false
    }
    if !isSorted { gatherKeys() }
  }

  /// Copies the keys into the order of the changes. Those that read them next would wait for memory at each key; here the reads overlap.
  private mutating func gatherKeys() {
    bytes = bytes.withUnsafeBytes { bytes in
      [UInt8](count: changes.reduce(0) { $0 + Int($1.count) }) { gathered in
        var offset = 0
        for index in changes.indices {
          gathered.copy(changes[index].key(in: bytes), to: offset)
          changes[index].offset = offset
          offset += Int(changes[index].count)
        }
      }
    }
  }
}

extension KeyChanges.Change {
  func key(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    bytes.bytes(offset..<offset + Int(count))
  }

  @inline(__always)
  func precedes(_ other: Self, in bytes: UnsafeRawBufferPointer) -> Bool {
    if first != other.first { return first < other.first }
    if second != other.second { return second < other.second }
    let order = SearchKey.compare(SearchKey(key(in: bytes)), SearchKey(other.key(in: bytes)))
    return order != 0 ? order < 0 : self.order < other.order
  }

  @inline(__always)
  func word(_ number: Int) -> UInt64 { number == 0 ? first : second }
}

/// Sorts changes by up to eight bits of their keys at a time, from the first ones in which some differ: what comparing would take for each
/// pair, and mispredict half of the time, it takes once for each change.
private struct KeySort: ~Copyable {
  private typealias Change = KeyChanges.Change

  private let changes: FixedArray<Change>
  private let scratch: FixedArray<Change>
  /// The places of the next changes with the same bits.
  private let places: FixedArray<Int>
  private let bytes: UnsafeRawBufferPointer

  private static let mostBits = 8
  /// As many are faster to sort by comparing.
  private static let few = 24

  init(_ unsorted: [KeyChanges.Change], _ bytes: UnsafeRawBufferPointer) {
    changes = FixedArray(count: unsorted.count)
    scratch = FixedArray(count: unsorted.count)
    places = FixedArray(count: 1 << Self.mostBits)
    self.bytes = bytes
    for (index, change) in unsorted.enumerated() { changes[index] = change }
  }

  func sorted() -> [KeyChanges.Change] {
    sort(0..<changes.count, of: changes, with: scratch, by: 0)
    return (0..<changes.count).map { changes[$0] }
  }

  /// Sorts changes into `changes`.
  ///
  /// - Parameters:
  ///   - source: The array that has them, `changes` or `scratch`.
  ///   - target: The other one.
  ///   - number: Of the words of the keys, the first one in which some may differ.
  private func sort(
    _ range: Range<Int>, of source: borrowing FixedArray<Change>, with target: borrowing FixedArray<Change>,
    isMoved: Bool = false, by number: Int
  ) {
    guard range.count > Self.few else {
      if isMoved { for index in range { target[index] = source[index] } }
      return insert(range)
    }
    let first = source[range.lowerBound].word(number)
    var differences: UInt64 = 0
    for index in range { differences |= source[index].word(number) ^ first }
    guard differences != 0 else {
      if number == 0 { return sort(range, of: source, with: target, isMoved: isMoved, by: 1) }
      if isMoved { for index in range { target[index] = source[index] } }
      return compare(range)
    }
    let bits = min(Self.mostBits, Int.bitWidth - range.count.leadingZeroBitCount)
    let shift = UInt64(max(0, UInt64.bitWidth - differences.leadingZeroBitCount - bits))
    let mask = 1 << UInt64(bits) - 1
    @inline(__always) func part(_ change: Change) -> Int {
      Int(truncatingIfNeeded: change.word(number) &>> shift) & mask
    }
    for part in 0...mask { places[part] = 0 }
    for index in range { places[part(source[index])] &+= 1 }
    var place = range.lowerBound
    for part in 0...mask { (places[part], place) = (place, place &+ places[part]) }
    for index in range {
      let part = part(source[index])
      target[places[part]] = source[index]
      places[part] &+= 1
    }
    var start = range.lowerBound
    while start < range.upperBound {
      let same = part(target[start])
      var end = start &+ 1
      while end < range.upperBound, part(target[end]) == same { end &+= 1 }
      sort(start..<end, of: target, with: source, isMoved: !isMoved, by: number)
      start = end
    }
  }

  private func insert(_ range: Range<Int>) {
    for index in range.dropFirst() {
      let change = changes[index]
      var place = index
      while place > range.lowerBound, change.precedes(changes[place &- 1], in: bytes) {
        changes[place] = changes[place &- 1]
        place &-= 1
      }
      changes[place] = change
    }
  }

  /// Sorts changes of keys that begin with the same sixteen bytes.
  private func compare(_ range: Range<Int>) {
    let sorted = range.map { changes[$0] }.sorted { $0.precedes($1, in: bytes) }
    for (index, change) in sorted.enumerated() { changes[range.lowerBound + index] = change }
  }
}
