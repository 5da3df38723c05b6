/// The segments that a compaction empties and unlinks.
struct VictimSegments {
  var logs: [UInt32] = []
  var pages: [UInt32] = []
  /// Whether leaves with free space are merged and filled.
  var compactsLeaves = false
  var isEmpty: Bool { count == 0 }
  var count: Int { logs.count + pages.count }
}
