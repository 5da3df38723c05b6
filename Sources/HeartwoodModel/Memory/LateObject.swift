import HeartwoodFiles

/// An object that is made when it is first used, of a type that its owner does not know.
final class LateObject: Sendable {
  private let made = Guarded<(any Sendable & AnyObject)?>(nil)

  /// The object. Two threads that are the first may each make one; both get the same.
  ///
  /// - Parameter make: Makes it; always of the same type.
  func get<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    if let known = made.withLock({ $0 }) as? Object { return known }
    let new = make()
    return made.withLock { made in
      let kept = made as? Object ?? new
      made = kept
      return kept
    }
  }
}
