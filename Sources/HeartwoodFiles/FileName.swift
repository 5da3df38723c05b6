import HeartwoodBytes

/// Rules for names and paths, the same in every file system.
package enum FileName {
  /// Stops the program if a name is not a plain file name.
  package static func check(_ name: String) {
    require(
      !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == 0x2F || $0 == 0 },
      "A name in a directory is a plain file name.")
  }

  /// A number as 16 lower-case hexadecimal digits, so that names are in the order of their numbers.
  package static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The number that a name states before a dot, and what follows the dot; nil for a name that `digits` does not begin.
  package static func numbered(_ name: String) -> (number: UInt64, suffix: Substring)? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 16,
      parts[0].utf8.allSatisfy({ ($0 >= 48 && $0 <= 57) || ($0 >= 97 && $0 <= 102) }),
      let number = UInt64(parts[0], radix: 16)
    else { return nil }
    return (number, parts[1])
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
