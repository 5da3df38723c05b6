import HeartwoodBytes
import HeartwoodFiles

/// A store: sorted keys with values in a folder, written by transactions, each of which makes a generation that
/// can be read for as long as it is held.
///
/// A table of contents. What is said here is done in:
/// - `Recovery/`: opening, `Transactions/`: writing, `Checkpoints/`: making opening short,
/// - `Reading/`: snapshots, cursors and scans, `Backup/`: copies of it, `Salvage/`: what is left of it,
/// - `Inspection/`: looking after it all, `Notices/`: telling of commits,
/// - `Log/`, `Tree/`, `Generations/`: what they stand on, `Format/`: every number on disk.
///
/// An engine may be used by any number of threads, and a store by any number of engines, in one process or several. One
/// transaction runs at a time; readers wait for nobody. Engines of one process that have the same folder open for writing
/// share what is behind them: the tree, the files, and the options of the first but for its durability.
public final class Engine: Sendable {
  let handle: StoreHandle

  /// The folder that was opened.
  public let path: String
  /// What tells this store from every other.
  public var storeIdentifier: StoreIdentifier { handle.store.log.identifier }
  /// The generation that the last transaction made, in this process or another; 0 for a store that nothing was written to.
  /// Where what others have committed can't be read, the newest that is known here: `snapshot()` says why.
  public var newestGeneration: Generation {
    try? handle.open().refreshIfStale()
    return Generation(rawValue: handle.store.generations.newest)
  }

  // MARK: Opening and closing

