import Foundation
import Heartwood

// Foundation traps for classes in others and private ones. The plugins declare the functions of Foundation's names for each target, which
// call these.

/// The name of a class, as `NSStringFromClass` gives it: that of `@objc(Name)`, or the class with its module and the types around it. Classes of
/// Apple's frameworks have no module. `NSClassFromString` and models find the class by it.
public func _nameOfClass(_ aClass: AnyClass) -> String {
  if let given = ProgramClasses.givenName(of: aClass) { return given }
  var parts = String(reflecting: aClass).split(separator: ".").map(String.init).filter {
    !$0.hasPrefix("(unknown")
  }
  if let module = parts.first, parts.count > 1 {
    if ["Heartwood", "HeartwoodModel"].contains(module) {
      return "NS" + parts.dropFirst().joined(separator: ".")
    }
    if ["CoreData", "Foundation"].contains(module) { parts.removeFirst() }
  }
  return parts.joined(separator: ".")
}

/// The class of a name, as `NSClassFromString` finds it: with its module, or alone.
public func _class(named aClassName: String) -> AnyClass? {
  ProgramClasses.named(aClassName) ?? NSClassFromString(aClassName)
}

extension NSObject {
  /// The class itself.
  public class func classForCoder() -> AnyClass { self }
}

/// The iterator of Foundation's collections.
public typealias _NSFastEnumerationIterator = NSEnumerator.Iterator

/// Runs a body. On Apple's systems it releases what Objective-C has autoreleased; nothing is, elsewhere.
public func autoreleasepool<Result, Failure: Error>(
  invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result { try body() }
