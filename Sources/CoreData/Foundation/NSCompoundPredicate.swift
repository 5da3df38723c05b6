import Foundation
import Heartwood

/// Predicates that are joined: Foundation's class, with equality and text as on Apple's systems.
///
/// `NSPredicate(format:)` makes objects of this class, and in modules with one of the plugins `NSCompoundPredicate` is this class. Elsewhere that
/// name is Foundation's: its objects work in fetches all the same, but have no text, and all of them are equal.
open class _NSCompoundPredicate: Foundation.NSCompoundPredicate {
  /// The predicate as text, as Apple's systems write it.
  open override var predicateFormat: String { PredicateText.text(of: self) }
  /// The predicate as text.
  open override var description: String { predicateFormat }
  /// The predicate itself, which does not change.
  open override func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether both join equal predicates in the same way.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? Foundation.NSCompoundPredicate else { return false }
    if other === self { return true }
    return other.compoundPredicateType == compoundPredicateType && other.subpredicates == subpredicates
  }

  /// A hash of the predicates.
  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(compoundPredicateType)
    for part in subpredicates { hasher.combine(part.hash) }
    return hasher.finalize()
  }
}
