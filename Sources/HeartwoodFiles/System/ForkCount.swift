import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Tells a process from the one that it was forked from, whose files, and the locks on them, it has inherited.
package enum ForkCount {
  private static let forks = Atomic<Int>(0)
  private static let isCounting: Bool = {
    // Made before the first fork, so that the child makes nothing.
    _ = forks.load(ordering: .relaxed)
    return pthread_atfork(nil, nil, { ForkCount.noteFork() }) == 0
  }()

  /// How many forks lie between this process and the one that asked first. Never less than what a parent was told.
  package static var current: Int {
    _ = isCounting
    return forks.load(ordering: .relaxed)
  }

  private static func noteFork() { forks.add(1, ordering: .relaxed) }
}
