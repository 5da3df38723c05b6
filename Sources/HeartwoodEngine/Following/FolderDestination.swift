import HeartwoodFiles

/// A folder that pieces are shipped to.
public final class FolderDestination: ShippingDestination {
  /// The path of the folder.
  public let place: String
  private let directory: any Directory
  /// Locked while this object ships to the folder; nil until it has put a piece.
  private let lock = Guarded<(any File)?>(nil)

  private static let lockName = "lock"

  /// Opens a folder.
  ///
  /// - Parameters:
  ///   - path: The folder, or a symbolic link to it. If the link leads elsewhere later, this object says so, as for a folder that was replaced.
  ///   - creates: Whether the folder is made if it is missing; its parent must exist.
  ///   - fileSystem: The file system of the folder.
  /// - Throws: `.notFound`, also for a link that leads nowhere; `.notAStore` if the path leads to a file or to a folder with other things than pieces, and errors
  ///   of the file system.
  public init(
    _ path: String, creates: Bool = false, fileSystem: any FileSystem = PosixFileSystem()
  ) throws(EngineError) {
    place = path
    directory = try Self.openDirectory(path, creates: creates, fileSystem)
    guard try list().allSatisfy(Self.isOurs) else {
      throw EngineError(
        .notAStore, "this folder holds other things than what a store ships; name another folder", file: path)
    }
  }

  deinit { try? lock.withLock { $0 }?.close() }

  private static func openDirectory(
    _ path: String, creates: Bool, _ fileSystem: any FileSystem
  ) throws(EngineError) -> any Directory {
    do throws(FileSystemError) {
      return try fileSystem.openDirectory(path)
    } catch {
      if error.code == .notADirectory { return try linkedDirectory(path, fileSystem) }
      guard creates, error.code == .notFound else { throw notOpened(error) }
    }
    do throws(FileSystemError) {
      do throws(FileSystemError) { try fileSystem.createDirectory(path) } catch {
        // Another process may have made it meanwhile.
        guard error.code == .alreadyExists else { throw error }
      }
      return try fileSystem.openDirectory(path)
    } catch {
      throw notOpened(error)
    }
  }

  private static func notOpened(_ error: FileSystemError) -> EngineError {
    EngineError.files(error, "the folder of shipped pieces could not be opened")
  }

  /// The folder that a symbolic link leads to.
  ///
  /// - Throws: `.notFound` if the link leads nowhere, `.notAStore` if it leads to a file, or if the path does.
  private static func linkedDirectory(
    _ path: String, _ fileSystem: any FileSystem
  ) throws(EngineError) -> any Directory {
    do throws(FileSystemError) {
      // The dot follows the link, now and with each look at the place.
      return try fileSystem.openDirectory(path + "/.")
    } catch {
      switch error.code {
      case .notFound:
        throw EngineError(
          .notFound, "this is a symbolic link that leads nowhere: make the folder that it names", file: path)
      case .notADirectory: throw EngineError(.notAStore, "this is a file; name a folder", file: path)
      default: throw notOpened(error)
      }
    }
  }

  private static func isOurs(_ name: String) -> Bool {
    name == lockName || name.hasPrefix(".") || PieceName(name) != nil || AtomicReplacement.isTemporary(name)
  }

  /// The names in the folder.
  ///
  /// - Throws: `.wentBack` if the path does not lead to the folder any more; errors of the file system.
  public func list() throws(EngineError) -> [String] {
    try checkPlace()
    return try doing { () throws(FileSystemError) in
      try directory.entries()
    }
  }

  private func checkPlace() throws(EngineError) {
    let isInPlace = try doing { () throws(FileSystemError) in
      try directory.isInPlace()
    }
    guard isInPlace else {
      throw EngineError(
        .wentBack,
        "the folder of shipped pieces was moved, replaced or deleted; begin again with the one that is meant",
        file: place)
    }
  }

