import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// The files of a store that was written and not closed, as a power cut directly after a commit leaves them.
struct StoreInUse {
  var files: StoreFiles
  /// The contents before the first transaction, and after each.
  let states: [Model]
  /// The end of the log before the first transaction, and after each, all in one segment.
  let ends: [Int]
  let logName = "0000000000000001.log"
  /// The last transaction that the anchor proves: the checkpoint's.
  let durableCount = 3

  /// The newest transaction is the only one not proven to be on disk.
  var possible: ArraySlice<Model> { states.suffix(2) }

  init() throws {
    let fileSystem = MemoryFileSystem()
    let engine = try Engine(
      at: StoreFiles.path, options: StoreKind.memoryBuffered.options, fileSystem: fileSystem)
    var states: [Model] = [[:]]
    var ends = [Format.segmentHeaderBytes]
    for number in 1...6 {
      var model = states[number - 1]
      try engine.write { transaction in
        for part in 0..<2 {
          let key = [UInt8]("key \(number * 5 % 4) \(part)".utf8)
          model[key] = [UInt8](repeating: UInt8(number), count: number * 9 + part)
          try transaction.put(key, model[key] ?? [])
        }
        if number == 4 {
          try transaction.delete("key 1 0")
          model[[UInt8]("key 1 0".utf8)] = nil
        }
      }
      states.append(model)
      ends.append(try Self.end(of: try StoreFiles(fileSystem).files[logName] ?? []))
      if number == durableCount { try engine.checkpoint() }
    }
    files = try StoreFiles(fileSystem)
    self.states = states
    self.ends = ends
    try engine.close()
  }

  /// After the last frame, which ends with a checksum.
  private static func end(of log: [UInt8]) throws -> Int {
    let last = try #require(log.lastIndex { $0 != 0 })
    return (last / Format.frameAlignment + 1) * Format.frameAlignment
  }
}

extension StoreFiles {
  /// Offsets of bytes that are not zero, every 512th offset, and some more among the zeros. In a long run, all offsets.
  static func offsets(in bytes: [UInt8], _ random: inout SplitMix64) -> [Int] {
    guard !LongRun.isWanted else { return Array(bytes.indices) }
    return bytes.indices.filter { index in
      let isNearSomething = bytes[index] != 0 || (index > 0 && bytes[index - 1] != 0)
      return isNearSomething || index % 512 == 0 || random.below(100) == 0
    }
  }
}
