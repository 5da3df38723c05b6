import HeartwoodBytes
import Synchronization

/// The memory pages of the system: maps begin at their multiples.
package enum MemoryPages {
  private static let assumed = Atomic(0)
  private static let system = SystemCall.memoryPageSize

  /// The size of a page in bytes, a power of two.
  package static var byteCount: Int {
    let assumed = assumed.load(ordering: .relaxed)
    return assumed == 0 ? system : assumed
  }

  /// Assumes larger pages than the system has, as others have 16 or 64 KiB. Called by tests, before any file is mapped.
  package static func assume(_ byteCount: Int) {
    require(byteCount >= system && byteCount.nonzeroBitCount == 1, "Pages have a power of two of bytes.")
    assumed.store(byteCount, ordering: .relaxed)
  }
}
