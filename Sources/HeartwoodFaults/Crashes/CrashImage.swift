import HeartwoodFiles

/// A possible state of the disk after a crash.
public struct CrashImage: Sendable, CustomStringConvertible {
  let moment: CrashMoment
  let recipe: CrashRecipe
  private let state: DiskState

  /// A hash of the names and bytes, comparable within one process. Equal images have equal fingerprints;
  /// different images collide with a probability of 2⁻⁶⁴.
  public let fingerprint: Int

  init(moment: CrashMoment, recipe: CrashRecipe, state: DiskState, fingerprint: Int) {
    self.moment = moment
    self.recipe = recipe
    self.state = state
    self.fingerprint = fingerprint
  }

  /// A summary of the unsynced changes that survived.
  public var description: String { moment.explanation(of: recipe) }

  /// The number of unsynced changes that survived, in whole or in part.
  public var keptChangeCount: Int { recipe.items.count }

  /// A hash of the names and bytes that is the same in every run on every platform. Slower to compute than
  /// `fingerprint`.
  public var digest: UInt64 { state.digest }

  /// Mounts this image as a new, independent file system. All its contents are durable. It has the seed and
  /// the crash model of the disk that crashed.
  public func mounted() -> SimulatedFileSystem {
    SimulatedFileSystem(state.withoutUnreachableFiles, seed: moment.seed, moment.crashModel)
  }

  /// Copies all directories and files of the image into an existing directory that contains none of them.
  ///
  /// - Throws: Errors of the file system. Files copied before the error remain.
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
  /// Removes the files that no name refers to: they do not survive a crash.
  fileprivate var withoutUnreachableFiles: DiskState {
    var state = self
    state.keepContents(of: Set(folders.values.flatMap { $0.values.compactMap(\.file) }))
    return state
  }
}
