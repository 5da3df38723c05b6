#if compiler(<6.4) && hasFeature(BuiltinModule)
  import Builtin
#else
  import Synchronization
#endif

extension UnsafeRawPointer {
  /// Asks for the line of memory that a byte lies in, and does not wait for it: what comes next is not held up, as it would be
  /// behind a load that misses the cache. The byte has to be there.
  ///
  /// The standard library has no word for this. Its own modules use `Builtin`, which the package manager lets a package have,
  /// but which may change: compilers that this was not tried with get a load, which is slower and never wrong.
  @inline(__always)
  func prefetch(_ offset: Int) {
    #if compiler(<6.4) && hasFeature(BuiltinModule)
      // A read, kept in all caches, of data.
      Builtin.int_prefetch_RawPointer(
        (self + offset)._rawValue, (0 as Int32)._value, (3 as Int32)._value, (1 as Int32)._value)
    #else
      // Atomic: one that the compiler does not take for useless.
      _ = (self + offset).assumingMemoryBound(to: Atomic<UInt8>.self).pointee.load(ordering: .relaxed)
    #endif
  }
}
