import Foundation
import HeartwoodBytes

/// Declares a property of a managed object's class as an attribute of its entity.
///
/// ```swift
/// @Attribute(.unique) var code = ""
/// @Attribute([.indexed, .preservesValueInHistoryOnDeletion]) var population: Int64?
/// @Attribute(validated: .length(1...80), .pattern("\\S.*")) var name = ""
/// ```
///
/// The wrapper is one byte and stores no value. Its offset in the object identifies the property.
@propertyWrapper @frozen
public struct Attribute<Wrapped>: _DeclaredProperty {
  // The struct itself accepts any type, so that an initialiser can say what to do about a type that cannot be an attribute.

  /// Zero, except in the prototypes from which a class's declarations are read.
  public var _mark: UInt8

  /// An attribute with a default value.
  ///
  /// A default expression that differs each time, such as `UUID()` or `Date()`, is evaluated for each new object. Whether it does is seen when the class is
  /// first used, by eight evaluations: set what changes more rarely, such as the day, in `awakeFromInsert`.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value of new objects.
  ///   - options: Uniqueness, index, history.
  ///   - renamed: The former name, for migration.
  ///   - rules: The rules that a value must satisfy to be saved.
  @inlinable @inline(__always)
  public init(
    wrappedValue: @autoclosure () -> Wrapped, _ options: AttributeOptions = [], renamed: StaticString? = nil,
    validated rules: ValidationRule...
  )
  where Wrapped: AttributeValue {
    _mark = 0
    if _isRecording { _mark = _recordAttribute(wrappedValue, options, renamed, rules) }
  }

  /// An optional attribute without a value in new objects.
  @inlinable @inline(__always)
  public init(
    _ options: AttributeOptions = [], renamed: StaticString? = nil, validated rules: ValidationRule...
  )
  where Wrapped: AttributeValue & ExpressibleByNilLiteral {
    _mark = 0
    if _isRecording { _mark = _recordAttribute({ nil as Wrapped }, options, renamed, rules) }
  }

  /// An attribute whose value in new objects is zero, false or empty.
  @inlinable @inline(__always)
  public init(
    _ options: AttributeOptions = [], renamed: StaticString? = nil, validated rules: ValidationRule...
  )
  where Wrapped: AttributeValue & ZeroDefault {
    _mark = 0
    if _isRecording { _mark = _recordAttribute({ Wrapped.zeroDefault }, options, renamed, rules) }
  }

  /// An attribute whose value the store computes at each save.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value until the first save.
  ///   - options: Index, history.
  ///   - derivation: The expression of the value; see `DerivedAttributeDescription.derivationExpression`.
  ///   - renamed: The former name, for migration.
  @inlinable @inline(__always)
  public init(
    wrappedValue: @autoclosure () -> Wrapped, _ options: AttributeOptions = [],
    derived derivation: StaticString, renamed: StaticString? = nil
  )
  where Wrapped: AttributeValue {
    _mark = 0
    if _isRecording { _mark = _recordAttribute(wrappedValue, options, renamed, [], derivation: derivation) }
  }

  /// An optional attribute whose value the store computes at each save.
  @inlinable @inline(__always)
  public init(
    _ options: AttributeOptions = [], derived derivation: StaticString, renamed: StaticString? = nil
  )
  where Wrapped: AttributeValue & ExpressibleByNilLiteral {
    _mark = 0
    if _isRecording {
      _mark = _recordAttribute({ nil as Wrapped }, options, renamed, [], derivation: derivation)
    }
  }

  /// Unavailable: a property that is not optional needs a default value.
  @_disfavoredOverload
  @available(*, unavailable, message: "give the property a default value, or make it optional")
  public init(_ options: AttributeOptions = [], renamed: StaticString? = nil) where Wrapped: AttributeValue {
    programError("an attribute without a default value")
  }

  /// Unavailable: the type cannot be an attribute.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message:
      "an attribute is a number, Bool, String, Date, Data, UUID or URL; an enum with raw values says AttributeValue (`enum Kind: String, AttributeValue`), a struct says CompositeValue or TransformableValue"
  )
  public init(
    wrappedValue: @autoclosure () -> Wrapped, _ options: AttributeOptions = [], renamed: StaticString? = nil,
    validated rules: ValidationRule...
  ) {
    programError("an attribute of another type")
  }

  /// Unavailable: several options are one value, in brackets.
  @_disfavoredOverload
  @available(*, unavailable, message: "put several options in brackets: @Attribute([.unique, .indexed])")
  public init(
    wrappedValue: @autoclosure () -> Wrapped, _ option: AttributeOptions, _ options: AttributeOptions...
  ) {
    programError("options without brackets")
  }

  /// Unavailable: only a managed object stores values.
  @available(*, unavailable, message: "@Attribute requires a class that inherits from ManagedObject")
  public var wrappedValue: Wrapped {
    get { programError("an attribute outside a managed object") }
    set { programError("an attribute outside a managed object, set to \(newValue)") }
  }

  /// Reads from the object's row or its pending changes; writing marks the object as changed.
  ///
  /// Both accessors must always be inlined: only then can the compiler fold the key path into a constant offset, which
  /// makes them about fifty times faster.
  @inlinable
  public static subscript<Object: ManagedObject>(
    _enclosingInstance object: Object, wrapped _: ReferenceWritableKeyPath<Object, Wrapped>,
    storage storage: ReferenceWritableKeyPath<Object, Self>
  ) -> Wrapped where Wrapped: AttributeValue {
    @inline(__always) get {
      object._attribute(_WrapperPlace(&object[keyPath: storage]._mark))
    }
    @inline(__always) set {
      object._setAttribute(
        _WrapperPlace(&object[keyPath: storage]._mark), newValue._value)
    }
  }
}

/// A type whose attributes default to zero, false or empty if the declaration has no default.
public protocol ZeroDefault {
  /// Zero, false or empty.
  static var zeroDefault: Self { get }
}

extension ZeroDefault where Self: ExpressibleByIntegerLiteral {
  /// Zero.
  @inlinable public static var zeroDefault: Self { 0 }
}

extension Int: ZeroDefault {}
extension Int16: ZeroDefault {}
extension Int32: ZeroDefault {}
extension Int64: ZeroDefault {}
extension Float: ZeroDefault {}
extension Double: ZeroDefault {}
extension Decimal: ZeroDefault {}
extension Bool: ZeroDefault {
  /// False.
  @inlinable public static var zeroDefault: Bool { false }
}
extension String: ZeroDefault {
  /// The empty string.
  @inlinable public static var zeroDefault: String { "" }
}
extension Data: ZeroDefault {
  /// No bytes.
  @inlinable public static var zeroDefault: Data { Data() }
}
