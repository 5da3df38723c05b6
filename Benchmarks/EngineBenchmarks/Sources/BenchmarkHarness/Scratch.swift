import Foundation

/// A directory for one peer's files, empty at first and removed with the object.
public final class Scratch {
  /// Where it is.
  public let path: String

  /// Makes the directory.
  /// - Parameters:
  ///   - parent: Where to make it: the file system that is to be measured.
  ///   - name: The beginning of its name.
  /// - Throws: The error of the system where it cannot be made.
  public init(in parent: String, named name: String) throws {
    path = parent + "/" + name + "-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The bytes that the files of the directory occupy on disk, holes left out.
  public func occupiedBytes() throws -> Int {
    var total = 0
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
      var status = stat()
      guard lstat(path + "/" + name, &status) == 0 else { continue }
      guard status.st_mode & S_IFMT == S_IFREG else { continue }
      total += Int(status.st_blocks) * 512
    }
    return total
  }
}
