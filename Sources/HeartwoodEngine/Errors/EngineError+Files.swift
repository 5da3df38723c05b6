import HeartwoodFiles

extension EngineError {
  /// Translates a failed call of the file system.
  ///
  /// - Parameter doing: The operation that failed, as a sentence.
  static func files(_ error: FileSystemError, _ doing: String) -> EngineError {
    let code: Code =
      switch error.code {
      case .noSpace, .fileTooLarge: .noSpace
      case .permissionDenied, .readOnlyFileSystem: .readOnly
      case .notFound: .notFound
      case .alreadyExists: .exists
      case .notADirectory: .notAStore
      case .wrongKey: .wrongKey
      default: .inputOutput
      }
    let advice: String =
      switch code {
      case .noSpace where error.code == .fileTooLarge:
        "a file may not become that large; raise the process's limit of file sizes (ulimit -f)"
      case .noSpace: "the disk is full; free some space and try again"
      case .readOnly where error.code == .readOnlyFileSystem:
        "the file system is mounted for reading only; open the store for reading only"
      case .readOnly: "the permissions of the file or its folder do not allow it"
      case .inputOutput where error.code == .tooManyOpenFiles: tooFewDescriptors
      case .inputOutput where error.code == .outOfMemory: tooFewAddresses
      case .wrongKey: "the key is not that of the store; nothing is damaged"
      case .notFound: "there is no such file or folder"
      case .exists: "there is something of this name already"
      case .notAStore: "a part of the path is a file, and no folder"
      default: "the file system failed"
      }
    return EngineError(code, "\(doing): \(advice)", file: error.path, underlying: error)
  }

  /// Translates a failed read, which must never be taken for the end of the log.
  static func reading(_ error: FileSystemError, path: String, offset: Int64) -> EngineError {
    let advice: String? =
      switch error.code {
      case .tooManyOpenFiles: tooFewDescriptors
      case .outOfMemory: tooFewAddresses
      default: nil
      }
    let message = "reading failed" + (advice.map { ": \($0)" } ?? "")
    return EngineError(.inputOutput, message, file: path, offset: offset, underlying: error)
  }

  private static let tooFewDescriptors =
    "too many files are open; raise the process's limit (ulimit -n): a store needs one descriptor per file"
  static let tooFewAddresses =
    "the process has too few addresses left; raise its limit (ulimit -v), or choose smaller segments"

  /// An error for bytes that are not what was written.
  static func damaged(_ what: String, file: String?, offset: Int? = nil) -> EngineError {
    EngineError(.damaged, what, file: file, offset: offset.map(Int64.init))
  }
}
