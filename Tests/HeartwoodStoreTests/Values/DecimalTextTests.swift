import Foundation
import GraphTestSupport
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

@Suite struct `Decimals as text` {
  @Test(arguments: [
    "", "+", "-", ".", "e", "e5", "1.", ".5", "1.e5", "1e", "1e+", "1e-", "1.5abc", "abc", "1,5", "1_000",
    "1 000",
    " 1", "1 ", "1.5.5", "1e5.0", "1e5e5", "--1", "+-1", "1-", "0x10", "\u{663}", "nan", "NAN", "NaN ",
    "-NaN", "Infinity",
    "inf", "1\u{0}", "\u{FEFF}1", "½",
  ])
  func `a text of another form is none`(text: String) {
    #expect(DecimalText.decimal(text) == nil && !DecimalText.isNumber(text))
  }

  @Test(arguments: [
    ("0", "0"), ("-0", "0"), ("+1", "1"), ("00012", "12"), ("1.50", "1.5"), ("-0.5e1", "-5"),
    ("0e999999999999", "0"),
    ("1E2", "100"), ("1e+2", "100"), ("100e-2", "1"), ("0.000", "0"),
    ("12345678901234567890.123456789", "12345678901234567890.123456789"),
    ("0.00000000000000000000000000000000000000000000000000000001e56", "1"),
  ])
  func `a number has its value`(text: String, plain: String) {
    #expect(DecimalText.decimal(text)?.description == plain)
  }

  @Test func `NaN is one where it is allowed`() {
    #expect(DecimalText.decimal("NaN")?.isNaN == true)
    #expect(DecimalText.decimal("NaN", allowsNaN: false) == nil && !DecimalText.isNumber("NaN"))
  }

  @Test(arguments: [
    "340282366920938463463374607431768211456", "1.000000000000000000000000000000000000001", "1e166", "1e-129",
    "12e-129", "1e99999999999999999999", "-1e-99999999999999999999", String(repeating: "9", count: 1000),
  ])
  func `a number that is not exactly a decimal is none, but a number`(text: String) {
    #expect(DecimalText.decimal(text) == nil && DecimalText.isNumber(text))
  }

  @Test func `the largest and the smallest decimals are read`() {
    for decimal in [Decimal.greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude] {
      #expect(DecimalText.decimal(decimal.description) == decimal)
    }
    #expect(DecimalText.decimal("15e127") == Decimal(sign: .plus, exponent: 127, significand: 15))
    #expect(DecimalText.decimal("1e128") == DecimalText.decimal("10e127"))
    #expect(DecimalText.decimal("1e165")?.description == "1" + String(repeating: "0", count: 165))
    #expect(DecimalText.decimal("340282366920938463463374607431768211455e127") == .greatestFiniteMagnitude)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `what a decimal describes is read as the same decimal`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      var parts = DecimalParts(0)
      parts.mantissa = UInt128(random.next()) << 64 | UInt128(random.next())
      parts.mantissa >>= UInt128(Int.random(in: 0..<128, using: &random))
      parts.exponent = Int.random(in: -128...127, using: &random)
      parts.isNegative = parts.mantissa != 0 && Bool.random(using: &random)
      let decimal = parts.decimal
      let text = decimal.description
      #expect(DecimalText.decimal(text).map(DecimalParts.init) == DecimalParts(decimal), "\(text)")
      #expect(DecimalText.decimal(text)?.description == text)
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a decimal whose zeros have no room in the exponent keeps all digits`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      var parts = DecimalParts(0)
      parts.mantissa = UInt128(random.next()) << 64 | UInt128(random.next())
      parts.mantissa >>= UInt128(Int.random(in: 0..<124, using: &random))
      parts.mantissa -= parts.mantissa % 10
      parts.exponent = 127
      parts.isNegative = Bool.random(using: &random)
      let text = "\(parts.isNegative ? "-" : "")\(parts.mantissa)" + String(repeating: "0", count: 127)
      #expect(parts.mantissa == 0 || parts.decimal.description == text)
      #expect(parts.mantissa == 0 || DecimalParts(parts.decimal) == parts)
      #expect(parts.mantissa == 0 || DecimalText.decimal(text).map(DecimalParts.init) == parts)
    }
  }

  @Test func `a literal, an argument and a cast may be a decimal whose zeros have no room in the exponent`()
    throws
  {
    let large = try #require(DecimalText.decimal("12345678901234567890e130"))
    #expect(DecimalParts(large).exponent == 127)
    let folder = try TemporaryFolder()
    let coordinator = try PersistentStoreCoordinator(
      checking: ManagedObjectModel(entities: [
        EntityDescription(
          name: "Account", properties: [AttributeDescription(name: "amount", type: .decimal)])
      ]))
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    for amount in [large, large / 10] {
      EntityDescription.insertNewObject(forEntityName: "Account", into: context)
        .setValue(amount, forKey: "amount")
    }
    try context.save()
    context.reset()
    for predicate in [
      try FormatPredicate("amount == 12345678901234567890e130"),
      try FormatPredicate("amount == CAST('12345678901234567890e130', 'NSDecimalNumber')"),
      try FormatPredicate("amount == %@", large),
    ] {
      let request = FetchRequest<ManagedObject>(entityName: "Account")
      request.predicate = predicate
      #expect(try context.fetch(request).map { $0.value(forKey: "amount") as? Decimal } == [large])
    }
  }
}
