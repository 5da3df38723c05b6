import HeartwoodFaults
import TestSupport

/// Silent damage of a file of a store.
enum Damage: Sendable, CustomStringConvertible {
  case flipped(String, offset: Int, mask: UInt8)
  case cut(String, length: Int)
  case zeroed(String, Range<Int>)
  case swapped(String, Range<Int>, with: Int)
  /// The range as it was at an earlier moment.
  case stale(String, Range<Int>)
  /// The whole file as it was at an earlier moment.
  case old(String)
  case missing(String)
  /// The same file of another store.
  case foreign(String)
  /// A copy of another file of the same store.
  case doubled(String, of: String)
  case appended(String, count: Int, isGarbage: Bool)

  var description: String {
    switch self {
    case .flipped(let name, let offset, let mask): "\(name), byte \(offset) changed by \(mask)"
    case .cut(let name, let length): "\(name) cut at \(length)"
    case .zeroed(let name, let range): "\(name), zeros in \(range)"
    case .swapped(let name, let range, let other): "\(name), \(range) and what is at \(other) swapped"
    case .stale(let name, let range): "\(name), \(range) as it was before"
    case .old(let name): "\(name) as it was before"
    case .missing(let name): "\(name) missing"
    case .foreign(let name): "\(name) of another store"
    case .doubled(let name, let other): "\(name) with what \(other) holds"
    case .appended(let name, let count, let isGarbage):
      "\(name) with \(count) \(isGarbage ? "strange bytes" : "zeros") more"
    }
  }

  /// Whether the damage can remove a whole tail of the log without a trace. In a store that was not closed,
  /// all transactions after those that the anchor proves can then be missing.
  var takesAwayMuch: Bool {
    if case .flipped = self { false } else { true }
  }

  /// Applies the damage. Returns false if it changes nothing.
  func happen(to store: inout StoreFiles, earlier: StoreFiles, other: StoreFiles) -> Bool {
    let before = store.files
    switch self {
    case .flipped(let name, let offset, let mask): store.files[name]?[offset] ^= mask
    case .cut(let name, let length): store.files[name] = store.files[name].map { Array($0.prefix(length)) }
    case .zeroed(let name, let range):
      store.files[name]?.replaceSubrange(range, with: repeatElement(0, count: range.count))
    case .swapped(let name, let range, let other): swap(name, range, other, in: &store)
    case .stale(let name, let range):
      let old = (earlier.files[name] ?? []).prefix(range.upperBound).dropFirst(range.lowerBound)
      let bytes = Array(old) + [UInt8](repeating: 0, count: range.count - old.count)
      store.files[name]?.replaceSubrange(range, with: bytes)
    case .old(let name): store.files[name] = earlier.files[name]
    case .missing(let name): store.files[name] = nil
    case .foreign(let name): store.files[name] = other.files[name]
    case .doubled(let name, let source): store.files[name] = store.files[source]
    case .appended(let name, let count, let isGarbage):
      var random = SplitMix64(seed: UInt64(count))
      store.files[name]? += isGarbage ? random.bytes(count) : [UInt8](repeating: 0, count: count)
    }
    return store.files != before
  }

  private func swap(_ name: String, _ range: Range<Int>, _ other: Int, in store: inout StoreFiles) {
    guard var bytes = store.files[name], other + range.count <= bytes.count else { return }
    for index in 0..<range.count { bytes.swapAt(range.lowerBound + index, other + index) }
    store.files[name] = bytes
  }
}

extension Damage {
  /// Flips one bit of each of these bytes. Other values of `bit` give other bits; eight values cover every
  /// bit.
  static func flips(of store: StoreFiles, at offsets: [String: [Int]], bit: Int) -> [Damage] {
    store.names.flatMap { name in
      (offsets[name] ?? []).map { .flipped(name, offset: $0, mask: 1 << UInt8(($0 + bit) % 8)) }
    }
  }

  static func cuts(of store: StoreFiles, at offsets: [String: [Int]]) -> [Damage] {
    store.names.flatMap { name in (offsets[name] ?? []).map { .cut(name, length: $0) } }
  }

  /// Damages sectors of 512 and 4096 bytes.
  static func sectors(of store: StoreFiles) -> [Damage] {
    store.names.flatMap { name -> [Damage] in
      let count = store.files[name]?.count ?? 0
      return [512, 4096].flatMap { size in
        stride(from: 0, to: count, by: size).flatMap { start -> [Damage] in
          let range = start..<min(count, start + size)
          let others = [start + size, (count / 2 + start) / size * size % max(count, 1)]
          return [.zeroed(name, range), .stale(name, range)]
            + others.filter { $0 != start }.map { .swapped(name, range, with: $0) }
        }
      }
    }
  }

  /// Files that are missing, outdated, from another store, or replaced.
  static func files(of store: StoreFiles) -> [Damage] {
    store.names.flatMap { name -> [Damage] in
      [.missing(name), .foreign(name), .old(name)]
        + store.names.filter { $0 != name }.map { .doubled(name, of: $0) }
        + [1, 7, 8, 512, 5000].flatMap { count in
          [true, false].map { .appended(name, count: count, isGarbage: $0) }
        }
    }
  }
}
