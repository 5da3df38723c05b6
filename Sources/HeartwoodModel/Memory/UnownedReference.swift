/// A reference to an object that is not counted: for what is created or compared by the million.
///
/// - Precondition: The object lives as long as the reference is used. Its owner is named where a reference is stored.
@usableFromInline package struct UnownedReference<Object: AnyObject> {
  @usableFromInline let reference: Unmanaged<Object>

  @inlinable @inline(__always)
  package init(_ object: Object) { reference = .passUnretained(object) }

  @usableFromInline init(_ reference: Unmanaged<Object>) { self.reference = reference }

  /// A reference that keeps the object alive until `release()`.
  @inlinable static func retaining(_ object: Object) -> UnownedReference {
    UnownedReference(.passRetained(object))
  }

  @inlinable func release() { reference.release() }

  @inlinable @inline(__always)
  package var object: Object { reference.takeUnretainedValue() }

  /// Calls `body` with the object without counting a reference.
  @inlinable @inline(__always)
  package func with<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
    try reference._withUnsafeGuaranteedRef { try body($0) }
  }

  @inlinable @inline(__always)
  package static func == (left: UnownedReference, right: UnownedReference) -> Bool {
    left.reference.toOpaque() == right.reference.toOpaque()
  }
}

extension UnownedReference: Sendable where Object: Sendable {}
