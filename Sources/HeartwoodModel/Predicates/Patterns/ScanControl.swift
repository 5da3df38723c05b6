import HeartwoodFiles
import Synchronization

/// Ends a scan from another thread, and counts the rows that it finds.
@usableFromInline package final class ScanControl: Sendable {
  @usableFromInline let wasCancelled = Atomic<Bool>(false)
  private let found = Atomic<Int>(0)
  private let report: @Sendable (Int) -> Void

  /// After how many found rows the number is reported.
  private static let step = 1024

  /// - Parameter report: Called with the number of found rows, now and then, on the thread of the scan.
  package init(_ report: @escaping @Sendable (Int) -> Void = { _ in }) { self.report = report }

  // Relaxed: no other memory depends on the order of these.
  @inlinable var isCancelled: Bool { wasCancelled.load(ordering: .relaxed) }
  package func cancel() { wasCancelled.store(true, ordering: .relaxed) }

  /// That of the scan that the thread is in.
  private static let ofThread = ThreadValue<ScanControl>()

  package static var current: ScanControl? { ofThread.current }

  /// Runs a scan of this thread, whose tests of single rows are ended too.
  package func during<Result>(_ scan: () throws -> Result) rethrows -> Result {
    try Self.ofThread.with(self, scan)
  }

  /// Whether the scan that this thread is in, or its task, was cancelled.
  package static var isCancelledHere: Bool { current?.isCancelled == true || Task.isCancelled }

  /// For what takes long within a row.
  ///
  /// - Throws: `CancellationError` if the scan that this thread is in, or the task, was cancelled.
  static func checkHere() throws {
    try ofThread.current?.check()
    try Task.checkCancellation()
  }

  /// - Throws: `CancellationError` if the scan was cancelled.
  @inlinable @inline(__always)
  package func check() throws { if isCancelled { throw CancellationError() } }

  /// Notes a row that belongs to the result, apart from limit and offset.
  package func noteFound() {
    let (_, count) = found.add(1, ordering: .relaxed)
    if count % Self.step == 0 { report(count) }
  }
}
