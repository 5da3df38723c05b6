import HeartwoodFiles

/// A disk as it may be found after a crash.
public struct CrashImage: Sendable, CustomStringConvertible {
  let moment: CrashMoment
  let recipe: CrashRecipe
  private let state: DiskState

  /// The same for images with the same names and bytes, in one run of one process; to others of that run
  /// equal only by an accident of 64 bits.
  public let fingerprint: Int

  init(moment: CrashMoment, recipe: CrashRecipe, state: DiskState, fingerprint: Int) {
    self.moment = moment
    self.recipe = recipe
    self.state = state
    self.fingerprint = fingerprint
  }

  /// Which of the unsynced changes survived.
  public var description: String { moment.explanation(of: recipe) }

  /// How many of the unsynced changes survived, whole or in part.
  public var keptChangeCount: Int { recipe.items.count }

  /// The same for images with the same names and bytes, in every run on every platform; slower to make
  /// than `fingerprint`.
  public var digest: UInt64 { state.digest }

  /// A file system that holds this image, all of it durable, and is independent of any other. It has the
  /// seed and the personality of the disk that crashed.
  public func mounted() -> SimulatedFileSystem {
    SimulatedFileSystem(state.withoutUnreachableFiles, seed: moment.seed, moment.crashModel)
  }

  /// Copies all directories and files of the image into a directory that exists and has none of them.
  ///
  /// - Throws: what the file system throws; what was copied before stays.
  public func export(
    to path: String, in fileSystem: any FileSystem = PosixFileSystem()
  ) throws(FileSystemError) {
    try export(.root, to: path, in: fileSystem)
  }

  private func export(
    _ folder: FolderIdentifier, to path: String, in fileSystem: any FileSystem
  ) throws(FileSystemError) {
    let directory = try fileSystem.openDirectory(path)
    for (name, entry) in state.entries(of: folder).sorted(by: { $0.key < $1.key }) {
      switch entry {
      case .file(let file): try export(state.bytes(of: file), as: name, to: directory)
      case .folder(let folder):
        let folderPath = FileName.joined(path, name)
        try fileSystem.createDirectory(folderPath)
        try export(folder, to: folderPath, in: fileSystem)
      }
    }
  }

  private func export(
    _ bytes: [UInt8], as name: String, to directory: any Directory
  ) throws(FileSystemError) {
    let file = try directory.open(name, .createNew)
    let failure = bytes.withUnsafeBytes { bytes -> FileSystemError? in
      do throws(FileSystemError) {
        try file.writeFully(bytes, at: 0)
        return nil
      } catch {
        return error
      }
    }
    try file.close()
    if let failure { throw failure }
  }
}

extension DiskState {
  /// Files that no name leads to are gone after a crash.
  fileprivate var withoutUnreachableFiles: DiskState {
    var state = self
    state.keepContents(of: Set(folders.values.flatMap { $0.values.compactMap(\.file) }))
    return state
  }
}
