import Foundation
import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

private final class Measure: ManagedObject {
  @Attribute var exact: Decimal?
  @Attribute var no = 0
  @Relationship(inverse: { $0.parts }) var whole: Measure?
  @Relationship(inverse: { $0.whole }) var parts: Set<Measure>
}

/// Requests that come from outside, and the effects that they must not have.
@Suite struct `Fetches with extreme input` {
  private let context: ManagedObjectContext

  init() throws {
    context = try PersistentContainer(
      name: "Measures", types: [Measure.self], at: URL(filePath: "/dev/null")
    ).newBackgroundContext()
  }

  @Test func `products of decimals of any size are numbers, zero or missing`() throws {
    let texts = [
      "1e-70", "-1e-100", "1e-128", "1.2345678901234567890123456789012345678e-90", "1e100", "3", "0",
    ]
    for text in texts {
      Measure(context: context).exact = Decimal(string: text)
    }
    try context.save()
    for format in ["exact * exact > 1", "exact ** 2 > 1", "exact ** 5 < 0", "modulus(exact, 1e-100) == 7"] {
      let request = FetchRequest<Measure>()
      request.predicate = try FormatPredicate(format)
      _ = try context.fetch(request)
    }
    func product(_ a: String, _ b: String) -> Decimal {
      Decimal.product(Decimal(string: a) ?? .nan, Decimal(string: b) ?? .nan)
    }
    #expect(product("1e-70", "1e-70") == 0 && product("1e100", "1e100").isNaN)
    #expect(product("2e-64", "3e-64") == Decimal(string: "6e-128"))
    #expect(product("-2", "1e-128") == Decimal(string: "-2e-128"))
    let near = product(
      "1.2345678901234567890123456789012345678e-90", "1.2345678901234567890123456789012345678e-30")
    let ratio = near / (Decimal(string: "1.5241578753238836750495351562e-120") ?? 0)
    #expect(abs(ratio - 1) < Decimal(string: "1e-15") ?? 0)
    #expect(Decimal.power(3, 5) == 243 && Decimal.power(10, 200).isNaN)
  }

  @Test func `quotients of decimals have the digits of long division`() throws {
    let quotients = [
      ("1e30", "0.12345678901234567890123456789012345678", "8100000072900000663390006036849.0549359"),
      (
        "46709011564961731", "0.00000000000050443912893838173354210001179479777178",
        "92595932562295998741884460056.107464977"
      ),
      ("5", "1234567890123456789012345678901234567", "4.0500000364500003316950030184245274706E-36"),
      ("-7", "98765432109876543210.5", "-7.0874999992026562500449613281249750830E-20"),
    ]
    for (a, b, quotient) in quotients {
      let found = Decimal.quotient(try #require(Decimal(string: a)), try #require(Decimal(string: b)))
      #expect(found == Decimal(string: quotient), "\(a) / \(b)")
    }
    var random = SplitMix64(seed: 15)
    for _ in 0..<500 {
      let factor = Decimal(UInt64.random(in: 1..<1 << 40, using: &random))
      let high = Decimal(UInt64.random(in: 0..<1 << 24, using: &random)) * (Decimal(UInt64.max) + 1)
      let divisor = high + Decimal(UInt64.random(in: 1 ... .max, using: &random))
      #expect(Decimal.quotient(Decimal.product(factor, divisor), divisor) == factor, "\(factor), \(divisor)")
    }
    #expect(Decimal.quotient(1, 0).isNaN && Decimal.quotient(0, 7) == 0)
    let least = try #require(Decimal(string: "1e-128"))
    #expect(
      Decimal.quotient(least, 1_000_000) == 0 && Decimal.quotient(1, least).description.hasPrefix("1000"))
    #expect(Decimal.quotient(try #require(Decimal(string: "1e100")), least).isNaN)
    for text in ["1e30", "1"] { Measure(context: context).exact = Decimal(string: text) }
    let request = FetchRequest<Measure>()
    request.predicate = try FormatPredicate(
      "exact / 0.12345678901234567890123456789012345678 == 8100000072900000663390006036849.0549359")
    #expect(try context.count(for: request) == 1)
  }

  @Test func `a path over too many relationships is refused`() throws {
    let request = FetchRequest<Measure>()
    for count in [150, 1000, 90_000] {
      request.predicate = try FormatPredicate(String(repeating: "whole.", count: count) + "no == 1")
      if count == 150 {
        #expect(try context.fetch(request).isEmpty)
      } else {
        #expect(
          heartwoodMessage { _ = try context.fetch(request) }?.contains("more than 200 relationships") == true
        )
      }
    }
    // A text with even more parts is not read to its end.
    let message = heartwoodMessage {
      _ = try FormatPredicate(String(repeating: "whole.", count: 100_000) + "no == 1")
    }
    #expect(message?.contains("more than 200000 words and signs") == true, "\(message ?? "no error")")
  }

  @Test func `a column whose name is a keyword is the property`() throws {
    Measure(context: context).no = 7
    let request = FetchRequest<Measure>()
    request.propertiesToFetch = ["no", "whole.no"]
    #expect(try context.fetchDictionaries(request).map { $0["no"] as? Int64 } == [7])
  }

  @Test func `a negative limit or offset is refused`() throws {
    let request = FetchRequest<Measure>()
    request.fetchLimit = -1
    #expect(heartwoodMessage { _ = try context.fetch(request) }?.contains("negative") == true)
    (request.fetchLimit, request.fetchOffset) = (0, -2)
    #expect(heartwoodMessage { _ = try context.fetch(request) }?.contains("negative") == true)
  }

  @Test func `merging what a parent saves does not end merging what other processes save`() {
    context.automaticallyMergesRemoteChanges = true
    context.automaticallyMergesChangesFromParent = true
    #expect(context.automaticallyMergesRemoteChanges)
    context.automaticallyMergesRemoteChanges = false
    #expect(context.automaticallyMergesChangesFromParent)
    context.automaticallyMergesChangesFromParent = false
    #expect(!context.automaticallyMergesRemoteChanges && !context.automaticallyMergesChangesFromParent)
  }
}
