import HeartwoodFiles

extension EngineError {
  /// A failed call of the file system, in the engine's terms.
  static func files(_ error: FileSystemError, _ doing: String) -> EngineError {
    let code: Code =
      switch error.code {
      case .noSpace: .noSpace
      case .permissionDenied, .readOnlyFileSystem: .readOnly
      case .notFound: .notFound
      case .alreadyExists: .exists
      case .notADirectory: .notAStore
      default: .inputOutput
      }
    let advice: String =
      switch code {
      case .noSpace: "the disk is full; free some space and try again"
      case .readOnly where error.code == .readOnlyFileSystem:
        "the file system is mounted for reading only; open the store so, too"
      case .readOnly: "the permissions of the file or its folder do not allow it"
      default: "the file system failed"
      }
    return EngineError(code, "\(doing): \(advice)", file: error.path, underlying: error)
  }

  /// A failed read: never to be taken for the end of the log.
  static func reading(_ error: FileSystemError, path: String, offset: Int64) -> EngineError {
    EngineError(.inputOutput, "reading failed", file: path, offset: offset, underlying: error)
  }

  /// Bytes that are not what was written.
  static func damaged(_ what: String, file: String?, offset: Int? = nil) -> EngineError {
    EngineError(.damaged, what, file: file, offset: offset.map(Int64.init))
  }
}
