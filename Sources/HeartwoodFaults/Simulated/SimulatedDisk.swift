import HeartwoodFiles

/// What a simulated file system and everything opened in it share.
///
/// Invariants, under `lock`: `cached` is `durable` with all of `pending` applied in order; folders are the
/// same in both, as making one is durable at once.
final class SimulatedDisk: @unchecked Sendable {
  private let lock = Lock()
  private var cached: DiskState
  private var durable: DiskState
  private var pending: [DiskChange] = []
  private var nextNumber: UInt64
  private var exclusiveHolders: [FileIdentifier: ObjectIdentifier] = [:]
  private var sharedHolders: [FileIdentifier: Set<ObjectIdentifier>] = [:]

  /// A disk with this durable state and nothing else.
  init(_ state: DiskState = DiskState()) {
    cached = state
    durable = state
    let files = state.contents.keys.map(\.number)
    let folders = state.folders.keys.map(\.number)
    nextNumber = 1 + max(files.max() ?? 0, folders.max() ?? 0)
  }

  /// The durable state, and the changes since in the order in which they were made.
  var moment: (durable: DiskState, pending: [DiskChange]) { lock.withLock { (durable, pending) } }

  // MARK: Folders

  func folder(
    at components: some Sequence<String>, _ operation: FileSystemError.Operation, _ path: String
  ) throws(FileSystemError) -> FolderIdentifier {
    try lock.withLock { () throws(FileSystemError) in try locate(components, operation, path) }
  }

  func makeFolder(_ path: String) throws(FileSystemError) {
    try lock.withLock { () throws(FileSystemError) in
      let components = FileName.components(of: path)
      guard let name = components.last else {
        throw FileSystemError(.alreadyExists, .createDirectory, path: path)
      }
      let parent = try locate(components.dropLast(), .createDirectory, path)
      guard cached.entries(of: parent)[name] == nil else {
        throw FileSystemError(.alreadyExists, .createDirectory, path: path)
      }
      let folder = FolderIdentifier(number: takeNumber())
      cached.makeFolder(folder)
      durable.makeFolder(folder)
      perform(.enter(parent, name: name, .folder(folder)))
      settle { $0.folder == parent }
    }
  }

  func names(in folder: FolderIdentifier) -> [String] {
    lock.withLock { cached.entries(of: folder).keys.sorted() }
  }

  func sync(_ folder: FolderIdentifier) { lock.withLock { settle { $0.folder == folder } } }

  private func locate(
    _ components: some Sequence<String>, _ operation: FileSystemError.Operation, _ path: String
  ) throws(FileSystemError) -> FolderIdentifier {
    var folder = FolderIdentifier.root
    for name in components {
      switch cached.entries(of: folder)[name] {
      case .folder(let next): folder = next
      case .file: throw FileSystemError(.notADirectory, operation, path: path)
      case nil: throw FileSystemError(.notFound, operation, path: path)
      }
    }
    return folder
  }

  // MARK: Names

  func open(
    _ name: String, in folder: FolderIdentifier, _ mode: OpenMode, path: String
  ) throws(FileSystemError) -> FileIdentifier {
    try lock.withLock { () throws(FileSystemError) in
      guard mode == .createNew else { return try find(name, folder, .open, path) }
      guard cached.entries(of: folder)[name] == nil else {
        throw FileSystemError(.alreadyExists, .open, path: path)
      }
      let file = FileIdentifier(number: takeNumber())
      perform(.enter(folder, name: name, .file(file)))
      return file
    }
  }

  func rename(
    _ name: String, to newName: String, in folder: FolderIdentifier, path: String
  ) throws(FileSystemError) {
    try lock.withLock { () throws(FileSystemError) in
      let file = try find(name, folder, .rename, path)
      if case .folder = cached.entries(of: folder)[newName] {
        throw FileSystemError(.notARegularFile, .rename, path: path)
      }
      if name != newName { perform(.rename(folder, name: name, newName: newName, .file(file))) }
    }
  }

  func unlink(_ name: String, in folder: FolderIdentifier, path: String) throws(FileSystemError) {
    try lock.withLock { () throws(FileSystemError) in
      _ = try find(name, folder, .unlink, path)
      perform(.remove(folder, name: name))
    }
  }

  private func find(
    _ name: String, _ folder: FolderIdentifier, _ operation: FileSystemError.Operation, _ path: String
  ) throws(FileSystemError) -> FileIdentifier {
    switch cached.entries(of: folder)[name] {
    case .file(let file): return file
    case .folder: throw FileSystemError(.notARegularFile, operation, path: path)
    case nil: throw FileSystemError(.notFound, operation, path: path)
    }
  }

  // MARK: Bytes

  func read(_ file: FileIdentifier, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    lock.withLock {
      cached.bytes(of: file).withUnsafeBytes { bytes in
        guard offset < Int64(bytes.count) else { return 0 }
        let rest = bytes[Int(offset)...].prefix(buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest))
        return rest.count
      }
    }
  }

  func write(
    _ file: FileIdentifier, _ bytes: UnsafeRawBufferPointer, at offset: Int64, path: String
  ) throws(FileSystemError) {
    guard bytes.count > 0 else { return }
    let (end, overflow) = offset.addingReportingOverflow(Int64(bytes.count))
    guard !overflow, end <= Self.largestFile else { throw FileSystemError(.noSpace, .write, path: path) }
    lock.withLock { perform(.write(file, offset: Int(offset), bytes: Array(bytes))) }
  }

  func truncate(_ file: FileIdentifier, to size: Int64, path: String) throws(FileSystemError) {
    guard size <= Self.largestFile else { throw FileSystemError(.noSpace, .truncate, path: path) }
    lock.withLock { perform(.truncate(file, size: Int(size))) }
  }

  func size(of file: FileIdentifier) -> Int64 { lock.withLock { Int64(cached.size(of: file)) } }

  func sync(_ file: FileIdentifier) { lock.withLock { settle { $0.file == file } } }

  /// The bytes are really there, gaps too.
  private static let largestFile: Int64 = 1 << 32

  // MARK: Locks

  func tryLock(_ file: FileIdentifier, _ holder: ObjectIdentifier, exclusively: Bool) -> Bool {
    lock.withLock {
      if let other = exclusiveHolders[file] { return other == holder }
      let sharing = sharedHolders[file] ?? []
      guard !exclusively || sharing.isSubset(of: [holder]) else { return false }
      if exclusively {
        exclusiveHolders[file] = holder
      } else {
        sharedHolders[file] = sharing.union([holder])
      }
      return true
    }
  }

  func unlock(_ file: FileIdentifier, _ holder: ObjectIdentifier) {
    lock.withLock {
      if exclusiveHolders[file] == holder { exclusiveHolders[file] = nil }
      sharedHolders[file]?.remove(holder)
    }
  }

  // MARK: Changes

  private func perform(_ change: DiskChange) {
    cached.apply(change)
    pending.append(change)
  }

  private func settle(_ belongs: (DiskChange) -> Bool) {
    for change in pending where belongs(change) { durable.apply(change) }
    pending.removeAll(where: belongs)
  }

  private func takeNumber() -> UInt64 {
    defer { nextNumber += 1 }
    return nextNumber
  }
}
