import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// The file of a store that each save writes as a whole. The store itself is in memory.
///
/// A save writes another file beside it, makes that durable, and renames it: after a crash the file is the old one or the new one. A file
/// that others have replaced or changed since it was read is not overwritten: the save fails. While the file is compared and replaced, its
/// lock is held. What reads a store, decides by what it has, and writes it, holds the lock from before it reads (`load` with `isLocked`,
/// `toCreate`, `replacing`, `destroy`).
final class StoreFile: Sendable {
  let format: StoreFileFormat
  private let options: LogStoreOptions
  private let state: Guarded<State>

  private struct Place {
    let path: String
    let directory: String
    let name: String

    init(_ path: String) throws(HeartwoodError) {
      self.path = path
      (directory, name) = try StoreFile.parts(of: path)
    }
  }

  private struct State {
    var place: Place
    /// The digest of the file as it was last read or written.
    var known: FileDigest
    var saves: UInt64
    /// Set while the file may be newer than the store in memory: after a failure nothing is written until the store is opened again.
    var isAhead = false
    /// The lock, held between the preparation of a save and its end. What was read last is known to be in the file then.
    var prepared: StoreFileLock?
  }

  private init(_ format: StoreFileFormat, _ options: LogStoreOptions, _ state: State) {
    self.format = format
    self.options = options
    self.state = Guarded(state)
  }

  /// - Parameter lock: The lock of the file, which has been compared; nil if it is not held.
  convenience init(
    _ path: String, _ format: StoreFileFormat, _ options: LogStoreOptions, known: FileDigest, saves: UInt64,
    holding lock: StoreFileLock? = nil
  ) throws {
    self.init(
      format, options, State(place: try Place(path), known: known, saves: saves, prepared: lock))
  }

  deinit { endPreparation() }

  var path: String { state.withLock { $0.place.path } }
  private var name: String { state.withLock { $0.place.name } }

  /// Has the next save write to another place. No save is under way.
  ///
  /// - Returns: False if there is a file with bytes, or no folder for one.
  func move(to path: String) -> Bool {
    guard let place = try? Place(path),
      let directory = try? options.fileSystem.openDirectory(place.directory),
      let size = try? Self.size(of: place.name, directory) ?? 0, size == 0
    else { return false }
    return state.withLock { state in
      guard state.prepared == nil else { return false }
      state.place = place
      state.known = .empty
      return true
    }
  }

  /// Whether nothing was read or written yet.
  var isNew: Bool { state.withLock { $0.known == .empty } }

  static func parts(of path: String) throws(HeartwoodError) -> (directory: String, name: String) {
    let url = URL(fileURLWithPath: path)
    let name = url.lastPathComponent
    guard !name.isEmpty, name != "/", name != ".", name != ".." else {
      throw HeartwoodError(.persistentStoreOpen, "\(path) is no path of a file")
    }
    return (url.deletingLastPathComponent().path, name)
  }

  /// The reason of a failure, in a message about a store; a missing folder is named as such.
  static func reason(_ error: FileSystemError) -> String {
    error.code == .notFound && error.operation == .openDirectory
      ? "there is no folder \(error.path); create it first" : "\(error)"
  }
}

/// Reading.
extension StoreFile {
  /// Reads a file into a new engine in memory.
  ///
  /// - Parameter isLocked: Whether the lock of the file is acquired before it is read, and held until a save has ended or
  ///   `endPreparation()` is called.
  /// - Returns: The engine, which is empty if there is no file, or one without bytes.
  /// - Throws: `.persistentStoreOpen` if there is none and none may be created, or it is of another form; `.persistentStoreDamaged`;
  ///   `.persistentStoreTimeout` if others hold the lock.
  static func load(
    _ format: StoreFileFormat, at path: String, _ options: LogStoreOptions, isLocked: Bool = false
  ) throws -> (Engine, StoreFile) {
    let mayCreate = options.createsStore && !options.isReadOnly
    let lock =
      try isLocked
      ? reading(path) { try StoreFileLock.acquire(at: path, options, mayCreate: mayCreate) } : nil
    do {
      return try load(format, at: path, options, lock, mayCreate: mayCreate)
    } catch {
      lock?.release()
      throw error
    }
  }

  private static func load(
    _ format: StoreFileFormat, at path: String, _ options: LogStoreOptions, _ lock: StoreFileLock?,
    mayCreate: Bool
  ) throws -> (Engine, StoreFile) {
    let file = try lock?.file ?? reading(path) { try opened(path, options) }
    defer { if lock == nil { try? file?.close() } }
    guard let file, try reading(path, { try file.size() }) > 0 else {
      guard mayCreate else {
        throw HeartwoodError(
          .persistentStoreOpen,
          "the store at \(path) could not be opened: there is \(file == nil ? "no file" : "a file without bytes"), "
            + "and it may not be created")
      }
      let engine = try engine(options, nil)
      return (engine, try StoreFile(path, format, options, known: .empty, saves: 0, holding: lock))
    }
    var input = FileInput(file)
    do {
      let contents = try StoreFileReader(format: format, path: path).read(&input) { try engine(options, $0) }
      let digest = try input.finish()
      return (
        contents.engine,
        try StoreFile(
          path, format, options, known: digest, saves: contents.header.saves, holding: lock)
      )
    } catch let error as FileSystemError {
      throw unreadable(path, error)
    }
  }

