// The C library of the system: the one place that names it. A module that calls it imports this one.
//
// Where there is none, as in embedded WebAssembly, HeartwoodBytes is all that can be built.

#if canImport(Darwin)
  @_exported import Darwin
#elseif canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#elseif canImport(Android)
  @_exported import Android
#elseif canImport(WASILibc)
  @_exported import WASILibc
#elseif os(Windows)
  #error("Heartwood does not run on Windows: its files need the calls and the locks of POSIX")
#else
  #error("Heartwood needs a C library with the calls of POSIX")
#endif
