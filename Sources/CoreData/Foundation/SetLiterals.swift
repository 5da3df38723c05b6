import Foundation

// Foundation's sets have no literals on this system, and a class of another module cannot be given one. So the plugin `CoreDataSources`
// gives array literals for properties that may be sets to these functions.

/// The value of a literal for a property of any other type.
public func _assigned<Literal: ExpressibleByArrayLiteral>(_ literal: Literal) -> Literal { literal }

/// The set of the elements of a literal.
public func _assigned(_ elements: [Any]) -> NSSet { NSSet(array: elements) }

/// The set of the elements of a literal, which can be changed.
@_disfavoredOverload public func _assigned(_ elements: [Any]) -> NSMutableSet {
  NSMutableSet(array: elements)
}