  /// The file, open for reading; nil if there is none.
  private static func opened(_ path: String, _ options: LogStoreOptions) throws -> (any File)? {
    let (directory, name) = try parts(of: path)
    do throws(FileSystemError) {
      return try options.fileSystem.openDirectory(directory).open(name, .readOnly)
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
  }

  /// The form of the file at a path; nil if there is none, it has no bytes, or it is of no form.
  static func format(at path: String, _ fileSystem: any FileSystem) -> StoreFileFormat? {
    guard let (directory, name) = try? parts(of: path),
      let file = try? fileSystem.openDirectory(directory).open(name, .readOnly)
    else { return nil }
    defer { try? file.close() }
    var input = FileInput(file)
    return (try? input.next(StoreFileFormat.recognizedBytes)).flatMap(StoreFileFormat.init(recognizing:))
  }

  private static func engine(_ options: LogStoreOptions, _ identifier: StoreIdentifier?) throws -> Engine {
    var engine = options.engine
    engine.access = .readWrite
    engine.createsStore = true
    engine.newIdentifier = identifier
    return try Engine(at: "/dev/null", options: engine)
  }

  private static func reading<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as FileSystemError {
      throw unreadable(path, error)
    }
  }

  private static func unreadable(_ path: String, _ error: FileSystemError) -> HeartwoodError {
    let why =
      error.code == .notARegularFile
      ? "it is no file, and stores of this type are single files" : reason(error)
    return HeartwoodError(
      .persistentStoreOpen, "the store at \(path) could not be opened: \(why)", underlying: error)
  }
}

/// Writing.
extension StoreFile {
  /// Replaces the file by what a transaction has made of the store. `noteCommitted` or `noteFailed` follows.
  ///
  /// - Throws: `.persistentStoreSaveConflicts` if others have changed the file since it was read, `.persistentStoreTimeout` if they hold its
  ///   lock; `.persistentStoreSave`. The file is as before then, unless the error `isOutcomeUnknown`.
  func save(contents: some StoreReading, _ identifier: StoreIdentifier) throws {
    let prepared = try prepared()
    defer { endPreparation() }
    try writing {
      removeTemporaries(prepared.directory)
      try replace(prepared, contents, identifier)
    }
  }

  /// Locks the file, and compares it with what was read or written last. The lock is held until `save` or `noteFailed` has ended.
  ///
  /// - Throws: As `save(contents:_:)`.
  func prepare() throws { _ = try prepared() }

  private func prepared() throws -> StoreFileLock {
    let (known, isAhead, prepared) = state.withLock { ($0.known, $0.isAhead, $0.prepared) }
    guard !isAhead else { throw stopped }
    if let prepared { return prepared }
    return try writing {
      guard let lock = try StoreFileLock.acquire(at: path, options, mayCreate: known == .empty) else {
        throw changedByOthers
      }
      do {
        guard try lock.digest() == known else { throw changedByOthers }
      } catch {
        lock.release()
        throw error
      }
      state.withLock { $0.prepared = lock }
      return lock
    }
  }

  /// Releases the lock.
  func endPreparation() {
    let prepared = state.withLock { state in
      defer { state.prepared = nil }
      return state.prepared
    }
    prepared?.release()
  }

  private func writing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as FileSystemError {
      throw HeartwoodError(
        .persistentStoreSave, "the store at \(path) could not be saved: \(error); the file is as before",
        underlying: error)
    }
  }

  /// - Parameter former: The file that is replaced, whose permissions the new one gets.
  private func replace(
    _ former: StoreFileLock, _ contents: some StoreReading, _ identifier: StoreIdentifier
  ) throws {
    let directory = former.directory
    let saves = state.withLock(\.saves) + 1
    let temporary = AtomicReplacement.temporaryName(for: name, options.engine.entropy.next())
    let digest: FileDigest
    do {
      let file = try directory.open(temporary, .createNew)
      defer { try? file.close() }
      try file.takePermissions(of: former.file)
      var output = FileOutput(file)
      let header = StoreFileHeader(identifier: identifier, saves: saves)
      try format.write(contents, header, to: &output)
      digest = try output.finish()
      if syncs { try file.sync(.full) }
      // A crash here leaves the old file, and one beside it that the next save removes.
      try directory.rename(temporary, to: name)
      former.noteReplaced()
    } catch {
      try? directory.unlink(temporary)
      throw error
    }
    state.withLock { state in
      state.known = digest
      state.saves = saves
      state.isAhead = true
    }
    // A crash here leaves the old file or the new one, both complete.
    guard syncs else { return }
    do {
      try directory.sync()
    } catch {
      throw HeartwoodError(
        .persistentStoreSave,
        "the store at \(path) was saved, but it is unknown whether that is safe from a power failure: \(error); open the store again",
        underlying: error, isOutcomeUnknown: true)
    }
  }

  private var syncs: Bool { options.durability != .none }

  /// The transaction that was saved is committed in memory.
  func noteCommitted() { state.withLock { $0.isAhead = false } }

  /// The length of a file in bytes; nil if there is none.
  static func size(of name: String, _ directory: any Directory) throws(FileSystemError) -> Int64? {
    let file: any File
    do throws(FileSystemError) {
      file = try directory.open(name, .readOnly)
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
    defer { try? file.close() }
    return try file.size()
  }

  /// Removes what saves that were killed have left. The lock is held, so that no other save is under way.
  func removeTemporaries(_ directory: any Directory) {
    for other in (try? directory.entries()) ?? []
    where other.hasPrefix(name + ".") && AtomicReplacement.isTemporary(other) {
      // The next save tries again.
      try? directory.unlink(other)
    }
  }

  private var changedByOthers: HeartwoodError {
    HeartwoodError(
      .persistentStoreSaveConflicts,
      "the store at \(path) was not saved: the file was changed, replaced or removed since this program read it, and what others "
        + "saved would be lost; open the store again, and repeat the changes")
  }

  private var stopped: HeartwoodError {
    HeartwoodError(
      .persistentStoreSave,
      "the store at \(path) was not saved: an earlier save failed after it had replaced the file; open the store again"
    )
  }
}
