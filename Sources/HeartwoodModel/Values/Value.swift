import Foundation

/// A value of a property as it is stored in rows and used in predicates and indexes, independent of its declared type.
///
/// - Invariant: Equal values have equal hashes and equal ordered keys. NaN equals NaN, negative zero equals zero,
///   strings are equal if they are canonically equivalent, decimals if their numbers are equal.
@frozen
public enum _Value: Sendable {
  /// No value.
  case null
  /// An integer of any width.
  case int(Int64)
  /// A floating-point number of any width.
  case double(Double)
  /// A decimal number.
  case decimal(Decimal)
  /// A Boolean.
  case bool(Bool)
  /// Text.
  case string(String)
  /// Seconds since Foundation's reference date.
  case date(Double)
  /// Bytes.
  case data(Data)
  /// A UUID.
  case uuid(UUID)
  /// The absolute string of a URL.
  case url(String)
  /// The destination of a to-one relationship.
  case object(ManagedObjectID)
  /// A list of constants in a predicate; no property has such a value.
  indirect case list([_Value])
  /// A value that no row stores.
  case opaque(_OpaqueValue)
}

@usableFromInline package typealias Value = _Value

extension _Value {
  @inlinable package var isNull: Bool {
    if case .null = self { return true }
    return false
  }

  /// The kind of the value, for messages.
  var kindName: String {
    switch self {
    case .null: "nil"
    case .int: "an integer"
    case .double: "a floating-point number"
    case .decimal: "a decimal number"
    case .bool: "a Boolean"
    case .string: "a string"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .object: "an object"
    case .list: "a list"
    case .opaque(let held): "\(type(of: held.value))"
    }
  }

  /// Whether a row with one is the same as a row with the other: equal values may differ in the sign of zero, or in the scalars of a
  /// text.
  package func isStored(as other: _Value) -> Bool {
    switch (self, other) {
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)):
      a == b ? a.sign == b.sign : a.isNaN && b.isNaN
    case (.string(let a), .string(let b)), (.url(let a), .url(let b)): a.utf8.elementsEqual(b.utf8)
    default: self == other
    }
  }
}

extension _Value: Hashable {
  /// Whether both are equal; see the type.
  public static func == (left: _Value, right: _Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.int(let a), .int(let b)): a == b
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)): a == b || a.isNaN && b.isNaN
    case (.decimal(let a), .decimal(let b)): a == b || a.isNaN && b.isNaN
    case (.bool(let a), .bool(let b)): a == b
    case (.string(let a), .string(let b)), (.url(let a), .url(let b)): String.areEquivalent(a, b)
    case (.data(let a), .data(let b)): a == b
    case (.uuid(let a), .uuid(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    case (.list(let a), .list(let b)): a == b
    case (.opaque(let a), .opaque(let b)): a == b
    default: false
    }
  }

  /// Equal values have equal hashes.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .int(let value): hasher.combine(value)
    case .double(let value), .date(let value): hasher.combine(value.isNaN ? .nan : value)
    case .decimal(let value): hasher.combine(DecimalParts(value))
    case .bool(let value): hasher.combine(value)
    case .string(let value), .url(let value): hasher.combine(value.withSplitVowels)
    case .data(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    case .list(let values): hasher.combine(values)
    case .opaque(let held): hasher.combine(held)
    }
  }
}

extension _Value: CustomStringConvertible {
  /// The value as messages show it.
  public var description: String {
    switch self {
    case .null: "nil"
    case .int(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .bool(let value): "\(value)"
    case .string(let value): "\"\(value)\""
    case .date(let value): Date(timeIntervalSinceReferenceDate: value).ISO8601Format()
    case .data(let value): "\(value.count) bytes"
    case .uuid(let value): value.uuidString
    case .url(let value): value
    case .object(let value): value.description
    case .list(let values): "{\(values.map(\.description).joined(separator: ", "))}"
    case .opaque(let held): "\(held.value)"
    }
  }
}
