import Foundation
import Heartwood
import HeartwoodBytes

/// Reads the names of properties from key paths, by evaluating them on objects without values.
enum InspectedObject {
  final class Recorder: @unchecked Sendable {
    var names: [String] = []
    /// The value that the last property was read as, its type, and other values of that type.
    var answer: Any?
    var type: any Any.Type = Any.self
    var others: [Any] = []
    /// The number of the other value that the last property is answered with, and how many properties are read with it; nil for the usual
    /// values.
    let change: (number: Int, place: Int)?

    init(_ change: (number: Int, place: Int)? = nil) { self.change = change }

    @_semantics("optimize.sil.specialize.generic.never")
    func note<Value>(_ key: String, _ usual: Value) -> Value {
      names.append(key)
      others = SampleValues.others(Value.self)
      type = Value.self
      var value = usual
      if let change, change.place == names.count, others.indices.contains(change.number),
        let other = others[change.number] as? Value
      {
        value = other
      }
      answer = value
      return value
    }
  }

  @TaskLocal static var recorder: Recorder?

  /// The names that a key path reads, with dots between them; nil if it reads none, or computes something of what it reads.
  static func names(of keyPath: AnyKeyPath) -> String? {
    if let known = KnownPaths.shared[keyPath] { return known }
    guard let root = type(of: keyPath).rootType as? ManagedObject.Type else { return nil }
    let usual = Recorder()
    func isRead(by recorder: Recorder) -> Bool {
      let object: Any = ManagedObject.makeInspected(root)
      let result = $recorder.withValue(recorder) { object[keyPath: keyPath] }
      let isOfSameType =
        SampleValues.plainType(recorder.type) == SampleValues.plainType(type(of: keyPath).valueType)
      return !isOfSameType || recorder.names == usual.names && SampleValues.areEqual(result, recorder.answer)
    }
    guard isRead(by: usual), !usual.names.isEmpty, usual.names.count <= keyPath.stepCount,
      usual.others.indices.allSatisfy({ isRead(by: Recorder((number: $0, place: usual.names.count))) })
    else { return nil }
    let path = usual.names.joined(separator: ".")
    KnownPaths.shared[keyPath] = path
    return path
  }

  /// A value of a type for a property that is read from an object without values. Not specialised: the optimiser of Swift 6.3 crashes on the
  /// casts to a type that is known to be `Any?`.
  @_semantics("optimize.sil.specialize.generic.never")
  static func read<Value>(_ key: String, as type: Value.Type) -> Value {
    let usual = usualValue(key, type)
    return recorder?.note(key, usual) ?? usual
  }

  @_semantics("optimize.sil.specialize.generic.never")
  private static func usualValue<Value>(_ key: String, _ type: Value.Type) -> Value {
    if let target = destination(of: type), let value = ManagedObject.makeInspected(target) as? Value {
      return value
    }
    if let value = (type as? any ExpressibleByNilLiteral.Type)?.nilValue as? Value { return value }
    if let value = ManagedValue.zero(type) { return value }
    if let value = (type as? any _ObjectCollection.Type)?.make([]) as? Value { return value }
    if let value = sample(type) { return value }
    programError("a key path to \(key) cannot be named: there is no value of \(type) to try it with")
  }

  private static func destination<Value>(of type: Value.Type) -> ManagedObject.Type? {
    (type as? ManagedObject.Type) ?? (type as? any _OptionalType.Type)?.wrapped as? ManagedObject.Type
  }

  private static func sample<Value>(_ type: Value.Type) -> Value? {
    switch type {
    case is Date.Type: Date(timeIntervalSinceReferenceDate: 0) as? Value
    case is UUID.Type: UUID() as? Value
    case is URL.Type: URL(fileURLWithPath: "/") as? Value
    case is Decimal.Type: Decimal() as? Value
    case is NSNumber.Type, is NSDecimalNumber.Type: NSDecimalNumber.zero as? Value
    case is NSSet.Type: NSSet() as? Value
    case is NSOrderedSet.Type: NSOrderedSet() as? Value
    case is NSString.Type: NSString() as? Value
    case is NSDate.Type: NSDate() as? Value
    case is NSData.Type: NSData() as? Value
    default: (type as? any RawRepresentable.Type).flatMap { numberedCase($0) } as? Value
    }
  }

  /// A case of an enumeration whose numbers do not begin with zero.
  private static func numberedCase<Raw: RawRepresentable>(_ type: Raw.Type) -> Any? {
    guard let numbers = Raw.RawValue.self as? any FixedWidthInteger.Type else { return nil }
    func find<Number: FixedWidthInteger>(_ numbers: Number.Type) -> Any? {
      (-128...1_000).lazy.compactMap { (Number(exactly: $0) as? Raw.RawValue).flatMap { Raw(rawValue: $0) } }
        .first
    }
    return find(numbers)
  }
}

/// The names of key paths that were asked for. Finding them makes objects.
private final class KnownPaths: @unchecked Sendable {
  static let shared = KnownPaths()
  private let lock = NSLock()
  private var paths: [AnyKeyPath: String] = [:]

  subscript(keyPath: AnyKeyPath) -> String? {
    get { lock.withLock { paths[keyPath] } }
    set { lock.withLock { paths[keyPath] = newValue } }
  }
}

extension ExpressibleByNilLiteral {
  static var nilValue: Any { Self(nilLiteral: ()) }
}

protocol _OptionalType { static var wrapped: Any.Type { get } }
extension Optional: _OptionalType { static var wrapped: Any.Type { Wrapped.self } }
