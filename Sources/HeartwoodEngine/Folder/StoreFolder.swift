import HeartwoodFiles

/// The directory of a store, with this process's registration.
final class StoreFolder: Sendable {
  static let anchorName = Format.anchorName
  /// The anchor of a store that is being created, or the mark of an unfinished backup.
  static let newAnchorName = "anchor.new"
  /// The anchor of a store that is being removed: no file of it is needed any more.
  static let removedAnchorName = "anchor.removed"

  let directory: any Directory
  let path: String
  /// Nil if the store is open for reading only, or in memory.
  let attachment: ProcessAttachment?
  /// Holds a lock that keeps writers out while a damaged store is read.
  private let guardFile: (any File)?

  init(
    _ directory: any Directory, _ path: String, attachment: ProcessAttachment? = nil,
    guardFile: (any File)? = nil
  ) {
    self.directory = directory
    self.path = path
    self.attachment = attachment
    self.guardFile = guardFile
  }

  /// The kind of folder found at a path.
  enum Found {
    case store(StoreFolder)
    /// A store that other processes have open for writing. It must be opened at the state that they have
    /// published.
    case shared(StoreFolder)
    /// An empty folder, or one with files of an unfinished creation.
    case empty(StoreFolder)
  }

  /// Opens the directory of a store, and creates it if the options allow.
  static func directory(
    _ path: String, _ options: EngineOptions, _ fileSystem: any FileSystem
  ) throws(EngineError) -> any Directory {
    try openDirectory(path, creating: mayCreate(options), fileSystem)
  }

  private static func mayCreate(_ options: EngineOptions) -> Bool {
    options.createsStore && options.access == .readWrite
  }

  /// Determines what a directory contains, and locks it for writing if the options ask for that.
  ///
  /// - Throws: `.notAStore`, or `.locked` if other processes prevent attaching for `busyTimeout`.
  static func open(
    _ directory: any Directory, _ path: String, _ options: EngineOptions
  ) throws(EngineError) -> Found {
    _ = try hasStore(directory, path, options)
    if options.access == .readOnly { return .store(StoreFolder(directory, path)) }
    switch try ProcessAttachment.attach(directory, options) {
    case .exclusive(let attachment):
      let folder = StoreFolder(directory, path, attachment: attachment)
      do throws(EngineError) {
        // Checked again now that no other process is attached: one may have completed a creation or a removal in between, or put another
        // store in this one's place.
        try folder.checkIsInPlace()
        return try hasStore(directory, path, options) ? .store(folder) : .empty(folder)
      } catch {
        folder.close()
        throw error
      }
    case .shared(let attachment):
      return .shared(StoreFolder(directory, path, attachment: attachment))
    }
  }

  /// Whether a directory contains a store; if not, one may be created in it.
  ///
  /// - Throws: `.notAStore`.
  private static func hasStore(
    _ directory: any Directory, _ path: String, _ options: EngineOptions
  ) throws(EngineError) -> Bool {
    let names = try entries(of: directory)
    if try hasAnchor(directory, names) { return true }
    guard names.allSatisfy(names.contains(removedAnchorName) ? isFile : isLeftOfCreation) else {
      let isUnfinishedCopy = names.contains(newAnchorName) && names.allSatisfy(isFile)
      throw EngineError(
        .notAStore,
        isUnfinishedCopy
          ? "this folder holds a copy of a store that was not finished; repeat the copy, or destroy what is there"
          : "this folder holds other things and no store; name another folder", file: path)
    }
    guard mayCreate(options) else {
      throw EngineError(.notAStore, "there is no store in this folder", file: path)
    }
    return false
  }

  /// Creates the folder of a store in memory, which no other process can open.
  static func inMemory(_ path: String, _ fileSystem: any FileSystem) throws(EngineError) -> StoreFolder {
    StoreFolder(try openDirectory(path, creating: true, fileSystem), path)
  }

