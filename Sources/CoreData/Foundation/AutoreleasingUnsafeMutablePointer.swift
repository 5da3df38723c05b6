/// A place for a value, as methods of Objective-C have for results.
public struct AutoreleasingUnsafeMutablePointer<Pointee> {
  private final class Place {
    var value: Pointee
    init(_ value: Pointee) { self.value = value }
  }

  private let place: Place

  /// A place with a value.
  public init(_ value: Pointee) { place = Place(value) }

  /// The value.
  public var pointee: Pointee {
    get { place.value }
    nonmutating set { place.value = newValue }
  }
}
