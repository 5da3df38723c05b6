import HeartwoodFiles

extension FileSystemError.Code {
  /// A file that is opened with a key is a plain one.
  public static let notEncrypted = FileSystemError.Code(
    rawValue: "not encrypted; open it without a key, and copy it to encrypt it")
  /// A program has the store open.
  public static let inUse = FileSystemError.Code(rawValue: "in use; close it, in this program or another")
}
