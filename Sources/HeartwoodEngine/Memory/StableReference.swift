/// A reference to a value that does not move until its owner frees it, which counts no references.
struct StableReference<Value: ~Copyable> {
  private let pointer: UnsafeMutablePointer<Value>

  /// Allocates memory for a value. The owner calls `free`.
  init(_ value: consuming Value) {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: value)
  }

  /// The reference with an address; nil if that is 0.
  @inline(__always)
  init?(address: UInt) {
    guard let pointer = UnsafeMutablePointer<Value>(bitPattern: address) else { return nil }
    self.pointer = pointer
  }

  @inline(__always)
  var address: UInt { UInt(bitPattern: pointer) }

  var value: Value {
    @inline(__always) unsafeAddress { UnsafePointer(pointer) }
  }

  /// Frees the value, which no thread uses any more.
  func free() {
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }
}
