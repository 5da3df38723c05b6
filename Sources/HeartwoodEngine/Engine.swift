import HeartwoodBytes
import HeartwoodFiles

/// A store: sorted keys with values in a folder. Each write transaction makes a generation, which can be read
/// while it is held.
///
/// The implementation is in these folders:
/// - `Opening/`, `Handles/`: opening and closing a store; `Recovery/`: reading it from its files;
///   `Coordination/`, `Lease/`: sharing it between processes,
/// - `Transactions/`: writing; `Checkpoints/`: keeping opening short; `Reclamation/`: reclaiming space,
/// - `Reading/`: snapshots, cursors and scans; `History/`: past generations; `Backup/`: copies; `Salvage/`:
///   recovering data from a damaged store,
/// - `Inspection/`: statistics and verification; `Observation/`: notification of commits,
/// - `Log/`, `Pages/`, `Tree/`, `Generations/`: the data structures; `Format/`: every number on disk.
///
/// Any number of threads may use an engine, and any number of engines, in one process or several, may have a
/// store open. One write transaction runs at a time; readers never wait. Engines of one process that
/// have the same folder open for writing share its tree and files, and the options of the first engine except
/// durability.
public final class Engine: Sendable {
  let handle: StoreHandle

  /// The path of the folder as it was passed to `init`.
  public let path: String
  /// Identifies this store among all others.
  public var storeIdentifier: StoreIdentifier { handle.store.identifier }
  /// The generation of the last committed transaction, of this process or another; 0 for a store that was
  /// never written.
  ///
  /// If the commits of other processes can't be read, the newest generation known here; `snapshot()` throws
  /// the error.
  public var newestGeneration: Generation {
    try? Refresh(handle.open()).ifStale()
    return Generation(rawValue: handle.store.generations.newest)
  }

  // MARK: Opening and closing

  /// Opens the store in a folder, or creates one in a folder that is missing or empty.
  ///
  /// - Parameters:
  ///   - path: A folder. Exactly "/dev/null" is a store in memory, not shared, deleted when closed.
  ///   - options: How the store is opened, and what it does while it is open.
  ///   - fileSystem: The file system of the folder.
  /// - Throws: `.notFound`, `.notAStore`, `.newerFormat`, `.locked` if another process or engine has the
  ///   store open exclusively, `.damaged` if bytes are missing or not what was written, `.otherContent`,
  ///   `.readOnly`, `.noSpace`, `.inputOutput`.
  public init(
    at path: String, options: EngineOptions = EngineOptions(), fileSystem: any FileSystem = PosixFileSystem()
  ) throws(EngineError) {
    self.path = path
    handle = try LateCalls.after { () throws(EngineError) in
      if let limits = options.untrusted {
        let opening = UntrustedOpening(path: path, options: options, limits: limits, fileSystem: fileSystem)
        return StoreHandle(try opening.run(), options)
      }
      guard path != "/dev/null" else { return StoreHandle(try Opening.inMemory(options), options) }
      return try Opening(path, options, fileSystem).openHandle()
    }
    try checkContent(options)
  }

  private func checkContent(_ options: EngineOptions) throws(EngineError) {
    guard options.access == .readWrite, options.untrusted == nil, !options.acceptsOtherContent,
      let content, content != options.content
    else { return }
    try? close()
    throw .otherContent(content, options.content, path)
  }

  /// The meaning of the keys and values that the store is marked with; nil if it has no mark.
  public var content: StoreContent? { handle.store.anchor.file.content }

  /// Marks a store that has no mark. The mark is written with the next write of the anchor, at the latest on
  /// close.
  package func mark(_ content: StoreContent) { handle.store.anchor.file.mark(content) }

  deinit { handle.forget() }

  /// Closes the engine. The last engine to close the store takes a checkpoint, so that the next opening is
  /// quick. While other engines or processes have the store open, what was written here is only made durable.
  /// Snapshots that are held stay readable. A second call does nothing, also while the first one runs.
  ///
  /// - Throws: An error of the last checkpoint. The store is closed nevertheless and loses nothing: the next
  ///   opening recovers it. `.stopped` if a sync failed before, so that deferred transactions may not be
  ///   durable. `.nestedWrite` inside a write of this thread; the engine is not closed then.
  public func close() throws(EngineError) { try handle.close() }

  // MARK: Reading

  /// The newest generation, held until the object is released.
  public func snapshot() throws(EngineError) -> Snapshot { try handle.snapshot() }

  /// A past generation, if the log still contains it.
  ///
  /// - Throws: `.generationUnavailable` if there is no such generation.
  /// - Complexity: O(k log n) in the k changes since the last checkpoint before it, which are applied once
  ///   more.
  public func snapshot(at generation: Generation) throws(EngineError) -> Snapshot {
    try History(store: handle.open()).snapshot(at: generation.rawValue)
  }

