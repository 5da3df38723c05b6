import Foundation

/// A file system under test.
enum DiskFormat: String, CaseIterable {
  case ext4, xfs, btrfs

  /// The size in bytes. `mkfs.xfs` requires at least 300 MiB.
  static let diskSize = 384 << 20

  /// Creates an empty file system in a new file.
  func makeImage(_ path: String) throws -> ImageFile {
    try? FileManager.default.removeItem(atPath: path)
    try Tool.run("truncate", "--size=\(Self.diskSize)", path)
    try Tool.run(["mkfs.\(rawValue)"] + options + [path])
    return try ImageFile(path)
  }

  /// Additional options: no output, and complete initialization of the tables, so that the kernel does not
  /// initialize them while the victim runs.
  private var options: [String] {
    switch self {
    case .ext4: ["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"]
    case .xfs, .btrfs: ["-q"]
    }
  }
}
