import HeartwoodEngine
import HeartwoodFaults

/// One change of a simulated transaction.
enum SimulatedEdit: CustomStringConvertible {
  case put(String, [UInt8])
  case delete(String)
  case deleteRange(KeyRange)

  /// Returns whether a transaction with only this change makes a new generation.
  func apply(to rows: inout Rows) -> Bool {
    switch self {
    case .put(let key, let value):
      rows[key] = value
      return true
    case .delete(let key): return rows.removeValue(forKey: key) != nil
    case .deleteRange(let range):
      let keys = rows.keys.filter(range.contains)
      for key in keys { rows[key] = nil }
      return !keys.isEmpty
    }
  }

  /// Applies the change, and compares what the transaction then reads with `rows`, which include it.
  func apply(to transaction: WriteTransaction, before: Int, after rows: Rows) throws {
    switch self {
    case .put(let key, let value):
      try transaction.put(key, value)
      try require(try transaction.get(key) == value, "the transaction does not show its own \(key)")
    case .delete(let key):
      let wasThere = try transaction.delete(key)
      try require(wasThere == (before > rows.count), "deleting \(key) says \(wasThere)")
    case .deleteRange(let range):
      let count = try transaction.deleteRange(range)
      try require(Int(count) == before - rows.count, "\(count) keys deleted, not \(before - rows.count)")
    }
    try require(
      Int(transaction.count) == rows.count,
      "the transaction counts \(transaction.count) keys, not \(rows.count)")
  }

  var keys: [String] {
    switch self {
    case .put(let key, _), .delete(let key): [key]
    case .deleteRange(let range):
      [range.lower, range.upper].compactMap { $0.map { String(decoding: $0.key, as: UTF8.self) } }
    }
  }

  var description: String {
    switch self {
    case .put(let key, let value): "\(key.short)=\(value.count)"
    case .delete(let key): "-\(key.short)"
    case .deleteRange(let range): "-[\(range.words)]"
    }
  }
}

extension String {
  /// A recognizable abbreviation of a key.
  var short: String { utf8.count > 24 ? "\(prefix(8))…\(suffix(8))" : self }
}

extension KeyRange {
  func contains(_ key: String) -> Bool {
    func isBefore(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool {
      left.lexicographicallyPrecedes(right)
    }
    if let lower {
      if isBefore(key.utf8, lower.key) || (!lower.isInclusive && key.utf8.elementsEqual(lower.key)) {
        return false
      }
    }
    if let upper {
      if isBefore(upper.key, key.utf8) || (!upper.isInclusive && key.utf8.elementsEqual(upper.key)) {
        return false
      }
    }
    return true
  }

  var words: String {
    let ends = [lower, upper].map { bound in
      bound.map { String(decoding: $0.key, as: UTF8.self).short + ($0.isInclusive ? "" : "!") } ?? ""
    }
    return ends.joined(separator: "..")
  }
}

extension SplitMix64 {
  mutating func drawKey() -> String {
    let number = below(160)
    return switch below(40) {
    case 0..<20: "k\(number)"
    case 20..<30: "user/\(number % 10)/name \(number)"
    case 30..<39: "a rather long beginning that many have, \(number)"
    default: String(repeating: "long ", count: 190) + "\(number % 8)"
    }
  }

  mutating func drawRange() -> KeyRange {
    switch below(6) {
    case 0: return .prefix(Array("k\(1 + below(15))".utf8))
    case 1: return .prefix(Array("user/\(below(10))".utf8))
    case 2: return below(12) == 0 ? .all : .prefix(Array("a rather long beginning that many have, 1".utf8))
    default:
      let ends = [drawKey(), drawKey()].sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      return KeyRange(lower: drawBound(ends[0]), upper: drawBound(ends[1]))
    }
  }

  private mutating func drawBound(_ key: String) -> KeyRange.Bound? {
    below(20) == 0 ? nil : KeyRange.Bound(Array(key.utf8), isInclusive: below(2) == 0)
  }

  /// - Parameter number: Makes the value differ from that of every other transaction.
  mutating func drawEdit(_ number: Int) -> SimulatedEdit {
    switch below(40) {
    case 0..<28: .put(drawKey(), drawValue(number))
    case 28..<38: .delete(drawKey())
    default: .deleteRange(drawRange())
    }
  }

  private mutating func drawValue(_ number: Int) -> [UInt8] {
    let count =
      switch below(400) {
      case 0..<20: below(3)
      case 0..<280: 1 + below(100)
      case 0..<380: 100 + below(1400)
      case 0..<398: 1000 + below(11_000)
      case 398: 20_000 + below(20_000)
      default: 100_000 + below(3000)
      }
    var value = [UInt8](repeating: UInt8(truncatingIfNeeded: next()), count: count)
    withUnsafeBytes(of: UInt64(number).littleEndian) { stamp in
      for index in 0..<min(8, count) { value[index] = stamp[index] }
    }
    return value
  }
}
