/// The store's space as the holder of the reclaim lock knows it. Compaction holds the lock; verification and backup hold it
/// to keep compaction out. A thread that holds it may wait for the lease.
final class ReclaimState {
  /// The records of complete log segments, by segment number.
  var contents: [UInt32: Contents] = [:]
  /// The last survey of the compaction in the background.
  var lastSurvey: SpaceSurvey?

  /// The records of a log segment, live or not.
  struct Contents {
    var records = 0
    /// Without frame headers.
    var recordBytes = 0
  }

  /// The result of a walk of the tree.
  struct SpaceSurvey {
    /// The smallest size of all files since, in bytes.
    var total: Int
    /// Live bytes.
    let live: Int
    let keys: UInt64
    /// Bytes that only held generations need.
    var heldGarbage = 0
  }
}
