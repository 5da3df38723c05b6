import HeartwoodFiles

/// The directory of a store, with its lock held.
final class StoreFolder: Sendable {
  static let anchorName = "anchor"
  /// The anchor of a store that is being made.
  static let newAnchorName = "anchor.new"
  static let lockName = "lock"

  let directory: any Directory
  let path: String
  /// Nil where a store open for reading only has no lock file.
  private let lockFile: (any File)?

  private init(directory: any Directory, path: String, lockFile: (any File)?) {
    self.directory = directory
    self.path = path
    self.lockFile = lockFile
  }

  /// What is at a path.
  enum Found {
    case store(StoreFolder)
    /// Nothing yet, or what an unfinished creation left behind.
    case empty(StoreFolder)
  }

  /// Opens the folder of a store, or makes an empty one, and takes the lock.
  static func open(
    _ path: String, options: EngineOptions, fileSystem: any FileSystem
  ) throws(EngineError) -> Found {
    let mayCreate = options.createsStore && options.access == .readWrite
    let directory = try openDirectory(path, creating: mayCreate, fileSystem)
    let names = try entries(of: directory)
    if names.contains(anchorName) {
      return .store(try locked(directory, path, options.access))
    }
    guard names.allSatisfy(isLeftOfCreation) else {
      throw EngineError(
        .notAStore, "this folder holds other things and no store; name another folder", file: path)
    }
    guard mayCreate else {
      throw EngineError(.notAStore, "there is no store in this folder", file: path)
    }
    let folder = try locked(directory, path, options.access)
    // Looked at again under the lock: somebody else may have finished a creation in between.
    return try entries(of: directory).contains(anchorName) ? .store(folder) : .empty(folder)
  }

  /// Opens a folder to write a copy of a store to it, or makes the folder, and takes the lock. It has to be empty, to
  /// hold a store, or what a copy that was cut short has left.
  static func openTarget(_ path: String, fileSystem: any FileSystem) throws(EngineError) -> StoreFolder {
    let directory = try openDirectory(path, creating: true, fileSystem)
    try checkIsTarget(try entries(of: directory), path)
    let folder = try locked(directory, path, .readWrite)
    do throws(EngineError) {
      // Looked at again under the lock.
      try checkIsTarget(try entries(of: directory), path)
      return folder
    } catch {
      folder.close()
      throw error
    }
  }

  /// Opens the folder of a store of which anything may be missing, to read it.
  static func openDamaged(_ path: String, fileSystem: any FileSystem) throws(EngineError) -> StoreFolder {
    try locked(try openDirectory(path, creating: false, fileSystem), path, .readOnly)
  }

  private static func checkIsTarget(_ names: [String], _ path: String) throws(EngineError) {
    if names.contains(anchorName) { return }
    // Segments without an anchor may be what is left of a store; unless a copy was begun there.
    let isMarked = names.contains(newAnchorName)
    let isEmpty = names.allSatisfy {
      $0 == lockName || (isMarked && ($0 == newAnchorName || SegmentName.parse($0) != nil))
    }
    guard isEmpty else {
      throw EngineError(
        .notAStore, "this folder holds other things and no backup; name another folder", file: path)
    }
  }

  private static func isLeftOfCreation(_ name: String) -> Bool {
    name == lockName || name == newAnchorName || name == SegmentName.log(1)
  }

  private static func openDirectory(
    _ path: String, creating: Bool, _ fileSystem: any FileSystem
  ) throws(EngineError) -> any Directory {
    do {
      return try fileSystem.openDirectory(path)
    } catch {
      guard error.code == .notFound else { throw notADirectory(error, path) }
    }
    guard creating else { throw EngineError(.notFound, "there is no store at this path", file: path) }
    do {
      try fileSystem.createDirectory(path)
      return try fileSystem.openDirectory(path)
    } catch {
      throw EngineError.files(error, "the store's folder could not be made")
    }
  }

  private static func notADirectory(_ error: FileSystemError, _ path: String) -> EngineError {
    guard error.code == .notADirectory else { return .files(error, "the store's folder could not be opened") }
    return EngineError(.notAStore, "this is a file, and a store is a folder", file: path, underlying: error)
  }

  private static func entries(of directory: any Directory) throws(EngineError) -> [String] {
    do {
      return try directory.entries()
    } catch {
      throw EngineError.files(error, "the store's folder could not be listed")
    }
  }

  private static func locked(
    _ directory: any Directory, _ path: String, _ access: EngineOptions.Access
  ) throws(EngineError) -> StoreFolder {
    let file = try openLock(directory, access)
    do {
      if let file, try !file.tryLock() {
        try? file.close()
        throw EngineError(
          .locked, "the store is open elsewhere, in this program or another; close it there first", file: path
        )
      }
    } catch let error as FileSystemError {
      try? file?.close()
      throw EngineError.files(error, "the store could not be locked")
    } catch let error as EngineError {
      throw error
    } catch {
      throw EngineError(.inputOutput, "the store could not be locked", file: path, underlying: error)
    }
    return StoreFolder(directory: directory, path: path, lockFile: file)
  }

  private static func openLock(
    _ directory: any Directory, _ access: EngineOptions.Access
  ) throws(EngineError) -> (any File)? {
    do {
      if access == .readOnly { return try openExisting(directory, .readOnly) }
      if let file = try openExisting(directory, .readWrite) { return file }
      return try directory.open(lockName, .createNew)
    } catch {
      if error.code == .alreadyExists {
        throw EngineError(
          .locked, "the store is being made elsewhere; try again", file: directory.path, underlying: error)
      }
      throw EngineError.files(error, "the store's lock file could not be opened")
    }
  }

  private static func openExisting(
    _ directory: any Directory, _ mode: OpenMode
  ) throws(FileSystemError) -> (any File)? {
    do {
      return try directory.open(lockName, mode)
    } catch {
      if error.code == .notFound { return nil }
      throw error
    }
  }

  /// Lets go of the lock.
  func close() {
    try? lockFile?.close()
  }

  /// The path of a file, for messages.
  func path(of name: String) -> String { path + "/" + name }

  func open(_ name: String, _ mode: OpenMode) throws(EngineError) -> any File {
    do {
      return try directory.open(name, mode)
    } catch {
      if error.code == .notFound {
        throw EngineError.damaged("a file of the store is missing; restore it", file: path(of: name))
      }
      throw EngineError.files(error, "a file of the store could not be opened")
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

  /// Makes the names in the folder durable.
  func syncNames() throws(EngineError) {
    do {
      try directory.sync()
    } catch {
      throw EngineError.files(error, "the store's folder could not be synced")
    }
  }

  /// Makes all files of the store durable, whoever wrote them.
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

  /// Takes names away that nothing refers to; a failure only leaves them there for the next time.
  func unlink(_ names: [String]) {
    guard !names.isEmpty else { return }
    for name in names { try? directory.unlink(name) }
    try? directory.sync()
  }

  /// Reads exactly `count` bytes; fewer where the file ends before.
  static func read(_ file: any File, at offset: Int, count: Int, path: String) throws(EngineError) -> [UInt8]
  {
    var bytes = [UInt8](repeating: 0, count: count)
    do {
      let read = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(FileSystemError) -> Int in
        try file.readFully(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(offset))
      }
      bytes.removeLast(count - read)
      return bytes
    } catch {
      throw EngineError.reading(error, path: path, offset: Int64(offset))
    }
  }
}
