import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport

/// The file systems that have the same contract.
enum FileSystemKind: String, CaseIterable, Sendable {
  case posix, memory, simulated, faultless

  /// Runs `body` with a file system and the path of an empty directory in it.
  func withDirectory<Result>(_ body: (any FileSystem, String) throws -> Result) throws -> Result {
    switch self {
    case .posix: return try TemporaryFolder.with { try body(PosixFileSystem(), $0) }
    case .memory: return try inMemory(MemoryFileSystem(), body)
    case .simulated: return try inMemory(SimulatedFileSystem(), body)
    case .faultless: return try inMemory(FaultInjectingFileSystem(base: MemoryFileSystem()), body)
    }
  }

  private func inMemory<Result>(
    _ fileSystem: any FileSystem, _ body: (any FileSystem, String) throws -> Result
  ) throws -> Result {
    try fileSystem.createDirectory("/tests")
    return try body(fileSystem, "/tests")
  }
}

extension File {
  func write(_ bytes: [UInt8], at offset: Int64) throws {
    try bytes.withUnsafeBytes { try writeFully($0, at: offset) }
  }

  func bytes(_ count: Int, at offset: Int64 = 0) throws -> [UInt8] {
    var result = [UInt8](repeating: 0xEE, count: count)
    let read = try result.withUnsafeMutableBytes { try readFully(into: $0, at: offset) }
    return Array(result.prefix(read))
  }
}

/// The code and the operation of the error that `body` throws; nil if it throws none.
func failure(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch let error as FileSystemError {
    return "\(error.operation): \(error.code)"
  } catch {
    return "\(error)"
  }
}
