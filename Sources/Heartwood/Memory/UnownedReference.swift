/// A reference to an object that is not counted: for what is created or compared by the million.
///
/// - Precondition: The object lives as long as the reference is used. Its owner is named where a reference is stored.
struct UnownedReference<Object: AnyObject> {
  private let reference: Unmanaged<Object>

  @inline(__always)
  init(_ object: Object) { reference = .passUnretained(object) }

  private init(_ reference: Unmanaged<Object>) { self.reference = reference }

  /// A reference that keeps the object alive until `release()`.
  static func retaining(_ object: Object) -> UnownedReference { UnownedReference(.passRetained(object)) }

  func release() { reference.release() }

  @inline(__always)
  var object: Object { reference.takeUnretainedValue() }

  /// Calls `body` with the object without counting a reference.
  @inline(__always)
  func with<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
    try reference._withUnsafeGuaranteedRef { try body($0) }
  }

  @inline(__always)
  static func == (left: UnownedReference, right: UnownedReference) -> Bool {
    left.reference.toOpaque() == right.reference.toOpaque()
  }
}

extension UnownedReference: Sendable where Object: Sendable {}
