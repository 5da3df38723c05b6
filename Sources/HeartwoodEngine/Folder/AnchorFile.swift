import HeartwoodFiles
import Synchronization

/// The anchor (superblock): two slots, written alternately, never both between two syncs.
///
/// Invariant: before a slot is written, the other one is on disk. So a torn write leaves a valid slot.
final class AnchorFile: @unchecked Sendable {
  private let file: any File
  private let path: String
  private let lock = Lock()
  /// The current slot. Guarded by `lock`.
  private var slot: AnchorSlot {
    didSet { hasMarkOfCleanClose.store(slot.isClean, ordering: .releasing) }
  }
  private let hasMarkOfCleanClose: Atomic<Bool>
  private let syncs: Bool
  /// Whether the current slot is known to be on disk. False if another process wrote it: its sync may have
  /// failed, and then the system shows bytes that it never writes to disk. Guarded by `lock`.
  private var isKnownDurable: Bool
  /// The status of the file after this process had read or written it; nil if that is not known. Guarded by `lock`.
  private var status: FileStatus?
  /// When it was read or written, in nanoseconds of `MonotonicTime`. Guarded by `lock`.
  private var statusTime = 0
  /// The content type that the next write of a slot sets if the store has none. Guarded by `lock`.
  private var contentToMark: StoreContent?

  private init(file: any File, path: String, slot: AnchorSlot, syncs: Bool, isKnownDurable: Bool = true) {
    self.file = file
    self.path = path
    self.slot = slot
    hasMarkOfCleanClose = Atomic(slot.isClean)
    self.syncs = syncs
    self.isKnownDurable = isKnownDurable
  }

  /// The decoded slots of an anchor.
  struct Contents {
    var slot: AnchorSlot
    /// The other slot, if it is valid.
    var older: AnchorSlot?
    /// Whether a slot is invalid. It may have been the newer one, so the other slot need not name the end of
    /// the log.
    var isIncomplete: Bool { older == nil }
    /// Whether the slot is certainly on disk. True if the other one is damaged, because that one was written
    /// later.
    var isKnownDurable: Bool { isIncomplete }
    /// Whether a newer version wrote the anchor and forbids older versions to write.
    var forbidsWriting: Bool
  }

  /// The current slot.
  var current: AnchorSlot { lock.withLock { slot } }

  /// Whether the current slot marks a clean end. Takes no lock, because every commit reads it.
  var isClean: Bool { hasMarkOfCleanClose.load(ordering: .acquiring) }

  /// The content type of the store, set or to be set by the next write.
  var content: StoreContent? { lock.withLock { slot.content ?? contentToMark } }

  /// Sets the content type of a store that has none, with the next write of a slot. Until then other
  /// processes do not see it.
  func mark(_ content: StoreContent) { lock.withLock { contentToMark = content } }

  /// Opens the anchor of a store and reads both slots.
  ///
  /// - Throws: `.newerFormat` if the store has a newer format, `.notAStore` or `.damaged` if neither
  ///   slot is valid.
  static func open(
    _ folder: StoreFolder, access: EngineOptions.Access, syncs: Bool
  ) throws(EngineError) -> (anchor: AnchorFile, contents: Contents) {
    let path = folder.path(of: StoreFolder.anchorName)
    let file = try folder.open(StoreFolder.anchorName, access == .readOnly ? .readOnly : .readWrite)
    let contents = try read(file, path: path, folder)
    let anchor = AnchorFile(
      file: file, path: path, slot: contents.slot, syncs: syncs, isKnownDurable: contents.isKnownDurable)
    return (anchor, contents)
  }

  /// Reads the slots again, because another process may have written them.
  func reload(_ folder: StoreFolder) throws(EngineError) -> Contents {
    let contents = try Self.read(file, path: path, folder)
    lock.withLock {
      if slot.sequence != contents.slot.sequence { isKnownDurable = contents.isKnownDurable }
      slot = contents.slot
      noteStatus()
    }
    return contents
  }

  private static func read(
    _ file: any File, path: String, _ folder: StoreFolder
  ) throws(EngineError) -> Contents {
    let bytes = try StoreFolder.read(file, at: 0, count: 2 * Format.anchorBlockBytes, path: path)
    return try bytes.withBytes { (buffer) throws(EngineError) -> Contents in
      try read(buffer, path: path, folder: folder.path)
    }
  }

  private static func read(
    _ bytes: UnsafeRawBufferPointer, path: String, folder: String
  ) throws(EngineError) -> Contents {
    let sectors = [0, 1].map { sector($0, of: bytes) }
    var valid: [AnchorSlot] = []
    var forbidsWriting = false
    for index in 0..<2 {
      switch AnchorSlot.decode(sectors[index], slot: index) {
      case .valid(let slot):
        valid.append(slot)
        forbidsWriting = forbidsWriting || AnchorSlot.forbidsWriting(sectors[index])
      case .newerFormat(let version):
        let what =
          version > Format.newestVersion
          ? "format \(version), and this version reads up to \(Format.newestVersion)"
          : "a feature that this version does not know"
        throw EngineError(.newerFormat, "the store has \(what); use a newer one", file: folder)
      case .invalid: break
      }
    }
    valid.sort { $0.sequence > $1.sequence }
    guard let newest = valid.first else { throw neitherSlot(sectors, path: path, folder: folder) }
    return Contents(
      slot: newest, older: valid.count == 2 ? valid[1] : nil,
      forbidsWriting: forbidsWriting)
  }

