import Foundation

/// A folder that only one migration or rehearsal uses. Its name has the number of the process, so that the next one removes what a killed one
/// has left.
enum PrivateFolder {
  /// Of rehearsals.
  static let rehearsalPrefix = "heartwood-rehearsal-"

  /// Calls `body` with a folder that is not there yet, and removes it, and those of processes that are gone.
  ///
  /// - Parameters:
  ///   - scratch: An existing folder.
  ///   - prefix: The beginning of the names of folders of this kind.
  static func with<Result>(
    in scratch: URL, prefix: String = rehearsalPrefix, _ body: (URL) throws -> Result
  ) rethrows -> Result {
    removeAbandoned(in: scratch, prefix)
    let name = "\(prefix)\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString)"
    let folder = scratch.appending(path: name)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }

  /// Removes the folders of processes that are gone. What can't be listed or removed stays.
  static func removeAbandoned(in scratch: URL, _ prefix: String = rehearsalPrefix) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: scratch.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ Int32($0) }),
        isGone(process)
      else { continue }
      try? FileManager.default.removeItem(at: scratch.appending(path: name))
    }
  }

  /// Whether no process has this number. A process of another user is there, too.
  private static func isGone(_ process: Int32) -> Bool { kill(process, 0) != 0 && errno == ESRCH }
}
