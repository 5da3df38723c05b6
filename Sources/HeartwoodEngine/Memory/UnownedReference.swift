/// A reference to an object that is not counted: readers on many threads would contend for the count.
///
/// - Precondition: The object lives as long as the reference is used. Its owner is named where a reference is stored.
struct UnownedReference<Object: AnyObject> {
  private let reference: Unmanaged<Object>

  @inline(__always)
  init(_ object: Object) { reference = .passUnretained(object) }

  @inline(__always)
  var object: Object { reference.takeUnretainedValue() }

  /// Calls `body` with the object without counting a reference.
  @inline(__always)
  func with<Result>(_ body: (Object) -> Result) -> Result { reference._withUnsafeGuaranteedRef { body($0) } }
}
