import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import Testing

private final class Measure: ManagedObject {
  @Attribute var number = 0
  @Attribute var exact: Decimal = 0
  @Attribute(.indexed) var double = 0.0
  @Attribute var plain = 0.0
  @Attribute var float: Float = 0
}

/// Decimals beside floating-point numbers: they are rounded to the type of the other, whether that is a value, a constant, or in an index.
@Suite struct `Decimals beside floating-point numbers` {
  private static func decimal(_ text: String) throws -> Decimal { try #require(Decimal(string: text)) }

  private func makeContext(_ measures: [(exact: Decimal, double: Double)]) throws -> ManagedObjectContext {
    let context = try PersistentContainer(
      name: "Measures", types: [Measure.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    for (number, values) in measures.enumerated() {
      let measure = Measure(context: context)
      (measure.number, measure.exact, measure.double) = (number, values.exact, values.double)
      (measure.plain, measure.float) = (values.double, Float(values.double))
    }
    try context.save()
    return context
  }

  private func numbers(
    _ context: ManagedObjectContext, _ format: String, _ arguments: (any PredicateArgument)?...
  ) throws -> [Int] {
    let request = FetchRequest<Measure>()
    request.predicate = try FormatPredicate(format, argumentArray: arguments)
    return try context.fetch(request).map(\.number).sorted()
  }

  @Test func `a double that is whole is compared as any other is`() throws {
    let context = try makeContext([
      (Self.decimal("1.00000000000000000001"), 1), (Self.decimal("1.50000000000000000001"), 1.5),
      (Self.decimal("4379405819816555.80"), 4_379_405_819_816_556),
      (Self.decimal("9007199254740993"), 0x1p53),
      (Self.decimal("-99999999999999999999.5"), -1e20), (Self.decimal("2.1"), 2),
    ])
    for name in ["double", "plain"] {
      #expect(try numbers(context, "exact == \(name)") == [0, 1, 2, 3, 4], "\(name)")
      #expect(try numbers(context, "\(name) < exact") == [5] && numbers(context, "exact < \(name)") == [])
      #expect(try numbers(context, "exact BETWEEN {\(name), \(name)}") == [0, 1, 2, 3, 4])
      #expect(try numbers(context, "\(name) == %@", Self.decimal("1.00000000000000000001")) == [0])
      #expect(try numbers(context, "\(name) == %@", Self.decimal("9007199254740993")) == [3])
      #expect(try numbers(context, "\(name) >= %@", Self.decimal("9007199254740993")) == [3])
      #expect(try numbers(context, "\(name) < %@", Self.decimal("-99999999999999999999.5")) == [])
      #expect(try numbers(context, "\(name) <= %@", Self.decimal("-99999999999999999999.5")) == [4])
      #expect(try numbers(context, "\(name) IN %@", [Self.decimal("1.00000000000000000001"), 2]) == [0, 5])
    }
  }

  @Test func `a decimal beside a float is rounded to a float`() throws {
    let context = try makeContext([(Self.decimal("0.1"), 0.1), (Self.decimal("0.100000002"), 0.1), (2, 0.1)])
    #expect(
      try numbers(context, "exact == float") == [0, 1] && numbers(context, "float == exact") == [0, 1])
    #expect(try numbers(context, "exact == double") == [0] && numbers(context, "float < exact") == [2])
  }

  @Test func `comparisons are those of the nearest doubles, with and without an index`() throws {
    let seed: UInt64 = 0x5EED_0061
    var random = SplitMix64(seed: seed)
    var measures: [(exact: Decimal, double: Double)] = []
    while measures.count < 150 {
      let text =
        "\(random.below(2) == 0 ? "-" : "")\(random.next() >> UInt64(random.below(60)))e\(random.below(60) - 40)"
      let nearest = try #require(Double(text))
      let double = [nearest, nearest.nextUp, nearest.nextDown, nearest.rounded()][random.below(4)]
      measures.append((try Self.decimal(text), double))
    }
    let context = try makeContext(measures)
    func nearest(_ number: Decimal) throws -> Double { try #require(Double("\(number)")) }
    for (sign, holds) in [("==", (==)), ("<", (<)), (">=", (>=))] as [(String, (Double, Double) -> Bool)] {
      let expected = try measures.indices.filter {
        holds(try nearest(measures[$0].exact), measures[$0].double)
      }
      #expect(try numbers(context, "exact \(sign) double") == expected, "seed \(seed), \(sign)")
      for (exact, _) in measures.prefix(40) {
        let constant = try nearest(exact)
        let expected = measures.indices.filter { holds(measures[$0].double, constant) }
        #expect(
          try numbers(context, "double \(sign) %@", exact) == expected, "seed \(seed), \(sign) \(exact)")
        #expect(try numbers(context, "plain \(sign) %@", exact) == expected, "seed \(seed), \(sign) \(exact)")
      }
    }
  }
}
