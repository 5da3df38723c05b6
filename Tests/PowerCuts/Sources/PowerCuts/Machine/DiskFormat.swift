import Foundation

/// A file system under test.
enum DiskFormat: String, CaseIterable {
  case ext4, xfs, btrfs

  /// In bytes; the smallest that `mkfs.xfs` makes is 300 MiB.
  static let diskSize = 384 << 20

  /// Makes an empty file system in a new file.
  func makeImage(_ path: String) throws -> ImageFile {
    try? FileManager.default.removeItem(atPath: path)
    try Tool.run("truncate", "--size=\(Self.diskSize)", path)
    try Tool.run(["mkfs.\(rawValue)"] + options + [path])
    return try ImageFile(path)
  }

  /// Besides the defaults: no output, and no tables that the kernel would go on initializing beside the victim.
  private var options: [String] {
    switch self {
    case .ext4: ["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"]
    case .xfs, .btrfs: ["-q"]
    }
  }
}
