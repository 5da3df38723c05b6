import Foundation
import HeartwoodBytes

// In Objective-C the type of a request's results is known to the compiler only: `request as! NSFetchRequest<NSFetchRequestResult>` always
// succeeds. Classes of Swift with other arguments are other classes, and the compiler itself knows that such a cast fails. So the plugin
// `CoreDataSources` writes these operators in place of `as!`, `as?` and `is` before the types that conform to `_Recastable`.

/// The casts of Swift, with the precedence of Swift's.
precedencegroup _RecastPrecedence {
  associativity: left
  higherThan: NilCoalescingPrecedence
  lowerThan: RangeFormationPrecedence
}

infix operator ~~>! : _RecastPrecedence
infix operator ~~>? : _RecastPrecedence
infix operator ~~>~ : _RecastPrecedence

/// A class with the type of its results as argument, whose objects are cast to other arguments as in Objective-C.
public protocol _Recastable: AnyObject {
  /// An object that can be used as one of this class, in place of one for results of another type; nil if it is of another class.
  static func _recast(_ object: AnyObject) -> AnyObject?
}

/// The object as one for other results, in place of `as?`.
public func ~~>? <Target: _Recastable>(object: Any?, target: Target.Type) -> Target? {
  guard let object else { return nil }
  if let object = object as? Target { return object }
  // An object from `_recast` has the form of the target, though maybe not its class: a checked cast would trap.
  return target._recast(object as AnyObject).map { recast in
    Unmanaged<Target>.fromOpaque(Unmanaged.passUnretained(recast).toOpaque()).takeUnretainedValue()
  }
}

/// The object as one for other results, in place of `as!`.
///
/// - Precondition: It is of the class, with any results.
public func ~~>! <Target: _Recastable>(object: Any?, target: Target.Type) -> Target {
  guard let recast = object ~~>? target else {
    programError("Could not cast value of type '\(object.map { "\(type(of: $0))" } ?? "nil")' to '\(target)'")
  }
  return recast
}

/// Whether the object is of the class, with any results, in place of `is`.
public func ~~>~ <Target: _Recastable>(object: Any?, target: Target.Type) -> Bool {
  (object ~~>? target) != nil
}

/// The same for an optional type.
public func ~~>? <Target: _Recastable>(object: Any?, target: Target?.Type) -> Target? {
  object ~~>? Target.self
}
/// The same for an optional type: nil stays nil.
public func ~~>! <Target: _Recastable>(object: Any?, target: Target?.Type) -> Target? {
  object.map { $0 ~~>! Target.self }
}

/// The value itself. A cast in the argument of a macro is written within a call of it, as macros such as `#require` take operators apart.
public func _cast<Value>(_ value: Value) -> Value { value }
