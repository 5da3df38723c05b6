import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

/// Runs the same random operations on the simulated disk and on the disk of this machine, and compares the results.
///
/// A run does 3,000 operations. This command does 100,000, on a disk in memory, where syncs take no time:
///
///     HEARTWOOD_DIFFERENTIAL_OPERATIONS=100000 TMPDIR=/dev/shm swift test --filter DifferentialTests
///
/// `HEARTWOOD_DIFFERENTIAL_SEED` selects other operations.
@Suite struct DifferentialTests {
  @Test func `the simulated disk and the real one give the same results and errors`() throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["HEARTWOOD_DIFFERENTIAL_OPERATIONS"].flatMap(Int.init) ?? 3000
    let seed = environment["HEARTWOOD_DIFFERENTIAL_SEED"].flatMap(UInt64.init) ?? 1
    var failures = 0
    var perOutcome: [String: Int] = [:]
    // Every thousand operations use a new directory, so that errors stay likely and files stay small.
    for round in 0..<((count + 999) / 1000) {
      try TemporaryFolder.with { path in
        var numbers = SplitMix64(seed: seed &+ UInt64(round) &* 0x1_0000_0001)
        let real = Machine(PosixFileSystem(), path)
        let disk = SimulatedFileSystem(seed: seed)
        try makePath(path, on: disk)
        let simulated = Machine(disk, path)
        var number = 0
        while number < min(1000, count - round * 1000) {
          let operation = DiskOperation.next(&numbers)
          let expected = real.perform(operation)
          let found = simulated.perform(operation)
          if expected != .skipped { number += 1 }
          perOutcome[Self.kind(expected), default: 0] += 1
          guard found != expected, failures < 10 else { continue }
          failures += 1
          Issue.record(
            "round \(round), operation \(number), \(operation): simulated \(found), real \(expected)")
        }
        #expect(try simulated.contents() == real.contents(), "round \(round)")
      }
    }
    print("\(count) operations, seed \(seed):", perOutcome.sorted { $0.key < $1.key })
    let kinds: Set = ["done", "no such file or directory", "already exists", "not a regular file"]
    #expect(kinds.union(["not a directory"]).isSubset(of: perOutcome.keys))
  }

  private func makePath(_ path: String, on disk: SimulatedFileSystem) throws {
    var made = ""
    for part in path.split(separator: "/") {
      made += "/\(part)"
      try disk.createDirectory(made)
    }
  }

  private static func kind(_ outcome: Machine.Outcome) -> String {
    switch outcome {
    case .failed(let code, _): code.rawValue
    case .skipped: "skipped"
    default: "done"
    }
  }
}

/// One call. Refers to names and open files by number.
private enum DiskOperation {
  case createDirectory(Int), openDirectory(String)
  case open(folder: Int, String, OpenMode, slot: Int)
  case entries(folder: Int), rename(folder: Int, String, String), unlink(folder: Int, String)
  case syncDirectory(folder: Int)
  case read(slot: Int, count: Int, offset: Int64), write(slot: Int, [UInt8], offset: Int64)
  case truncate(slot: Int, Int64), size(slot: Int), sync(slot: Int, SyncKind), lock(slot: Int)
  case close(slot: Int)

  static func next(_ numbers: inout SplitMix64) -> DiskOperation {
    let folder = numbers.below(3)
    let slot = numbers.below(5)
    switch numbers.below(40) {
    case 0: return .createDirectory(numbers.below(3))
    case 1: return .openDirectory(["folder1/x", "a", "folder2", "none", "a/b"][numbers.below(5)])
    case 2..<8:
      let mode: OpenMode = [.readOnly, .readWrite, .createNew][numbers.below(3)]
      return .open(folder: folder, name(&numbers), mode, slot: slot)
    case 8: return .entries(folder: folder)
    case 9..<12: return .rename(folder: folder, name(&numbers), name(&numbers))
    case 12..<14: return .unlink(folder: folder, name(&numbers))
    case 14: return .syncDirectory(folder: folder)
    case 15..<22: return .read(slot: slot, count: numbers.below(3000), offset: Int64(numbers.below(6000)))
    case 22..<30:
      let bytes = (0..<numbers.below(40)).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
      return .write(slot: slot, bytes, offset: Int64(numbers.below(5000)))
    case 30..<32: return .truncate(slot: slot, Int64(numbers.below(6000)))
    case 32..<34: return .size(slot: slot)
    case 34: return .sync(slot: slot, numbers.below(2) == 0 ? .data : .full)
    case 35..<38: return .lock(slot: slot)
    default: return .close(slot: slot)
    }
  }

