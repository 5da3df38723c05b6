/// A place for a value, as methods of Objective-C have for results.
public struct AutoreleasingUnsafeMutablePointer<Pointee> {
  private final class Place {
    var value: Pointee
    init(_ value: Pointee) { self.value = value }
  }

  private let place: Place

  /// A place with a value.
  public init(_ value: Pointee) { place = Place(value) }

  /// A place with the value of a variable, as in `AutoreleasingUnsafeMutablePointer(&value)`. The variable is not changed through it.
  ///
  /// - Precondition: The value is one of `Pointee`.
  public init<Value>(_ variable: UnsafeMutablePointer<Value>) {
    guard let value = variable.pointee as? Pointee else {
      fatalError("\(variable.pointee) is no \(Pointee.self)")
    }
    self.init(value)
  }

  /// The value.
  public var pointee: Pointee {
    get { place.value }
    nonmutating set { place.value = newValue }
  }
}
