import HeartwoodSQLite

/// Numbers that depend on a seed alone (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64
  private static let letters = Array("abcABC  \u{0}ä中🌳")

  init(_ seed: Int) { state = UInt64(bitPattern: Int64(seed)) &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  /// A value of any class, few of them long.
  mutating func value(longest: Int) -> SQLiteValue {
    switch below(8) {
    case 0: return .null
    case 1:
      return .integer([0, 1, -1, 127, 128, -129, 32_768, 8_388_608, 1 << 31, 1 << 47, .max, .min][below(12)])
    case 2: return .integer(Int64(bitPattern: next()) >> Int64(below(63)))
    case 3: return .real([0, -1, 1.5, 1e300, .infinity, 0x1p53, 9.223372036854775807e18, 3][below(8)])
    case 4: return .real(Double(Int64(bitPattern: next()) >> Int64(below(60))) / 8)
    case 5:
      return .blob((0..<below(below(20) == 0 ? longest : 30)).map { UInt8(truncatingIfNeeded: $0 &* 37) })
    default:
      let length = below(below(30) == 0 ? longest / 2 : 12)
      return .text(String((0..<length).map { _ in Self.letters[below(12)] }))
    }
  }
}
