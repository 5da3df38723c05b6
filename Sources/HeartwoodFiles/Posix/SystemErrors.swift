import CLibrary

extension FileSystemError {
  /// The error of a failed system call for the caller of `operation`.
  init(_ error: SystemError, _ operation: Operation, path: String) {
    let code =
      operation == .openDirectory && error.number == ELOOP
      ? .notADirectory : Code(systemNumber: error.number)
    self.init(code, operation, path: path, systemNumber: error.number)
  }
}

extension FileSystemError.Code {
  init(systemNumber: Int32) {
    switch systemNumber {
    case ENOENT: self = .notFound
    case EEXIST, ENOTEMPTY: self = .alreadyExists
    case ENOTDIR: self = .notADirectory
    // A symbolic link where links are not followed; a socket, which cannot be opened.
    case EISDIR, ELOOP, ENXIO: self = .notARegularFile
    case EACCES, EPERM: self = .permissionDenied
    case EROFS: self = .readOnlyFileSystem
    case ENOSPC, EDQUOT: self = .noSpace
    case EFBIG: self = .fileTooLarge
    case EIO: self = .inputOutput
    case ESTALE: self = .staleHandle
    case EMFILE, ENFILE: self = .tooManyOpenFiles
    case ENOMEM: self = .outOfMemory
    case ENOTSUP, EOPNOTSUPP, ENOSYS, ENOLCK, ENODEV: self = .unsupported
    default: self = .other
    }
  }
}
