import HeartwoodFiles
import Synchronization

/// A file system that runs an action just before a file is opened or a folder is listed.
final class InterruptedOpening: FileSystem {
  /// The name that selects a listing.
  static let listing = "/"

  private let base: any FileSystem
  private let interruption = Mutex<(isDue: @Sendable (String) -> Bool, action: @Sendable () -> Void)?>(nil)

  init(_ base: any FileSystem) { self.base = base }

  /// Calls `action` once, before the next file whose name has the suffix is opened.
  func interrupt(before suffix: String, _ action: @escaping @Sendable () -> Void) {
    interruption.withLock { $0 = ({ $0.hasSuffix(suffix) }, action) }
  }

  /// Calls `action` once, after `count` files were opened or folders were listed.
  func interrupt(after count: Int, _ action: @escaping @Sendable () -> Void) {
    let calls = Guarded(0)
    interruption.withLock {
      let isDue: @Sendable (String) -> Bool = { _ in
        calls.withLock { calls in
          calls += 1
          return calls > count
        }
      }
      $0 = (isDue, action)
    }
  }

  var hasHappened: Bool { interruption.withLock { $0 == nil } }

  func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    InterruptedDirectory(base: try base.openDirectory(path), opening: self)
  }

  func createDirectory(_ path: String) throws(FileSystemError) { try base.createDirectory(path) }

  fileprivate func isAboutToOpen(_ name: String) {
    let due = interruption.withLock { waiting -> (@Sendable () -> Void)? in
      guard let found = waiting, found.isDue(name) else { return nil }
      waiting = nil
      return found.action
    }
    due?()
  }
}

private final class InterruptedDirectory: Directory {
  private let base: any Directory
  private let opening: InterruptedOpening

  init(base: any Directory, opening: InterruptedOpening) {
    self.base = base
    self.opening = opening
  }

  var path: String { base.path }

  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
    opening.isAboutToOpen(name)
    return try base.open(name, mode)
  }

  func entries() throws(FileSystemError) -> [String] {
    opening.isAboutToOpen(InterruptedOpening.listing)
    return try base.entries()
  }

  func rename(_ name: String, to newName: String) throws(FileSystemError) {
    try base.rename(name, to: newName)
  }
  func unlink(_ name: String) throws(FileSystemError) { try base.unlink(name) }
  func sync() throws(FileSystemError) { try base.sync() }
}
