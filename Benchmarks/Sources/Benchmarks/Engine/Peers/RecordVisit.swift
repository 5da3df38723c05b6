import BenchmarkHarness

/// The records that the visits of a store gather, whose functions of C get its place.
struct RecordVisit {
  var digest: ReadDigest
  var limit = Int.max
  var upper = UnsafeRawBufferPointer(start: nil, count: 0)
  var found = 0
  var isDone = false

  /// Visits one record, whose bytes `body` takes; it is the last one when `body` says no.
  ///
  /// - Returns: The answer by which the store leaves the record as it is.
  @inline(__always)
  static func at(
    _ place: UnsafeMutableRawPointer?, leaving answer: UnsafePointer<CChar>?,
    _ body: (inout RecordVisit) -> Bool
  ) -> UnsafePointer<CChar>? {
    if let visit = place?.assumingMemoryBound(to: RecordVisit.self), !visit.pointee.isDone {
      if body(&visit.pointee) { visit.pointee.found += 1 } else { visit.pointee.isDone = true }
      if visit.pointee.found == visit.pointee.limit { visit.pointee.isDone = true }
    }
    return answer
  }
}