  /// Two generations that are to be compared, see ``Snapshot/differences(from:_:)``. What they have in common is then not read, also where
  /// no checkpoint was taken since both.
  ///
  /// - Parameters:
  ///   - former: The one.
  ///   - present: The other one; nil for the newest.
  /// - Throws: `.generationUnavailable` if there is no such generation.
  /// - Complexity: As ``snapshot(at:)``, once for both if one checkpoint is the newest before both.
  public func snapshots(
    at former: Generation, and present: Generation?
  ) throws(EngineError) -> (former: Snapshot, present: Snapshot) {
    try History(store: handle.open()).snapshots(at: former.rawValue, and: present?.rawValue)
  }

  /// Calls `body` with a snapshot of the newest generation.
  public func read<Result>(_ body: (Snapshot) throws -> Result) throws -> Result { try body(try snapshot()) }

  /// Calls `body` with the newest value of a key, in place; nil if the store does not contain it.
  ///
  /// The cheapest way to read one value: the same as with a snapshot that is held while `body` runs, but
  /// without the object.
  ///
  /// - Complexity: O(log n).
  @inlinable
  public func withValue<Result>(
    of key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result? {
    var result: Result?
    try readNewest(key) { result = try body($0) }
    return result
  }

  /// The part of `withValue` that is not generic.
  @usableFromInline
  func readNewest(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws { try handle.readNewest(key, body) }

  /// The newest value of a key; nil if the store does not contain it.
  ///
  /// - Complexity: O(log n).
  public func get(_ key: [UInt8]) throws -> [UInt8]? {
    try key.withBytes { try withValue(of: $0) { Array($0) } }
  }

  /// The newest value of a key given as text in UTF-8.
  public func get(_ key: String) throws -> [UInt8]? { try get(Array(key.utf8)) }

  // MARK: Observing

  /// Calls `body` after commits, of this process or another.
  ///
  /// `body` receives the newest generation; a snapshot taken from then on is of that generation or a newer
  /// one. Commits that come close together may be reported as one. No generation is reported twice or after a
  /// newer one, and commits before this call are not reported. `body` is called on a background thread, for
  /// one commit at a time. While it runs, other observers wait, so it should be short. It may use the engine,
  /// and close it.
  ///
  /// The observation ends when the result is cancelled or released, and when the engine is closed or
  /// released; commits shortly before may not be reported. Until then, `body` is retained, and the engine too
  /// if `body` refers to it.
  ///
  /// While there are observers, a thread waits for changes in the store's folder, or polls several times a
  /// second if the system does not report them. Commits do no extra work for observers in other processes.
  ///
  /// - Parameter body: Called with the newest generation.
  /// - Returns: An object that must be retained as long as `body` is to be called.
  public func observeCommits(_ body: @escaping @Sendable (Generation) -> Void) -> CommitObservation {
    handle.observeCommits(body)
  }

  /// The generations committed from now on, in this process or others. If several come before the consumer
  /// asks, it gets the newest. The sequence ends when the engine is closed or released, and does not keep it.
  ///
  /// See ``observeCommits(_:)``. Each use of the property is a sequence of its own.
  public var commits: AsyncStream<Generation> { handle.commitStream() }

  // MARK: Writing

  /// Runs `body` in a transaction. Its changes are committed when it returns and rolled back when it throws.
  /// Without changes, there is no commit and no new generation.
  ///
  /// - Parameters:
  ///   - durability: When the commit is durable; nil for the option that the engine was opened with. Has no
  ///     effect in a store that was opened with `.none`: nothing is synced there, not even by `.full`.
  ///   - body: Reads and changes the store. The transaction is valid until it returns.
  /// - Throws: The error of `body`. `.locked` if other processes have written for all of
  ///   `EngineOptions.busyTimeout`; `.replaced` if the folder or a file of the store was deleted or replaced; `.nestedWrite` inside
  ///   another write of this thread; `.outcomeUnknown` if the commit's sync failed, or its write failed in a
  ///   way that may leave it on disk, and then `.stopped` for every later write. Other errors leave the store
  ///   as it was.
  @inlinable
  public func write<Result>(
    durability: Durability? = nil, _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    var result: Result?
    try commit(durability) { result = try body($0) }
    guard let result else { programError("A transaction was committed whose body has not run.") }
    return result
  }

  /// The part of `write` that is not generic.
  @usableFromInline
  func commit(_ durability: Durability?, _ body: (WriteTransaction) throws -> Void) throws {
    try handle.write(durability, body)
  }

  /// Writes the tree to disk, so that opening need not read the log before it. Runs automatically in the
  /// background after `EngineOptions.checkpointBytes` of log. Everything committed before is durable then,
  /// unless the store was opened with `Durability.none`.
  ///
  /// Reads and writes continue meanwhile; writes of other processes wait until it ends.
  ///
  /// - Throws: `.locked` if another process writes for all of `EngineOptions.busyTimeout`; `.nestedWrite`
  ///   inside a write of this thread; `.readOnly`, `.stopped`, and errors of the file system, which lose
  ///   nothing.
  /// - Complexity: O(n) in the pages changed since the last checkpoint.
  public func checkpoint() throws(EngineError) {
    try LateCalls.after { () throws(EngineError) in try Coordinator(handle.open()).checkpoint() }
  }

  /// Reclaims the space of overwritten and deleted values: moves live values out of log segments with few of
  /// them, rewrites the tree if most of its pages are obsolete, and deletes the files.
  ///
  /// Reads and writes continue meanwhile, in other processes too; a commit waits for a step of at most 64 KiB
  /// or a single value. Snapshots that are held stay readable; past generations that need reclaimed space
  /// can't be opened any more.
  ///
  /// Live values exist twice until their old file is deleted. On a disk without that much space, files are
  /// reclaimed in rounds, and the store's reserve is used: `.noSpace` is thrown if not even the emptiest
  /// file's values fit.
  ///
  /// - Throws: `.locked` if another process writes for all of `EngineOptions.busyTimeout`; `.nestedWrite`
  ///   inside a write of this thread; `.readOnly`, `.stopped`, `.damaged` if a value that has to be moved is
  ///   damaged, and errors of the file system. Space that was not reclaimed stays as it was.
  /// - Complexity: O(n) in the number of keys, and in the bytes that are moved.
  @discardableResult
  public func reclaim() throws(EngineError) -> ReclaimedSpace {
    try LateCalls.after { () throws(EngineError) in try Compaction(handle.open()).reclaim() }
  }

  // MARK: Backup

  /// Writes the newest generation, and the history that the files contain, to another folder as a closed
  /// store with the same identifier, while reads and writes continue. Open it to read, or copy its folder to
  /// replace this store.
  ///
  /// If the folder contains an earlier backup of this store, only new data is copied, and the folder then
  /// contains the new backup instead. A crash at any moment leaves the earlier backup or the new one.
  /// Everything copied is verified, and damage is refused. A copy of the store that diverged from it is
  /// recognized by the part of the log that both still have; if all of that was reclaimed since, it is not.
  ///
  /// This store is not changed, except for a checkpoint. A store open for reading only is not changed at all,
  /// and one that has stopped is copied as far as it can be read.
  ///
  /// - Parameters:
  ///   - path: A folder that is missing, empty, or contains an earlier backup. Its parent must exist.
  ///   - fileSystem: The file system of that folder; nil for the one that the store's file system has for copies: a copy of an encrypted
  ///     store is encrypted.
  /// - Throws: `.exists` if the folder contains another store, or a backup that was written to since or that
  ///   diverged from this store; `.notAStore` if it contains anything else; `.locked` if it is in use, or
  ///   another process writes this store for all of `EngineOptions.busyTimeout`; `.nestedWrite` inside a
  ///   write of this thread; `.damaged`; errors of the file systems. The content of the folder stays as it
  ///   was.
  /// - Complexity: O(n) in the new bytes. Where files are not mapped, one segment of the log, 64 MiB or one
  ///   transaction more, is held in memory.
  @discardableResult
  public func backup(
    to path: String, fileSystem: (any FileSystem)? = nil
  ) throws(EngineError) -> BackupReport {
    let store = try handle.open()
    return try LateCalls.after { () throws(EngineError) in
      try BackupOperation(store: store).run(to: path, fileSystem ?? store.fileSystem.forCopies)
    }
  }

  // MARK: Inspection

  /// All generations that can still be opened, oldest first.
  ///
  /// - Complexity: O(n) in the number of transactions.
  public func generations() throws(EngineError) -> [GenerationRecord] {
    try History(store: handle.open()).records()
  }

  /// The store's size and content in numbers.
  public func statistics() throws(EngineError) -> EngineStatistics {
    try Statistics(store: handle.open()).run()
  }

  /// Reads everything and reports what is damaged. Reads and writes continue meanwhile, in other processes
  /// too.
  ///
  /// - Parameter progress: Called with the number of bytes read, and the number of bytes in total.
  /// - Throws: Errors of reading; damage is reported, not thrown. `.locked` if another process writes for all
  ///   of `EngineOptions.busyTimeout`; `.nestedWrite` inside a write of this thread.
  /// - Complexity: O(n) in the bytes of the store, and in the keys.
  public func verify(progress: ((Int64, Int64) -> Void)? = nil) throws(EngineError) -> VerificationReport {
    try Verification.run(handle.open(), progress: progress)
  }
}
