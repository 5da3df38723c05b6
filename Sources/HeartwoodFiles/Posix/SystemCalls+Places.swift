import CLibrary

extension SystemCall {
  /// Whether the file system is known to overwrite a file's bytes in place, so that a map of existing bytes
  /// can be written to on a full disk. Where each write allocates new space (Btrfs, ZFS, APFS; XFS in copies
  /// that share it), the system would end the process then.
  static func writesInPlace(_ descriptor: Int32) throws(SystemError) -> Bool {
    #if os(Linux)
      guard let fileSystemStatus else { return false }
      return try withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) {
        (status) throws(SystemError) in
        _ = try retried { fileSystemStatus(descriptor, status.baseAddress) }
        return [ext4, memoryFileSystem].contains(status.load(as: Int.self))
      }
    #else
      return false
    #endif
  }

  #if os(Linux)
    /// `EXT4_SUPER_MAGIC`, which ext2 and ext3 share, and `TMPFS_MAGIC` of `<linux/magic.h>`.
    private static let ext4 = 0xEF53
    private static let memoryFileSystem = 0x0102_1994

    private typealias FileSystemStatus = @convention(c) (Int32, UnsafeMutableRawPointer?) -> Int32

    /// `fstatfs`, which the C module does not export to Swift. Its result has about a hundred bytes and
    /// begins with a word that identifies the kind of file system.
    private static let fileSystemStatus: FileSystemStatus? = dlsym(nil, "fstatfs").map {
      unsafeBitCast($0, to: FileSystemStatus.self)
    }
  #endif
}
