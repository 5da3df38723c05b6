import HeartwoodFiles

extension SimulatedState {
  func locate(
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

  mutating func makeFolder(_ path: String) throws(FileSystemError) {
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
    sync(parent)
  }

  /// Exchanges two folders with one parent. It is durable immediately, together with all other names in the parent.
  mutating func exchange(_ path: String, _ other: String) throws(FileSystemError) {
    let (first, second) = (FileName.components(of: path), FileName.components(of: other))
    let parent = try locate(first.dropLast(), .rename, path)
    guard let name = first.last, let otherName = second.last,
      try locate(second.dropLast(), .rename, other) == parent
    else { throw FileSystemError(.unsupported, .rename, path: path) }
    let (folder, otherFolder) = (try locate(first, .rename, path), try locate(second, .rename, other))
    perform(.enter(parent, name: name, .folder(otherFolder)))
    perform(.enter(parent, name: otherName, .folder(folder)))
    sync(parent)
  }

  mutating func open(
    _ name: String, in folder: FolderIdentifier, _ mode: OpenMode, path: String
  ) throws(FileSystemError) -> FileIdentifier {
    guard mode == .createNew else { return try find(name, folder, .open, path) }
    guard cached.entries(of: folder)[name] == nil else {
      throw FileSystemError(.alreadyExists, .open, path: path)
    }
    let file = FileIdentifier(number: takeNumber())
    perform(.enter(folder, name: name, .file(file)))
    return file
  }

  mutating func rename(
    _ name: String, to newName: String, in folder: FolderIdentifier, path: String
  ) throws(FileSystemError) {
    let file = try find(name, folder, .rename, path)
    if case .folder = cached.entries(of: folder)[newName] {
      throw FileSystemError(.notARegularFile, .rename, path: path)
    }
    if name != newName { perform(.rename(folder, name: name, newName: newName, .file(file))) }
  }

  mutating func unlink(_ name: String, in folder: FolderIdentifier, path: String) throws(FileSystemError) {
    _ = try find(name, folder, .unlink, path)
    perform(.remove(folder, name: name))
  }

  /// When it was changed is not noted.
  func status(of file: FileIdentifier) -> FileStatus {
    let links = cached.folders.values.reduce(0) { $0 + $1.values.count { $0 == .file(file) } }
    return FileStatus(
      identity: DirectoryIdentity(device: 0, number: file.number), links: UInt64(links),
      size: Int64(cached.size(of: file)), changed: 0)
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
}
