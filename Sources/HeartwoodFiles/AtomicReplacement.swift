/// Replaces a small file as a whole: after a crash at any moment the name has the old bytes or the new.
public enum AtomicReplacement {
  /// Gives `name` these contents, durable when this returns.
  ///
  /// - Parameters:
  ///   - name: The file, which need not exist.
  ///   - entropy: Names the temporary file beside it.
  /// - Throws: what the directory and the file throw. Before the rename the temporary file is removed and
  ///   `name` is untouched; when only the last step failed, it is unknown which contents a crash leaves.
  public static func replace(
    _ name: String, in directory: any Directory, with contents: UnsafeRawBufferPointer,
    entropy: any Entropy = SystemEntropy()
  ) throws(FileSystemError) {
    let temporary = temporaryName(for: name, entropy.next())
    let file = try directory.open(temporary, .createNew)
    do {
      try fill(file, with: contents)
      // The bytes are durable before any name leads to them.
      try directory.rename(temporary, to: name)
    } catch {
      try? directory.unlink(temporary)
      throw error
    }
    // A crash before this leaves either name; both lead to whole contents.
    try directory.sync()
  }

  /// Whether `name` is one that an interrupted replacement left behind and that can be removed.
  public static func isTemporary(_ name: String) -> Bool { name.hasSuffix(suffix) }

  private static let suffix = ".temporary"

  private static func temporaryName(for name: String, _ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return name + "." + String(repeating: "0", count: 16 - digits.count) + digits + suffix
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
