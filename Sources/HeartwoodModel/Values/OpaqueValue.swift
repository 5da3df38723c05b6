/// A value that no row stores: of a transient attribute of any type, or one that its transformer could not encode.
public final class _OpaqueValue: @unchecked Sendable {
  /// The value. Unchecked: it is used on the queue of its object's context only.
  package let value: Any
  /// Why the value cannot be stored; nil for one that need not be.
  package let refusal: String?
  /// The values of a dictionary, for `IN`; nil for another value.
  package let members: [Value]?

  /// Whether an equal value can be distinguished from another one.
  package var isComparable: Bool { value is any Equatable || type(of: value) is AnyClass }

  package init(_ value: Any, refusal: String? = nil, members: [Value]? = nil) {
    (self.value, self.refusal, self.members) = (value, refusal, members)
  }
}

extension _OpaqueValue: Hashable {
  /// Whether both are equal, if their type is `Equatable`; otherwise whether both are the same instance.
  public static func == (left: _OpaqueValue, right: _OpaqueValue) -> Bool {
    if left === right { return true }
    if let equatable = left.value as? any Equatable { return equatable.isEqual(to: right.value) }
    guard type(of: left.value) is AnyClass, type(of: right.value) is AnyClass else { return false }
    return left.value as AnyObject === right.value as AnyObject
  }

  /// Hashes the value if it is `Hashable`, otherwise nothing.
  public func hash(into hasher: inout Hasher) {
    if let hashable = value as? any Hashable { hasher.combine(AnyHashable(hashable)) }
  }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { (other as? Self) == self }
}
