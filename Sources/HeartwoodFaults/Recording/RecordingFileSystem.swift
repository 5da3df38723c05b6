import HeartwoodFiles

/// Any file system, with a list of what was done to it.
///
/// The list is text, to be compared with the text that a test expects: a change in the order of writes and
/// syncs is then a difference that can be read. Each line is an operation, what it was done to, and the
/// error where it failed:
///
///     open /notes.temporary createNew
///     write /notes.temporary 0..<5
///     sync /notes.temporary full
///     rename /notes.temporary to notes
///     syncDirectory /
///
/// Its files have no windows: every write is a call, as it is under a plan with faults.
public final class RecordingFileSystem: FileSystem {
  private let base: any FileSystem
  private let recorder: Recorder

  /// Wraps a file system.
  ///
  /// - Parameters:
  ///   - base: Where all calls go.
  ///   - operations: Those that make a line; usually those that change something or make it durable.
  public init(
    base: any FileSystem, operations: Set<FileSystemError.Operation> = RecordingFileSystem.mutations
  ) {
    self.base = base
    recorder = Recorder(operations)
  }

  /// The operations that change something or make it durable; of `open`, only that of a new file does.
  public static let mutations: Set<FileSystemError.Operation> = [
    .createDirectory, .open, .rename, .unlink, .syncDirectory, .write, .sync, .truncate,
  ]

  /// All operations.
  public static let everything = Set(FileSystemError.Operation.allCases)

  /// What was done, one line for each call, in the order in which the calls began.
  public var lines: [String] { recorder.lines }

  /// The lines as one text.
  public var text: String { lines.joined(separator: "\n") }

  /// Forgets what was done up to now.
  public func clear() { recorder.clear() }

  /// Opens a directory that exists.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    let directory = try recorder.record(.openDirectory, path) { () throws(FileSystemError) in
      try base.openDirectory(path)
    }
    return RecordingDirectory(base: directory, recorder: recorder)
  }

  /// Makes one directory.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try recorder.record(.createDirectory, path) { () throws(FileSystemError) in
      try base.createDirectory(path)
    }
  }
}

/// The lines of one recording.
final class Recorder: @unchecked Sendable {
  private let lock = Lock()
  private let operations: Set<FileSystemError.Operation>
  private let isEverything: Bool
  private var recorded: [String] = []

  init(_ operations: Set<FileSystemError.Operation>) {
    self.operations = operations
    isEverything = operations == RecordingFileSystem.everything
  }

  var lines: [String] { lock.withLock { recorded } }

  func clear() { lock.withLock { recorded = [] } }

  /// Makes a call and a line of it.
  ///
  /// - Parameters:
  ///   - details: What is said behind the path.
  ///   - isMutation: False for a call that changes nothing, though others of its operation do.
  func record<Result>(
    _ operation: FileSystemError.Operation, _ path: String, _ details: String = "", isMutation: Bool = true,
    _ call: () throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    guard operations.contains(operation), isMutation || isEverything else { return try call() }
    let words = [operation.rawValue, path, details].filter { !$0.isEmpty }.joined(separator: " ")
    let index = lock.withLock {
      recorded.append(words)
      return recorded.count - 1
    }
    do {
      return try call()
    } catch {
      lock.withLock {
        if recorded.indices.contains(index) { recorded[index] += ": \(error.code)" }
      }
      throw error
    }
  }
}
