import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

@Suite struct `Values` {
  static let types = AttributeType.allCases.filter {
    $0 != .undefined && $0 != .transformable && $0 != .composite
  }

  @Test(arguments: types) func `equality, order, hashes and keys agree`(_ type: AttributeType) throws {
    var random = Randomness(seed: 0x5EED_0010)
    let values = (0..<60).map { _ in random.chance(15) ? Value.null : random.value(type) }
    for left in values {
      for right in values {
        let order = try #require(Value.compare(left, right))
        #expect(order == -(try #require(Value.compare(right, left))))
        #expect((order == 0) == (left == right))
        if order == 0 { #expect(left.hashValue == right.hashValue) }
        #expect(order.signum() == Self.order(Self.key(left), Self.key(right)), "\(left) \(right)")
      }
    }
  }

  @Test(arguments: types) func `no key is the beginning of another`(_ type: AttributeType) {
    var random = Randomness(seed: 0x5EED_0011)
    let keys = Set((0..<150).map { _ in Self.key(random.value(type)) }).sorted { Self.order($0, $1) < 0 }
    for (left, right) in zip(keys, keys.dropFirst()) { #expect(!right.starts(with: left)) }
  }

  @Test(arguments: types) func `text is read back to the same value`(_ type: AttributeType) throws {
    var random = Randomness(seed: 0x5EED_0012)
    for _ in 0..<200 {
      let value = random.value(type)
      let text = try #require(value.plainText)
      #expect(Value(plainText: text, type: type) == value)
    }
    #expect(Value.null.plainText == nil)
  }

  @Test(arguments: types) func `a value is converted back from its Swift type`(_ type: AttributeType) throws {
    var random = Randomness(seed: 0x5EED_0013)
    for _ in 0..<200 {
      let value = random.value(type)
      #expect(Value(any: value.anyValue(type), for: type) == value)
    }
  }

  @Test func `strings are compared by their canonical equivalence`() {
    #expect(Value.string("e\u{301}") == .string("\u{E9}"))
    #expect(Self.key(.string("e\u{301}")) == Self.key(.string("\u{E9}")))
    #expect(Value.compare(.string("a"), .string("B")) == 1)
  }

  @Test func `integers and doubles are compared exactly`() {
    let large = Int64(1) << 53
    #expect(Value.compare(.int(large + 1), .double(Double(large))) == 1)
    #expect(Value.compare(.int(.max), .double(0x1p63)) == -1)
    #expect(Value.compare(.int(3), .double(3.5)) == -1)
    #expect(Value.compare(.int(-3), .double(-3.5)) == 1)
    #expect(Value.compare(.double(.nan), .int(.max)) == 1)
    #expect(Value.compare(.string("1"), .int(1)) == nil)
  }

  @Test func `a decimal beside a double is rounded to a double`() throws {
    for (text, double) in [
      ("1.00000000000000000001", 1.0), ("1.50000000000000000001", 1.5), ("9007199254740993", 0x1p53),
      ("0.1", 0.1), ("-18446744073709551617", -0x1p64), ("0", -0.0),
    ] {
      let decimal = Value.decimal(try #require(Decimal(string: text)))
      #expect(Value.compare(decimal, .double(double)) == 0 && Value.compare(.double(double), decimal) == 0)
      #expect(Value.compare(decimal, .double(double.nextUp)) == -1, "\(text)")
      #expect(Value.compare(.double(double.nextDown), decimal) == -1, "\(text)")
    }
    #expect(Value.compare(.decimal(.nan), .double(.infinity)) == 1)
    #expect(Value.compare(.double(.nan), .decimal(.nan)) == 0)
    #expect(
      Value.compare(.double(.nan), .decimal(7)) == 1 && Value.compare(.decimal(7), .double(.infinity)) == -1)
  }

  @Test func `numbers of any kind are accepted where no precision is lost`() {
    #expect(Value(any: 7 as UInt8, for: .integer16) == .int(7))
    #expect(Value(any: 40_000, for: .integer16) == nil)
    #expect(Value(any: 7.0, for: .integer64) == .int(7))
    #expect(Value(any: 7.5, for: .integer64) == nil)
    #expect(Value(any: 7, for: .double) == .double(7))
    #expect(Value(any: NSNumber(value: 7), for: .integer32) == .int(7))
    #expect(Value(any: UInt64.max, for: .integer64) == nil)
    #expect(Value(any: UInt64.max, for: .decimal) == .decimal(Decimal(UInt64.max)))
    #expect(Value(any: "7", for: .integer64) == nil)
    #expect(Value(any: Rank.high, for: .integer16) == .int(2))
    #expect(Value(any: Int?.none as Any, for: .integer64) == .null)
    #expect(Value(any: Int?.some(4) as Any, for: .integer64) == .int(4))
    #expect(Value(any: NSNull(), for: .string) == .null)
    #expect(Value(any: true, for: .boolean) == .bool(true))
    #expect(Value(any: 1, for: .date) == nil)
  }

  @Test func `texts are ordered by composed scalars, whatever their form`() {
    // Swift's `<` finds no order between a decomposed letter and the composed one with another behind it.
    let ascending = ["e", "ea", "z", "\u{E9}", "\u{E9}a", "\u{EA}"]
    for (left, first) in ascending.enumerated() {
      for (right, second) in ascending.enumerated() {
        for first in [first, first.decomposedStringWithCanonicalMapping] {
          for second in [second, second.decomposedStringWithCanonicalMapping] {
            let order = Value.compare(.string(first), .string(second))
            #expect(order == (left - right).signum(), "\(first) \(second)")
            #expect(Self.order(Self.key(.string(first)), Self.key(.string(second))) == order)
          }
        }
      }
    }
  }

  private static func key(_ value: Value) -> [UInt8] {
    var key: [UInt8] = []
    value.appendOrderedKey(to: &key)
    return key
  }

  private static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
  }
}
