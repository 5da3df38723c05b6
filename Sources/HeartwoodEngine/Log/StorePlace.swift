import HeartwoodFiles

/// Whether the files of an open store are still those that its folder has. If they were deleted or replaced, commits would be written to files
/// that no opening finds.
///
/// Each sync of the log asks. Mostly it costs three calls that ask for the status of an open file; the names are looked up only if the folder
/// has changed since.
final class StorePlace: Sendable {
  private struct Seen: Sendable {
    /// Of the folder, when all files were there.
    var folder: FileStatus?
    /// When that status was seen first, in nanoseconds of `MonotonicTime`.
    var since = 0
    /// Whether the names were looked up so long after the folder's last change that its next change has another time.
    var isSettled = false
  }

  private let folder: StoreFolder
  private let anchor: AnchorFile
  private let segments: LogSegments
  /// Of the process: while another one has it, that one changes the files.
  private let lease: WriterLease
  private let seen = Guarded(Seen())
  /// The files of the newest checkpoint.
  private let named = Guarded<[String]>([])

  /// In nanoseconds. The system's clock for changes of files has a resolution of some milliseconds.
  private static let resolution = 20_000_000

  init(_ folder: StoreFolder, _ anchor: AnchorFile, _ segments: LogSegments, _ lease: WriterLease) {
    self.folder = folder
    self.anchor = anchor
    self.segments = segments
    self.lease = lease
  }

  /// Notes the files that the newest checkpoint needs.
  func note(_ checkpoint: NamedCheckpoint?) {
    let names =
      (checkpoint?.logSegments ?? []).map { SegmentName.log($0.number) }
      + (checkpoint?.pageSegments ?? []).map { SegmentName.pages($0.number) }
    named.withLock { $0 = names }
  }

  /// - Parameter files: Those that were synced.
  /// - Throws: `.replaced` if a file of the store was deleted, or if something else has taken its place.
  func check(_ files: [LogSegment]) throws(EngineError) {
    guard lease.isHeld else { return }
    do {
      for segment in files {
        guard let status = try segment.file.status() else { return }
        if status.links == 0 { throw Self.gone(segment.path) }
      }
      if let what = try anchor.changeByOthers(folder) { throw Self.gone(what) }
      try checkNames()
    } catch let error as EngineError where error.code == .replaced {
      if lease.isHeld { throw error }
    } catch {
      // The log is synced. What could not be looked at, as without a free descriptor, is looked at by the next sync.
    }
  }

  private func checkNames() throws {
    guard let now = try folder.directory.status() else { return }
    let time = MonotonicTime.nanoseconds
    let isKnown = seen.withLock { seen in
      if seen.folder != now { seen = Seen(folder: now, since: time) }
      return seen.isSettled
    }
    guard !isKnown else { return }
    try folder.checkIsInPlace()
    if let file = folder.attachment?.missingFile { throw Self.gone(folder.path(of: file)) }
    // Listed first: files that are needed no more are unlinked later, and new ones are needed later.
    let present = Set(try folder.entries())
    for name in needed where !present.contains(name) {
      guard try isMissing(name), needed.contains(name) else { continue }
      throw Self.gone(folder.path(of: name))
    }
    seen.withLock { seen in
      if seen.folder == now, time - seen.since > Self.resolution { seen.isSettled = true }
    }
  }

  private var needed: [String] {
    named.withLock { $0 } + segments.tail.map { SegmentName.log($0.number) } + [StoreFolder.anchorName]
  }

  private func isMissing(_ name: String) throws(FileSystemError) -> Bool {
    do {
      return try folder.directory.status(of: name) == nil
    } catch {
      guard error.code == .notFound else { throw error }
      return true
    }
  }

  private static func gone(_ path: String) -> EngineError {
    EngineError(
      .replaced,
      "a file of the open store was deleted or replaced: what was committed last is not safe, and nothing more is written; reading goes on, and "
        + "a backup copies what is here to another folder; then open the store that is at the path",
      file: path)
  }
}