  private static func sector(_ index: Int, of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let start = index * Format.anchorBlockBytes
    guard start + Format.anchorSlotBytes <= bytes.count else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<start + Format.anchorSlotBytes])
  }

  private static func neitherSlot(
    _ sectors: [UnsafeRawBufferPointer], path: String, folder: String
  ) -> EngineError {
    let isOurs = sectors.contains { $0.count >= 8 && $0.field64(0) == Format.anchorMagic }
    if isOurs { return .damaged("both slots of the anchor are damaged; restore the file", file: path) }
    if let first = sectors.first, first.count >= 8, first.field64(0) == Format.encryptedFileMagic {
      return EngineError(
        .notAStore, "the store is encrypted; open it with its key, by the file system of HeartwoodEncryption",
        file: folder)
    }
    return EngineError(
      .notAStore, "the anchor in the folder does not belong to a store; name another folder", file: folder)
  }

  /// Creates the anchor of a new store or backup: writes both slots under another name, syncs, then renames.
  ///
  /// - Parameter mode: `.readWrite` if an empty file of that other name exists.
  static func create(
    _ slot: AnchorSlot, in folder: StoreFolder, syncs: Bool, mode: OpenMode = .createNew
  ) throws(EngineError) -> AnchorFile {
    do {
      let file = try folder.directory.open(StoreFolder.newAnchorName, mode)
      var slot = slot
      slot.isUnsynced = !syncs
      var older = slot
      older.sequence = slot.sequence &- 1
      for each in [older, slot] { try write(each, to: file) }
      try writeZeros(to: file, upTo: 2 * Format.anchorBlockBytes)
      if syncs { try file.sync(.full) }
      // A crash here leaves no new anchor. The next opening of a new folder creates the store again.
      try folder.directory.rename(StoreFolder.newAnchorName, to: StoreFolder.anchorName)
      if syncs { try folder.directory.sync() }
      // The folder is a store from here on.
      return AnchorFile(
        file: file, path: folder.path(of: StoreFolder.anchorName), slot: slot, syncs: syncs)
    } catch {
      throw EngineError.files(error, "the store's anchor could not be made")
    }
  }

  private static func writeZeros(to file: any File, upTo end: Int) throws(FileSystemError) {
    let start = end - Format.anchorBlockBytes + Format.anchorSlotBytes
    try file.write(all: [UInt8](repeating: 0, count: end - start), at: start)
  }

  private static func write(_ slot: AnchorSlot, to file: any File) throws(FileSystemError) {
    let index = Int(truncatingIfNeeded: slot.sequence & 1)
    let sector = slot.encoded(slot: index)
    try file.write(all: sector, at: index * Format.anchorBlockBytes)
  }

  /// The outcome of writing the anchor.
  enum Outcome {
    case written
    /// Nothing is lost: the other slot is valid.
    case failed(EngineError)
    /// The sync failed; nothing more may be written.
    case unsynced(EngineError)
  }

  /// Writes the changed slot over the older one and syncs it.
  func update(_ change: (inout AnchorSlot) -> Void) -> Outcome {
    lock.lock()
    defer { lock.unlock() }
    let rewriting = rewriteSlotInUse()
    guard case .written = rewriting else { return rewriting }
    var next = slot
    change(&next)
    next.isUnsynced = !syncs
    next.sequence = slot.sequence &+ 1
    next.content = slot.content ?? contentToMark
    assert(isKnownDurable || !syncs, "A slot of the anchor is written before the other one is on disk.")
    let outcome = put(next)
    if case .written = outcome { slot = next }
    noteStatus()
    return outcome
  }

  private func noteStatus() {
    status = try? file.status()
    statusTime = MonotonicTime.nanoseconds
  }

  /// In nanoseconds. Changes that follow one another within this time may have the same time.
  private static let resolution = 20_000_000

  /// Whether something else than this process has deleted, replaced or overwritten the file. Called while no other process may write the
  /// store. Looks at its status first, and reads it only if that has changed.
  ///
  /// - Returns: The path of the file if so.
  func changeByOthers(_ folder: StoreFolder) throws -> String? {
    // Another thread is writing it, and knows what it writes.
    guard lock.tryLock() else { return nil }
    defer { lock.unlock() }
    guard let now = try file.status() else { return nil }
    guard now.links > 0 else { return path }
    // Not noted by the file system.
    guard now.changed != 0 else { return nil }
    let time = MonotonicTime.nanoseconds
    if let status, now == status, statusTime == .max { return nil }
    // A read that fails shows nothing about the bytes; the next sync asks again.
    guard let bytes = try? StoreFolder.read(file, at: 0, count: 2 * Format.anchorBlockBytes, path: path)
    else {
      return nil
    }
    let found = try? bytes.withBytes { try Self.read($0, path: path, folder: folder.path) }
    guard let found, found.slot == slot || found.older == slot else { return path }
    // From now on another change has another time.
    statusTime = status == now && time - statusTime > Self.resolution ? .max : statusTime
    if status != now { (status, statusTime) = (now, time) }
    return nil
  }

  /// Rewrites the current slot if it is not known to be durable, while the older one is still valid.
  private func rewriteSlotInUse() -> Outcome {
    guard syncs, !isKnownDurable else { return .written }
    let outcome = put(slot)
    if case .written = outcome { isKnownDurable = true }
    return outcome
  }

  /// Writes a slot to its sector and syncs it.
  private func put(_ next: AnchorSlot) -> Outcome {
    do {
      try Self.write(next, to: file)
    } catch {
      // The write hit the older slot, and so will the next one.
      return .failed(.files(error, "the anchor could not be written"))
    }
    do {
      if syncs { try file.sync(.data) }
    } catch {
      return .unsynced(.files(error, "the anchor could not be synced"))
    }
    return .written
  }

  func close() { lock.withLock { try? file.close() } }
}
