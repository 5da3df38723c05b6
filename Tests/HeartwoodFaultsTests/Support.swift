import Foundation
import HeartwoodFaults
import HeartwoodFiles

extension File {
  func write(_ bytes: [UInt8], at offset: Int64) throws {
    try bytes.withUnsafeBytes { try writeFully($0, at: offset) }
  }

  func bytes(_ count: Int = 1 << 20, at offset: Int64 = 0) throws -> [UInt8] {
    var result = [UInt8](repeating: 0xEE, count: count)
    let read = try result.withUnsafeMutableBytes { try readFully(into: $0, at: offset) }
    return Array(result.prefix(read))
  }
}

extension FileSystem {
  /// All files of a directory.
  func files(in path: String = "/") throws -> [String: [UInt8]] {
    let directory = try openDirectory(path)
    var files: [String: [UInt8]] = [:]
    for name in try directory.entries() {
      files[name] = try directory.open(name, .readOnly).bytes()
    }
    return files
  }
}

extension SimulatedFileSystem {
  /// What a crash may leave at this moment, as files.
  func outcomes(_ limits: CrashImageLimits = CrashImageLimits()) throws -> [[String: [UInt8]]] {
    try crashImages(limits).map { try $0.mounted().files() }
  }
}

extension CrashImageLimits {
  /// Whole changes only, besides a length without bytes.
  static var untorn: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.sectorTears = 0
    limits.byteTears = []
    return limits
  }

  /// Whole changes only.
  static var whole: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.tornWrites = 0
    return limits
  }
}

/// The error that `body` throws, where it throws one.
func failure(_ body: () throws -> Void) -> FileSystemError? {
  do {
    try body()
    return nil
  } catch {
    return error as? FileSystemError
  }
}