  /// Opens a piece.
  public func open(_ name: String) throws(EngineError) -> any ShippedFile {
    try doing { () throws(FileSystemError) in
      try OpenShippedFile(try directory.open(name, .readOnly), path: place + "/" + name)
    }
  }

  /// Writes a piece under a temporary name, syncs it and renames it.
  ///
  /// - Throws: `.locked` if another process ships to the folder; `.wentBack` if the path does not lead to the folder any more.
  public func put(
    _ name: String,
    _ body: (_ write: (UnsafeRawBufferPointer) throws(EngineError) -> Void) throws(EngineError) -> Void
  ) throws(EngineError) {
    try checkPlace()
    try acquire()
    let temporary = AtomicReplacement.temporaryName(for: name, 0)
    do throws(EngineError) {
      try fill(temporary, body)
      // The bytes are durable before the name leads to them.
      try doing { () throws(FileSystemError) in try directory.rename(temporary, to: name) }
    } catch {
      try? directory.unlink(temporary)
      throw error
    }
    // A crash here leaves the piece as it was or as it is.
    try doing { () throws(FileSystemError) in try directory.sync() }
  }

  /// Creates a file with the bytes that `body` writes, and syncs it.
  private func fill(
    _ name: String,
    _ body: (_ write: (UnsafeRawBufferPointer) throws(EngineError) -> Void) throws(EngineError) -> Void
  ) throws(EngineError) {
    let file = try doing { () throws(FileSystemError) in try directory.open(name, .createNew) }
    do throws(EngineError) {
      var offset: Int64 = 0
      try body { (bytes) throws(EngineError) in
        try doing { () throws(FileSystemError) in try file.writeFully(bytes, at: offset) }
        offset += Int64(bytes.count)
      }
      try doing { () throws(FileSystemError) in try file.sync(.full) }
    } catch {
      try? file.close()
      throw error
    }
    try doing { () throws(FileSystemError) in try file.close() }
  }

  /// Removes pieces.
  public func remove(_ names: [String]) throws(EngineError) {
    try acquire()
    try doing { () throws(FileSystemError) in
      for name in names {
        do throws(FileSystemError) {
          try directory.unlink(name)
        } catch {
          guard error.code == .notFound else { throw error }
        }
      }
      try directory.sync()
    }
  }

  /// Waits for changes in the folder.
  public func watch() -> (any DirectoryWatch)? { try? directory.watch() }

  /// Locks the folder for shipping, and removes what a killed process has left.
  private func acquire() throws(EngineError) {
    try lock.withLock { (held) throws(EngineError) in
      guard held == nil else { return }
      let file = try doing { () throws(FileSystemError) in
        try ProcessAttachment.open(Self.lockName, directory)
      }
      guard (try? file.tryLock(.exclusive)) == true else {
        try? file.close()
        throw EngineError(
          .locked, "another process ships to this folder; stop it, or name another folder", file: place)
      }
      held = file
      for name in try list() where AtomicReplacement.isTemporary(name) { try? directory.unlink(name) }
    }
  }

  private func doing<Result>(_ body: () throws(FileSystemError) -> Result) throws(EngineError) -> Result {
    do {
      return try body()
    } catch {
      throw EngineError.files(error, "the folder of shipped pieces could not be used")
    }
  }
}

/// A piece in a folder.
private final class OpenShippedFile: ShippedFile {
  private let file: any File
  private let path: String
  let size: Int64

  init(_ file: any File, path: String) throws(FileSystemError) {
    self.file = file
    self.path = path
    do {
      size = try file.size()
    } catch {
      try? file.close()
      throw error
    }
  }

  deinit { try? file.close() }

  func bytes(_ count: Int, at offset: Int64) throws(EngineError) -> [UInt8] {
    do {
      return try file.bytes(count, at: offset)
    } catch {
      throw EngineError.reading(error, path: path, offset: offset)
    }
  }
}
