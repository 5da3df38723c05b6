import Foundation
import Heartwood

/// Values that properties are answered with while a key path is evaluated to find out what it reads.
enum SampleValues {
  /// Values of a type, of which a function that is not the identity mostly changes one; none where none are known. Those with which functions of
  /// a program could fail come last.
  static func others<Value>(_ type: Value.Type) -> [Any] {
    let plain = plainType(type)
    var values: [Any] = all.filter { plain == Swift.type(of: $0 as Any) }
    if let number = plain as? any FixedWidthInteger.Type { values = integers(number) }
    if let cases = plain as? any CaseIterable.Type { values = listed(cases) }
    // Also for a to-one relationship, which leads to an object usually.
    if let none = (type as? any ExpressibleByNilLiteral.Type)?.nilValue { values.append(none) }
    return values.filter { $0 is Value }
  }

  private static let all: [any Sendable] = [
    "1", " aÉ-_. ", String(repeating: "Ab 1,", count: 60), true, 1.0, 113.5, -7.25, Float(1), Float(113.5),
    Float(-7.25), Decimal(1), Decimal(sign: .minus, exponent: -2, significand: 725),
    Date(timeIntervalSinceReferenceDate: 1), Date(timeIntervalSinceReferenceDate: 823_456_789.5),
    Date(timeIntervalSinceReferenceDate: -823_456_789.5), Data([1]),
    Data((0..<100).map { UInt8($0 * 7 % 100) }),
    UUID(uuid: (1, 2, 3, 4, 5, 6, 71, 8, 137, 10, 11, 12, 13, 14, 15, 16)),
  ]

  private static func integers<Number: FixedWidthInteger>(_ type: Number.Type) -> [Any] {
    [1, 113, -7].compactMap { Number(exactly: $0) }
  }

  private static func listed<Cases: CaseIterable>(_ type: Cases.Type) -> [Any] {
    type.allCases.prefix(16).map { $0 }
  }

  /// A type without an optional around it.
  static func plainType(_ type: any Any.Type) -> any Any.Type {
    (type as? any _OptionalType.Type)?.wrapped ?? type
  }

  /// Whether two values are equal, or the same object. Those that cannot be compared count as equal.
  static func areEqual(_ one: Any?, _ other: Any?) -> Bool {
    let (one, other) = (one.flatMap { ManagedValue.flat($0) }, other.flatMap { ManagedValue.flat($0) })
    guard let one, let other else { return one == nil && other == nil }
    if let one = one as? AnyHashable, let other = other as? AnyHashable { return one == other }
    return true
  }
}

extension AnyKeyPath {
  /// The number of steps, as the description shows them: `\Book.<computed 0x1f60 (Optional<Author>)>?.<computed 0x1f90 (String)>?` has two.
  var stepCount: Int {
    var (depth, count) = (0, 0)
    for character in String(reflecting: self) {
      switch character {
      case "<", "(": depth += 1
      case ">", ")": depth -= 1
      case "." where depth == 0: count += 1
      default: break
      }
    }
    return count
  }
}
