import HeartwoodFiles

/// A wrapper around any file system that records the calls.
///
/// The recording is text that a test compares with its expectation, so that a change in the order of writes
/// and syncs is a readable difference. Each line is an operation, its target, and the error if it failed:
///
///     open /notes.temporary createNew
///     write /notes.temporary 0..<5
///     sync /notes.temporary full
///     rename /notes.temporary to notes
///     syncDirectory /
///
/// Files have no windows: every write is a call, as under a plan with faults.
public final class RecordingFileSystem: FileSystem {
  private let base: any FileSystem
  private let recorder: Recorder

  /// Wraps a file system.
  ///
  /// - Parameters:
  ///   - base: The file system that executes all calls.
  ///   - operations: The operations to record; by default those that change something or make it durable.
  public init(
    base: any FileSystem, operations: Set<FileSystemError.Operation> = RecordingFileSystem.mutations
  ) {
    self.base = base
    recorder = Recorder(operations)
  }

  /// The operations that change something or make it durable. Of `open`, only the creation of a new file
  /// does.
  public static let mutations: Set<FileSystemError.Operation> = [
    .createDirectory, .open, .rename, .unlink, .syncDirectory, .write, .sync, .truncate,
  ]

  /// All operations.
  public static let everything = Set(FileSystemError.Operation.allCases)

  /// The recorded calls, one line for each, in the order in which they began.
  public var lines: [String] { recorder.lines }

  /// The lines joined into one text.
  public var text: String { lines.joined(separator: "\n") }

  /// Discards the recorded calls.
  public func clear() { recorder.clear() }

  /// As the file system that executes the calls says.
  public var forCopies: any FileSystem { base.forCopies }

  /// Opens an existing directory.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    let directory = try recorder.record(.openDirectory, path) { () throws(FileSystemError) in
      try base.openDirectory(path)
    }
    return RecordingDirectory(base: directory, recorder: recorder)
  }

  /// Creates one directory.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try recorder.record(.createDirectory, path) { () throws(FileSystemError) in
      try base.createDirectory(path)
    }
  }
}

/// The recorded lines.
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

  /// Makes a call and records it.
  ///
  /// - Parameters:
  ///   - details: The text after the path.
  ///   - isMutation: False for a call that changes nothing, although other calls of its operation do.
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
