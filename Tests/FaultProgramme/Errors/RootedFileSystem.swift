import Foundation
import HeartwoodFiles

/// A folder of the real file system as if it were all there is.
final class RootedFileSystem: FileSystem {
  /// The folder, by the path that the system itself knows it by.
  let root: String
  private let base = PosixFileSystem()

  /// Makes an empty folder for it.
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

  /// The descriptors and maps that this process has of anything in the folder; nil where the system does
  /// not tell.
  var compiled: [String]? {
    let manager = FileManager.default
    guard let numbers = try? manager.contentsOfDirectory(atPath: "/proc/self/fd"),
      let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    else { return nil }
    // A descriptor that another thread has closed meanwhile leads nowhere.
    let links = numbers.compactMap { try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    let mapped = maps.split(separator: "\n").map(String.init)
    return (links + mapped).filter { $0.contains(root) }
  }
}
