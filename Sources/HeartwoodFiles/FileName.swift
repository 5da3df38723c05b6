import HeartwoodBytes

/// Rules for names and paths, the same in every file system.
package enum FileName {
  /// Stops the program if a name is not a plain file name.
  package static func check(_ name: String) {
    require(
      !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == 0x2F || $0 == 0 },
      "A name in a directory is a plain file name.")
  }

  /// The path of a name in a directory, for messages. Checks the name.
  package static func joined(_ directory: String, _ name: String) -> String {
    check(name)
    return directory.hasSuffix("/") ? directory + name : directory + "/" + name
  }

  /// Refuses a path that the system would not read as it is written: an empty one, or one with a zero byte.
  package static func checkPath(
    _ path: String, _ operation: FileSystemError.Operation
  ) throws(FileSystemError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw FileSystemError(.notFound, operation, path: path)
    }
  }

  /// The path of the directory that contains the last component of `path`.
  package static func parent(of path: String) -> String {
    let trimmed = path.reversed().drop { $0 == "/" }
    let parent = trimmed.drop { $0 != "/" }
    if parent.isEmpty { return path.hasPrefix("/") ? "/" : "." }
    return String(parent.reversed())
  }

  /// The components of a path from the root. Relative paths begin at the root; `..` is resolved.
  package static func components(of path: String) -> [String] {
    var components: [String] = []
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { _ = components.popLast() } else { components.append(String(part)) }
    }
    return components
  }
}