  /// Opens the store in a folder, or makes one in a folder that is missing or empty.
  ///
  /// - Parameters:
  ///   - path: A folder. Exactly "/dev/null" is a store in memory: its own, and gone when closed.
  ///   - fileSystem: Where the folder is.
  /// - Throws: `.notFound`, `.notAStore`, `.newerFormat`, `.locked` where somebody has it to themselves, `.damaged`
  ///   where bytes are missing or not what was written, `.readOnly`, `.noSpace`, `.inputOutput`.
  public init(
    at path: String, options: EngineOptions = EngineOptions(), fileSystem: any FileSystem = PosixFileSystem()
  ) throws(EngineError) {
    self.path = path
    if let limits = options.untrusted {
      let opening = UntrustedOpening(path: path, options: options, limits: limits, fileSystem: fileSystem)
      handle = StoreHandle(try opening.run(), options)
    } else if path == "/dev/null" {
      handle = StoreHandle(try .inMemory(options), options)
    } else {
      handle = try Opening(path, options, fileSystem).openHandle()
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

  /// What the keys and values of the store mean, as it is marked; nil where it is not.
  public var content: StoreContent? { handle.store.anchor.content }

  /// Marks a store that has no mark, when its anchor is written next: at the latest when it is closed.
  package func mark(_ content: StoreContent) { handle.store.anchor.mark(content) }

  deinit { handle.forget() }

  /// Ends the use of the store: takes a checkpoint, so that opening it again is quick, and lets go of the lock. Where other
  /// processes have it open, what was written here is made durable, and the rest is left to the last of them.
  /// Snapshots that are held stay readable. A second call does nothing, also while the first is under way.
  ///
  /// - Throws: where the last checkpoint could not be written. The store is closed all the same, and loses
  ///   nothing: it is recovered by the next opening. `.stopped` where a sync failed before, and deferred
  ///   transactions may therefore not be on disk.
  public func close() throws(EngineError) { try handle.close() }

  // MARK: Reading

  /// The newest generation, held until the object is released.
  public func snapshot() throws(EngineError) -> Snapshot { try handle.snapshot() }

  /// A past generation, for as long as the log has it.
  ///
  /// - Throws: `.generationUnavailable` where there is no such generation.
  /// - Complexity: The transactions behind the checkpoint before it are applied once more.
  public func snapshot(at generation: Generation) throws(EngineError) -> Snapshot {
    try handle.open().snapshot(at: generation.rawValue)
  }

  /// Runs `body` with the newest generation.
  public func read<Result>(_ body: (Snapshot) throws -> Result) throws -> Result { try body(try snapshot()) }

  /// Calls `body` with the newest value of a key, in place; nil where there is none.
  ///
  /// The cheapest way to read one value: as with a snapshot that is held while `body` runs, but without the object.
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

  /// What `withValue` does, whatever `body` returns there.
  @usableFromInline
  func readNewest(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws { try handle.readNewest(key, body) }

  /// The newest value of a key, nil where there is none. - Complexity: O(log n).
  public func get(_ key: [UInt8]) throws -> [UInt8]? {
    try key.withUnsafeBytes { try withValue(of: $0) { Array($0) } }
  }

  /// The newest value of a key given as text, its bytes being UTF-8.
  public func get(_ key: String) throws -> [UInt8]? { try get(Array(key.utf8)) }

  // MARK: Being told

  /// Calls `body` when something was committed, in this process or in another.
  ///
  /// It is told the newest generation; a snapshot that is taken then, or later, is of that or a newer one. Several commits
  /// that come together may be told at once. Nothing is told twice, and nothing older than what was told before; nor what
  /// was committed before this call. `body` is called on a thread in the background, for one commit after the other, and
  /// while it runs others who observe wait: it had better be short. It may use the engine, and close it.
  ///
  /// This ends when the result is cancelled or released, and when the engine is closed or released; what was committed just
  /// before may be left out then. Where `body` refers to the engine, it keeps it until then.
  ///
  /// While somebody observes, a thread waits for changes in the store's folder. Where the system does not tell of
  /// them, it looks some times a second. Whoever commits does nothing for it.
  ///
  /// - Parameter body: Is told the newest generation.
  /// - Returns: What has to be kept as long as `body` is to be called.
  public func observeCommits(_ body: @escaping @Sendable (Generation) -> Void) -> CommitObservation {
    handle.observeCommits(body)
  }

  /// The generations that are committed from now on, in this process or in others: of those that come while nobody asks, the
  /// newest. The sequence ends when the engine is closed or released, and does not keep it.
  ///
  /// See ``observeCommits(_:)``. Each use of the property is a sequence of its own.
  public var commits: AsyncStream<Generation> { handle.commitStream() }

  // MARK: Writing

  /// Runs `body` in a transaction. What it changed is committed when it returns and rolled back when it
  /// throws; where it changed nothing, there is no commit and no new generation.
  ///
  /// - Parameter durability: When the commit is safe; nil for what the engine was opened with. In a store that was opened with
  ///   `.none` it has no effect: nothing is synced there, not even by `.full`.
  /// - Throws: what `body` throws; `.locked` where other processes have written for all of `EngineOptions.busyTimeout`;
  ///   `.replaced` where the folder is not there any more; `.nestedWrite` inside another write of this thread;
  ///   `.outcomeUnknown` where the commit's sync failed, or its writing failed in a way that may leave it on disk, and
  ///   `.stopped` ever after; other errors leave the store as it was.
  @inlinable
  public func write<Result>(
    durability: Durability? = nil, _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    var result: Result?
    try commit(durability) { result = try body($0) }
    guard let result else { programError("A transaction was committed whose body has not run.") }
    return result
  }

  /// What `write` does, whatever `body` returns there: nothing in the engine is generic over it.
  @usableFromInline
  func commit(_ durability: Durability?, _ body: (WriteTransaction) throws -> Void) throws {
    try handle.write(durability, body)
  }

  /// Writes the tree to disk now, so that opening need not read the log before it. Done by itself in the
  /// background after `EngineOptions.checkpointBytes` of log. Everything that was committed before is durable then, unless
  /// the store was opened with `Durability.none`.
  ///
  /// Reading and writing go on meanwhile; writes of other processes wait until it ends.
  ///
  /// - Throws: `.locked` where another process writes for all of `EngineOptions.busyTimeout`; `.nestedWrite` inside a write of
  ///   this thread; `.readOnly`, `.stopped`, and errors of the file system, which lose nothing.
  /// - Complexity: O(n) in the pages that were changed since the last.
  public func checkpoint() throws(EngineError) { try handle.open().checkpoint() }

  /// Gives the space of overwritten and deleted values back: moves what lives out of the parts of the log with
  /// little left alive, writes the tree anew where most of its pages are old, and unlinks the files.
  ///
  /// Reading and writing go on meanwhile, in other processes too; a commit waits for a step of at most 64 KiB, or a single value.
  /// Snapshots that are held stay whole; past generations that need what was given back can't be opened any more.
  ///
  /// What lives is there twice until its old file is unlinked. On a disk without that much room, space is given back in rounds,
  /// and the store's reserve is used: `.noSpace` is thrown where even the emptiest file does not fit.
  ///
  /// - Throws: `.locked` where another process writes for all of `EngineOptions.busyTimeout`; `.nestedWrite` inside a write of
  ///   this thread; `.readOnly`, `.stopped`, `.damaged` where a value that would have to be moved is, and errors of the file
  ///   system. What was not given back stays as it was.
  /// - Complexity: O(n) in the number of keys, and in the bytes that are moved.
  @discardableResult
  public func reclaim() throws(EngineError) -> ReclaimedSpace { try handle.open().reclaim() }

  // MARK: Copying it

  /// Writes the newest generation, and the history that the files hold, to another folder as a store of its own, while
  /// reading and writing go on. It has the same identifier and is closed; open it to read, or copy its folder to put
  /// it in the place of this one.
  ///
  /// Where the folder holds an earlier backup of this store, only what is new is copied: the folder then holds the new
  /// backup in the place of the earlier one. A crash at any moment leaves what was there, or the new backup. Everything
  /// that is copied is checked on the way, and damage is refused. An older copy of the store that went its own way is
  /// told from the store itself by what it still has of the log; where all of that was given back since, it is not.
  ///
  /// This store is not changed, but for a checkpoint. One that is open for reading only is not changed at all, and one
  /// that has stopped is copied as it can be read.
  ///
  /// - Parameters:
  ///   - path: A folder that is missing, empty, or holds an earlier backup. Its parent has to be there.
  ///   - fileSystem: Where that folder is.
  /// - Throws: `.exists` where the folder holds another store, or a backup that was written to since or is of another
  ///   past of this store; `.notAStore` where it holds other things; `.locked` where it is in use, or another process writes this
  ///   store for all of `EngineOptions.busyTimeout`; `.nestedWrite` inside a write of this thread; `.damaged`; errors of the file
  ///   systems. What the folder held stays as it was.
  /// - Complexity: O(n) in the bytes that are new; a segment of the log, 64 MiB or a transaction more, is held in memory
  ///   where files are not mapped.
  @discardableResult
  public func backup(
    to path: String, fileSystem: any FileSystem = PosixFileSystem()
  ) throws(EngineError) -> BackupReport {
    try handle.open().backup(to: path, fileSystem)
  }

  // MARK: Looking after it

  /// All generations that can still be opened, oldest first. - Complexity: O(n) in the number of transactions.
  public func generations() throws(EngineError) -> [GenerationRecord] {
    try handle.open().generationRecords()
  }

  /// What the store holds and takes.
  public func statistics() throws(EngineError) -> EngineStatistics { try handle.open().statistics() }

  /// Reads everything and reports whatever is not as it should be. Reading and writing go on meanwhile, in other processes too.
  ///
  /// - Parameter progress: Is told how many bytes of how many have been read.
  /// - Throws: where reading fails; damage is reported, not thrown. `.locked` where another process writes for all of
  ///   `EngineOptions.busyTimeout`; `.nestedWrite` inside a write of this thread.
  /// - Complexity: O(n) in the bytes of the store, and in the keys.
  public func verify(progress: ((Int64, Int64) -> Void)? = nil) throws(EngineError) -> VerificationReport {
    try handle.open().verify(progress: progress)
  }
}
