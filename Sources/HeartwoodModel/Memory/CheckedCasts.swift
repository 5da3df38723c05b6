/// Casts without a check, of what was checked before: the runtime's casts cost more than the use of most objects.
@usableFromInline package enum CheckedCast {
  /// - Precondition: The object is of `type`, which debug builds check.
  @inlinable @inline(__always)
  package static func object<Object: AnyObject>(_ object: AnyObject, of type: Object.Type) -> Object {
    unsafeDowncast(object, to: Object.self)
  }

  /// - Precondition: The class is `type`, or derived from it.
  @inlinable @inline(__always)
  package static func type<Object: AnyObject>(_ objectClass: AnyClass, of type: Object.Type) -> Object.Type {
    unsafeBitCast(objectClass, to: Object.Type.self)
  }

  /// - Precondition: Every object is of `type`.
  @inlinable @inline(__always)
  package static func objects<Base: AnyObject, Object: AnyObject>(_ objects: [Base], of type: Object.Type)
    -> [Object]
  {
    unsafeBitCast(objects, to: [Object].self)
  }

  /// - Precondition: The value is exactly of `type`.
  @inlinable @inline(__always)
  static func value<Held>(_ any: Any, of type: Held.Type) -> Held {
    func held<Value>(_ value: Value) -> Held { unsafeBitCast(value, to: Held.self) }
    return _openExistential(any, do: held)
  }
}

extension String {
  /// The words of the representation; equal for equal short strings. They may be an address: keep the string alive.
  @inlinable @inline(__always)
  var representation: (UInt64, UInt64) {
    guard MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size else { return (0, 0) }
    return unsafeBitCast(self, to: (UInt64, UInt64).self)
  }
}

/// The bits of a value, which tell that code to which it was given put nothing in its place. Equal bits are equal values if the type has
/// value semantics and another copy is kept; values with other bits may be equal too.
package struct AnyBits: Equatable {
  private let words: SIMD4<UInt64>

  package init(_ any: inout Any?) {
    words = withUnsafeBytes(of: &any) { bytes in
      guard bytes.count < MemoryLayout<SIMD4<UInt64>>.size else {
        return bytes.loadUnaligned(as: SIMD4<UInt64>.self)
      }
      var words = SIMD4<UInt64>()
      withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
      return words
    }
  }
}
