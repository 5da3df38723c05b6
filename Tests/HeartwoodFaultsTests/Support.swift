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
  /// The content of all files in a directory, by name.
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
  /// The files of each disk image that a crash at this moment may leave.
  func outcomes(_ limits: CrashImageLimits = CrashImageLimits()) throws -> [[String: [UInt8]]] {
    try crashImages(limits).map { try $0.mounted().files() }
  }
}

extension CrashImageLimits {
  /// Without torn sectors or bytes. A file's length may still be durable without its bytes.
  static var untorn: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.sectorTears = 0
    limits.byteTears = []
    return limits
  }

  /// Without torn writes.
  static var whole: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.tornWrites = 0
    return limits
  }
}

/// The file system error that `body` throws; nil if it throws none.
func failure(_ body: () throws -> Void) -> FileSystemError? {
  do {
    try body()
    return nil
  } catch {
    return error as? FileSystemError
  }
}
