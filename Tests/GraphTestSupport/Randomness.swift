import Foundation
import HeartwoodFaults

@testable import Heartwood

/// Random values from a fixed seed.
package struct Randomness {
  private var numbers: SplitMix64

  package init(seed: UInt64) {
    numbers = SplitMix64(seed: seed)
    print("random seed \(String(seed, radix: 16))")
  }

  package mutating func next() -> UInt64 { numbers.next() }

  package mutating func below(_ limit: Int) -> Int { numbers.below(limit) }

  /// True once in `times`.
  package mutating func chance(_ times: Int) -> Bool { below(times) == 0 }

  package mutating func text() -> String {
    let alphabet = ["a", "b", "Z", " ", "é", "e\u{301}", "ß", "日", "\u{0}", "🏳️‍🌈", "\u{FFFF}"]
    return (0..<below(9)).map { _ in alphabet[below(alphabet.count)] }.joined()
  }

  package mutating func value(_ type: AttributeType) -> Value {
    switch type {
    case .undefined: .null
    case .integer16: .int(Int64(Int16(truncatingIfNeeded: next())))
    case .integer32: .int(Int64(Int32(truncatingIfNeeded: next())))
    case .integer64: .int(chance(4) ? Int64(bitPattern: next()) : Int64(below(9)) - 4)
    case .decimal: .decimal(decimal())
    case .double: .double(double())
    case .float: .double(Double(Float(double())))
    case .string: .string(text())
    case .boolean: .bool(chance(2))
    case .date: .date(double())
    case .composite: .bool(true)
    case .binaryData, .transformable:
      .data(Data((0..<below(7)).map { _ in UInt8(truncatingIfNeeded: next()) }))
    case .uuid: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(below(256)))))
    case .uri: .url("https://example.org/\(below(1000))")
    }
  }

  package mutating func double() -> Double {
    let special: [Double] = [0, -0.0, 1, -1, .infinity, -.infinity, .nan, 0.1, 1e300, .leastNonzeroMagnitude]
    return chance(3) ? special[below(special.count)] : Double(bitPattern: next())
  }

  package mutating func decimal() -> Decimal {
    if chance(12) { return .nan }
    let mantissa = chance(2) ? Decimal(below(100)) : Decimal(next())
    let exponent = below(40) - 20
    return Decimal(sign: chance(2) ? .minus : .plus, exponent: exponent, significand: mantissa)
  }

  /// One value for each slot, sometimes null.
  package mutating func values(of entity: EntityDescription, country: EntityDescription) -> [Value] {
    entity.slots.map { slot in
      if chance(5) { return .null }
      if let attribute = entity.attribute(at: slot) { return value(attribute.type) }
      guard !entity.relationship(at: slot).isToMany else { return .null }
      return .object(ManagedObjectID(entity: country, key: next() >> 2, store: .none))
    }
  }
}
