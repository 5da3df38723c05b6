import Foundation
import HeartwoodFiles

/// A folder of the real file system that acts as the root.
final class RootedFileSystem: FileSystem {
  /// The canonical path of the folder.
  let root: String
  private let base = PosixFileSystem()

  /// Creates an empty folder.
  init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "errors-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    root = folder.resolvingSymlinksInPath().path
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    try base.openDirectory(root + path)
  }

  func createDirectory(_ path: String) throws(FileSystemError) { try base.createDirectory(root + path) }

  /// The open descriptors and memory maps of this process in the folder; nil if the system does not list
  /// them.
  var openFiles: [String]? {
    let manager = FileManager.default
    guard let numbers = try? manager.contentsOfDirectory(atPath: "/proc/self/fd"),
      let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    else { return nil }
    // A descriptor that another thread has closed in the meantime has no link.
    let links = numbers.compactMap { try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    let mapped = maps.split(separator: "\n").map(String.init)
    return (links + mapped).filter { $0.contains(root) }
  }
}