  /// Whether there is a folder at a path.
  static func exists(_ path: String, _ fileSystem: any FileSystem) throws(EngineError) -> Bool {
    do throws(EngineError) {
      _ = try openDirectory(path, creating: false, fileSystem)
      return true
    } catch {
      guard error.code == .notFound else { throw error }
      return false
    }
  }

  /// Opens the folder of a damaged store for reading; any file may be missing. Keeps writers out if the file
  /// `processes` can be opened and locked.
  ///
  /// - Throws: `.locked` if another process or engine has the store open for writing.
  static func openDamaged(_ path: String, fileSystem: any FileSystem) throws(EngineError) -> StoreFolder {
    let directory = try openDirectory(path, creating: false, fileSystem)
    guard let file = try? directory.open(ProcessAttachment.processesName, .readWrite) else {
      return StoreFolder(directory, path)
    }
    guard (try? file.tryLock(.exclusive)) != false else {
      try? file.close()
      throw ProcessAttachment.busy(
        path, "the store is open elsewhere, in this program or another; close it there first")
    }
    return StoreFolder(directory, path, guardFile: file)
  }

  /// Whether a file of this name belongs to a store.
  static func isFile(_ name: String) -> Bool {
    ProcessAttachment.isFile(name)
      || [anchorName, newAnchorName, removedAnchorName, reserveName, holdsName, newHoldsName].contains(name)
      || [PieceFormat.lineageName, PieceFormat.followingName].contains(name)
      || SegmentName.parse(name) != nil
  }

  private static func isLeftOfCreation(_ name: String) -> Bool {
    ProcessAttachment.isFile(name) || name == newAnchorName || name == SegmentName.log(1)
  }

  static func openDirectory(
    _ path: String, creating: Bool, _ fileSystem: any FileSystem
  ) throws(EngineError) -> any Directory {
    do {
      return try fileSystem.openDirectory(path)
    } catch {
      guard error.code == .notFound else { throw notADirectory(error, path) }
    }
    guard creating else { throw EngineError(.notFound, "there is no store at this path", file: path) }
    do throws(FileSystemError) {
      do throws(FileSystemError) {
        try fileSystem.createDirectory(path)
      } catch {
        // Another process has just created the directory.
        guard error.code == .alreadyExists else { throw error }
      }
      return try fileSystem.openDirectory(path)
    } catch {
      throw EngineError.files(error, "the store's folder could not be made")
    }
  }

  /// Whether a directory has an anchor. A listing may lack one that is renamed while the directory is listed.
  private static func hasAnchor(_ directory: any Directory, _ names: [String]) throws(EngineError) -> Bool {
    if names.contains(anchorName) { return true }
    guard !names.isEmpty else { return false }
    do throws(FileSystemError) {
      try directory.open(anchorName, .readOnly).close()
      return true
    } catch {
      if error.code == .notFound { return false }
      throw EngineError.files(error, "the store's anchor could not be opened")
    }
  }

  private static func notADirectory(_ error: FileSystemError, _ path: String) -> EngineError {
    guard error.code == .notADirectory else { return .files(error, "the store's folder could not be opened") }
    return EngineError(.notAStore, "this is a file, and a store is a folder", file: path, underlying: error)
  }

  /// Whether a directory has an anchor now; true if that can't be found out.
  static func hasAnchor(_ directory: any Directory) -> Bool {
    (try? hasAnchor(directory, entries(of: directory))) ?? true
  }

  static func entries(of directory: any Directory) throws(EngineError) -> [String] {
    do {
      return try directory.entries()
    } catch {
      throw EngineError.files(error, "the store's folder could not be listed")
    }
  }

  /// - Throws: `.replaced` if the path leads to another folder now, or to none.
  func checkIsInPlace() throws(EngineError) {
    do {
      guard try !directory.isInPlace() else { return }
    } catch {
      throw EngineError.files(error, "the store's folder could not be checked")
    }
    throw Self.replaced(path)
  }

