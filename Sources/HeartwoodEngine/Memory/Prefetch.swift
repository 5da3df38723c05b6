#if compiler(<6.4) && hasFeature(BuiltinModule)
  import Builtin
#else
  import Synchronization
#endif

extension Bytes {
  /// Prefetches the cache line of a byte without waiting for it, unlike a load, which stalls later
  /// instructions if it misses the cache. The byte must be addressable.
  ///
  /// The standard library has no such function. Its own modules use `Builtin`, which the package manager
  /// allows but which may change: untested compilers use a plain load, which is slower and always correct.
  @inline(__always)
  func prefetch(_ offset: Int) {
    #if compiler(<6.4) && hasFeature(BuiltinModule)
      // The arguments: a read, kept in all caches, of data.
      Builtin.int_prefetch_RawPointer(
        address(offset, 1)._rawValue, (0 as Int32)._value, (3 as Int32)._value, (1 as Int32)._value)
    #else
      // An atomic load, which the compiler does not remove as unused.
      _ = address(offset, 1).assumingMemoryBound(to: Atomic<UInt8>.self).pointee.load(ordering: .relaxed)
    #endif
  }
}