  private static func name(_ numbers: inout SplitMix64) -> String {
    ["a", "b", "c", "d", "folder1", "folder2", "ä"][numbers.below(7)]
  }
}

/// A file system under test, and its open files.
private final class Machine {
  enum Outcome: Equatable {
    case done
    case bytes([UInt8])
    case names([String])
    case number(Int64)
    case answer(Bool)
    /// No file is open at that number.
    case skipped
    case failed(FileSystemError.Code, FileSystemError.Operation)
  }

  private let fileSystem: any FileSystem
  private let path: String
  private var slots: [Int: (file: any File, mode: OpenMode)] = [:]

  init(_ fileSystem: any FileSystem, _ path: String) {
    self.fileSystem = fileSystem
    self.path = path
  }

  func perform(_ operation: DiskOperation) -> Outcome {
    do {
      return try outcome(of: operation)
    } catch let error as FileSystemError {
      return .failed(error.code, error.operation)
    } catch {
      return .failed(.other, .open)
    }
  }

  /// The content of all files, by path.
  func contents() throws -> [String: [UInt8]] {
    var contents: [String: [UInt8]] = [:]
    for folder in 0...2 {
      guard let directory = try? fileSystem.openDirectory(folderPath(folder)) else { continue }
      for name in try directory.entries() where !name.hasPrefix("folder") {
        contents["\(folder)/\(name)"] = try directory.open(name, .readOnly).bytes()
      }
    }
    return contents
  }

  private func folderPath(_ number: Int) -> String { number == 0 ? path : "\(path)/folder\(number)" }

  private func outcome(of operation: DiskOperation) throws -> Outcome {
    switch operation {
    case .createDirectory(let folder):
      try fileSystem.createDirectory(folderPath(folder))
      return .done
    case .openDirectory(let name):
      _ = try fileSystem.openDirectory("\(path)/\(name)")
      return .done
    case .open(let folder, let name, let mode, let slot): return try open(folder, name, mode, slot)
    case .entries(let folder): return .names(try directory(folder).entries())
    case .rename(let folder, let name, let newName):
      try directory(folder).rename(name, to: newName)
      return .done
    case .unlink(let folder, let name):
      try directory(folder).unlink(name)
      return .done
    case .syncDirectory(let folder):
      try directory(folder).sync()
      return .done
    case .read(let slot, _, _), .write(let slot, _, _), .truncate(let slot, _), .size(let slot),
      .sync(let slot, _), .lock(let slot), .close(let slot):
      guard let (file, mode) = slots[slot] else { return .skipped }
      return try outcome(of: operation, on: file, mode, slot)
    }
  }

  private func directory(_ folder: Int) throws -> any Directory {
    try fileSystem.openDirectory(folderPath(folder))
  }

  private func open(_ folder: Int, _ name: String, _ mode: OpenMode, _ slot: Int) throws -> Outcome {
    let file = try directory(folder).open(name, mode)
    let replaced = slots.updateValue((file, mode), forKey: slot)
    try replaced?.file.close()
    return .done
  }

  private func outcome(
    of operation: DiskOperation, on file: any File, _ mode: OpenMode, _ slot: Int
  ) throws -> Outcome {
    switch operation {
    case .read(_, let count, let offset): return .bytes(try file.bytes(count, at: offset))
    case .write(_, let bytes, let offset):
      guard mode != .readOnly else { return .skipped }
      try file.write(bytes, at: offset)
      return .number(try file.size())
    case .truncate(_, let size):
      guard mode != .readOnly else { return .skipped }
      try file.truncate(to: size)
      return .done
    case .size: return .number(try file.size())
    case .sync(_, let kind):
      try file.sync(kind)
      return .done
    case .lock: return .answer(try file.tryLock(mode == .readOnly ? .shared : .exclusive))
    default:
      slots[slot] = nil
      try file.close()
      return .done
    }
  }
}