  static func replaced(_ path: String) -> EngineError {
    EngineError(
      .replaced, "the store's folder was deleted, moved or replaced; open the store that is at its path now",
      file: path)
  }

  /// Detaches this process and releases the locks.
  func close() {
    attachment?.close()
    try? guardFile?.close()
  }

  /// The path of a file, for error messages.
  func path(of name: String) -> String { path + "/" + name }

  func open(_ name: String, _ mode: OpenMode) throws(EngineError) -> any File {
    do {
      return try directory.open(name, mode)
    } catch {
      if error.code == .notFound {
        throw EngineError.stale("a file of the store is missing; restore it", file: path(of: name))
      }
      throw EngineError.files(error, "a file of the store could not be opened")
    }
  }

  /// Creates the file of a segment, and opens it with `opened`, which gets its path too. Syncs nothing. Unlinks the file if that
  /// fails.
  ///
  /// - Parameters:
  ///   - what: The kind of file, for error messages.
  ///   - count: Bytes of the file: the header, and zeros after it.
  func make<Segment>(
    _ name: String, _ what: String, _ header: SegmentHeader, magic: UInt64, count: Int,
    _ opened: (any File, String) throws(EngineError) -> Segment
  ) throws(EngineError) -> Segment {
    let bytes = header.encoded(magic: magic)
    let file: any File
    do {
      file = try directory.create(name, like: Self.anchorName)
    } catch {
      throw EngineError.files(error, "\(what) could not be made")
    }
    do throws(EngineError) {
      do {
        try file.write(all: bytes + [UInt8](repeating: 0, count: count - bytes.count), at: 0)
      } catch {
        throw EngineError.files(error, "\(what) could not be made")
      }
      return try opened(file, path(of: name))
    } catch {
      // The file is unreferenced; if it cannot be unlinked, the next recovery unlinks it.
      try? file.close()
      unlink([name])
      throw error
    }
  }

  func entries() throws(EngineError) -> [String] { try Self.entries(of: directory) }

  func size(of file: any File) throws(EngineError) -> Int {
    do {
      return Int(try file.size())
    } catch {
      throw EngineError.files(error, "a file's length could not be read")
    }
  }

  /// The length of a file in bytes; nil if the file is missing.
  func size(ofFile name: String) throws(EngineError) -> Int? {
    let file: any File
    do {
      file = try directory.open(name, .readOnly)
    } catch {
      if error.code == .notFound { return nil }
      throw EngineError.files(error, "a file of the store could not be opened")
    }
    defer { try? file.close() }
    return try size(of: file)
  }

  /// Makes the names in the folder durable.
  func syncNames() throws(EngineError) {
    do {
      try directory.sync()
    } catch {
      throw EngineError.files(error, "the store's folder could not be synced")
    }
  }

  /// Makes all files of the store durable, also those that another process wrote.
  func syncEverything() throws(EngineError) {
    do {
      for name in try directory.entries() where name == Self.anchorName || SegmentName.parse(name) != nil {
        let file = try directory.open(name, .readWrite)
        defer { try? file.close() }
        try file.sync(.full)
      }
    } catch {
      throw EngineError.files(error, "a file that was written without syncs could not be synced")
    }
    try syncNames()
  }

  /// Unlinks files that nothing refers to. Ignores failures: the next recovery tries again.
  func unlink(_ names: [String]) {
    guard !names.isEmpty else { return }
    for name in names { try? directory.unlink(name) }
    try? directory.sync()
  }

  /// Reads `count` bytes, or fewer if the file ends earlier.
  static func read(_ file: any File, at offset: Int, count: Int, path: String) throws(EngineError) -> [UInt8]
  {
    var bytes = [UInt8](repeating: 0, count: count)
    do {
      let read = try bytes.withWritableBytes { (target) throws(FileSystemError) in
        try file.readFully(into: target, at: Int64(offset))
      }
      bytes.removeLast(count - read)
      return bytes
    } catch {
      throw EngineError.reading(error, path: path, offset: Int64(offset))
    }
  }
}
