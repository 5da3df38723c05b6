import CLibrary
import Synchronization

/// Distinguishes a process from its parent, whose open files, and the locks on them, it has inherited by a
/// fork.
package enum ForkCount {
  private static let forks = Atomic<Int>(0)
  private static let isCounting: Bool = {
    // Initialised before the first fork, so that the child does not have to initialise it.
    _ = forks.load(ordering: .relaxed)
    return pthread_atfork(nil, nil, { ForkCount.noteFork() }) == 0
  }()

  /// The number of forks between this process and the first caller. In a child it is never less than in its
  /// parent.
  package static var current: Int {
    _ = isCounting
    return forks.load(ordering: .relaxed)
  }

  private static func noteFork() { forks.add(1, ordering: .relaxed) }
}
