import Foundation

/// A value for a placeholder of a `FormatPredicate`.
///
/// Numbers, Booleans, strings, dates, data, UUIDs, URLs, objects and their identifiers, enums with raw values
/// of these types that declare conformance, arrays and sets of all these, and nil. Key paths and strings can
/// be used for `%K`.
public protocol PredicateArgument {
  /// The argument as a constant of a predicate.
  var predicateConstant: PredicateConstant { get }
}

/// A constant of a predicate.
public struct PredicateConstant {
  package let expression: ConditionExpression
  /// Set for key paths, which only `%K` accepts.
  var keyPath: AnyKeyPath?

  init(_ value: Value) { expression = .value(value) }
  init(_ kind: ConditionExpression.Kind) { expression = ConditionExpression(kind) }
  package init(_ expression: ConditionExpression) { self.expression = expression }

  /// A list of constants.
  package init(list parts: [PredicateConstant]) {
    expression = ConditionExpression(list: parts.map(\.expression))
  }

  /// The constant's value; nil for objects and for lists with objects, whose identifiers are read later.
  var value: Value? {
    if case .value(let value) = expression.kind { return value }
    return nil
  }
}

extension PredicateArgument where Self: FixedWidthInteger {
  /// The number; a decimal number if it does not fit in a 64-bit integer.
  public var predicateConstant: PredicateConstant {
    if let number = Int64(exactly: self) { return PredicateConstant(.int(number)) }
    return PredicateConstant(.decimal(DecimalText.nearest("\(self)") ?? .nan))
  }
}
extension Int: PredicateArgument {}
extension Int8: PredicateArgument {}
extension Int16: PredicateArgument {}
extension Int32: PredicateArgument {}
extension Int64: PredicateArgument {}
extension UInt: PredicateArgument {}
extension UInt8: PredicateArgument {}
extension UInt16: PredicateArgument {}
extension UInt32: PredicateArgument {}
extension UInt64: PredicateArgument {}

extension Double: PredicateArgument {
  /// The number.
  public var predicateConstant: PredicateConstant { PredicateConstant(.double(self)) }
}
extension Float: PredicateArgument {
  /// The number.
  public var predicateConstant: PredicateConstant { PredicateConstant(.double(Double(self))) }
}
extension Decimal: PredicateArgument {
  /// The number.
  public var predicateConstant: PredicateConstant { PredicateConstant(.decimal(self)) }
}
extension Bool: PredicateArgument {
  /// The Boolean.
  public var predicateConstant: PredicateConstant { PredicateConstant(.bool(self)) }
}
extension String: PredicateArgument {
  /// The string.
  public var predicateConstant: PredicateConstant { PredicateConstant(.string(self)) }
}
extension Substring: PredicateArgument {
  /// The string.
  public var predicateConstant: PredicateConstant { PredicateConstant(.string(String(self))) }
}
extension Date: PredicateArgument {
  /// The date.
  public var predicateConstant: PredicateConstant { PredicateConstant(.date(timeIntervalSinceReferenceDate)) }
}
extension Data: PredicateArgument {
  /// The bytes.
  public var predicateConstant: PredicateConstant { PredicateConstant(.data(self)) }
}
extension UUID: PredicateArgument {
  /// The UUID.
  public var predicateConstant: PredicateConstant { PredicateConstant(.uuid(self)) }
}
extension URL: PredicateArgument {
  /// The URL.
  public var predicateConstant: PredicateConstant { PredicateConstant(.url(absoluteString)) }
}
extension ManagedObjectID: PredicateArgument {
  /// The object with this identifier. A temporary one stands for the identifier that the object has when the fetch is executed, if this is
  /// called before the object is saved.
  public var predicateConstant: PredicateConstant {
    guard isTemporaryID, !RetiredKeys.contains(key) else { return PredicateConstant(Value.object(self)) }
    return PredicateConstant(ConditionExpression.Kind.object(ObjectReference.reference(to: self)))
  }
}
extension EntityDescription: PredicateArgument {
  /// The entity, to be compared with `entity`, by its name.
  public final var predicateConstant: PredicateConstant { PredicateConstant(.string(displayName)) }
}
extension AnyKeyPath: PredicateArgument {
  /// The property, for `%K`.
  public final var predicateConstant: PredicateConstant {
    var constant = PredicateConstant(ConditionExpression.Kind.path(PropertyPath(.fetched).appending(self)))
    constant.keyPath = self
    return constant
  }
}

extension Array: PredicateArgument where Element: PredicateArgument {
  /// The elements as a list, for `IN` and `BETWEEN`.
  public var predicateConstant: PredicateConstant { PredicateConstant(list: map(\.predicateConstant)) }
}
extension Set: PredicateArgument where Element: PredicateArgument {
  /// The elements as a list, for `IN`.
  public var predicateConstant: PredicateConstant { PredicateConstant(list: map(\.predicateConstant)) }
}
extension Optional: PredicateArgument where Wrapped: PredicateArgument {
  /// The wrapped value's constant, or nil.
  public var predicateConstant: PredicateConstant { self?.predicateConstant ?? PredicateConstant(Value.null) }
}
extension PredicateArgument where Self: RawRepresentable, RawValue: PredicateArgument {
  /// The raw value's constant.
  public var predicateConstant: PredicateConstant { rawValue.predicateConstant }
}
