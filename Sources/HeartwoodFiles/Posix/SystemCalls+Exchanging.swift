import CLibrary

extension SystemCall {
  /// Exchanges what two paths lead to, in one step.
  ///
  /// - Throws: `ENOTSUP` if the system or the file system cannot do that.
  static func exchange(_ path: String, _ other: String) throws(SystemError) {
    do throws(SystemError) {
      #if canImport(Darwin)
        _ = try retried { renamex_np(path, other, UInt32(RENAME_SWAP)) }
      #else
        guard let renameWithFlags else { throw SystemError(number: ENOTSUP) }
        _ = try retried { renameWithFlags(AT_FDCWD, path, AT_FDCWD, other, renameExchange) }
      #endif
    } catch {
      // File systems that cannot exchange say that the flag is invalid.
      throw error.number == EINVAL ? SystemError(number: ENOTSUP) : error
    }
  }

  #if !canImport(Darwin)
    private typealias RenameWithFlags =
      @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32

    /// `RENAME_EXCHANGE` of `<linux/fs.h>`.
    private static let renameExchange: UInt32 = 2

    /// `renameat2`, which the C module does not export to Swift; nil in old C libraries.
    private static let renameWithFlags: RenameWithFlags? = dlsym(nil, "renameat2").map {
      unsafeBitCast($0, to: RenameWithFlags.self)
    }
  #endif
}
