/// Replaces a small file as a whole: after a crash at any time the file has the old contents or the new.
public enum AtomicReplacement {
  /// Replaces the contents of `name`, durably.
  ///
  /// - Parameters:
  ///   - name: The file; it need not exist.
  ///   - directory: The directory of the file.
  ///   - contents: The new contents.
  ///   - other: A file in the directory whose owner and permissions the new one gets, where the file system has such; nil for those of any new file.
  ///   - temporary: The name of the temporary file, which must not exist; nil for one of its own.
  ///   - entropy: The source of the temporary file's name.
  /// - Throws: errors of the directory and the file. If the rename or a step before it fails, the temporary
  ///   file is removed and `name` is unchanged. If only the sync of the directory fails, a crash may leave
  ///   either contents.
  public static func replace(
    _ name: String, in directory: any Directory, with contents: UnsafeRawBufferPointer,
    like other: String? = nil, through temporary: String? = nil, entropy: any Entropy = SystemEntropy()
  ) throws(FileSystemError) {
    let temporary = temporary ?? temporaryName(for: name, entropy.next())
    let file =
      if let other { try directory.create(temporary, like: other) } else {
        try directory.open(temporary, .createNew)
      }
    do {
      try fill(file, with: contents)
      // The bytes must be durable before the name leads to them.
      try directory.rename(temporary, to: name)
    } catch {
      try? directory.unlink(temporary)
      throw error
    }
    // A crash here leaves the old or the new contents, both complete.
    try directory.sync()
  }

  /// Whether `name` is the temporary file of an interrupted replacement, which can be removed.
  public static func isTemporary(_ name: String) -> Bool { name.hasSuffix(suffix) }

  private static let suffix = ".temporary"

  /// The name of a temporary file beside `name`.
  package static func temporaryName(for name: String, _ number: UInt64) -> String {
    name + "." + FileName.digits(number) + suffix
  }

  private static func fill(_ file: any File, with contents: UnsafeRawBufferPointer) throws(FileSystemError) {
    do {
      try file.writeFully(contents, at: 0)
      try file.sync(.full)
    } catch {
      try? file.close()
      throw error
    }
    try file.close()
  }
}
