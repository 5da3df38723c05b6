import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Where a store under test is located, and how it is read.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case posixMapped, posixBuffered, posixCompressed, memoryMapped, memoryBuffered, memoryCompressed, simulated

  var testDescription: String { rawValue }

  var reading: EngineOptions.Reading {
    switch self {
    case .posixMapped, .posixCompressed, .memoryMapped: .mapped
    case .posixBuffered, .memoryBuffered, .memoryCompressed, .simulated: .buffered
    }
  }

  /// Small segments and checkpoints, so that both occur often.
  var options: EngineOptions {
    var options = EngineOptions(
      reading: reading, segmentBytes: 64 << 10, checkpointBytes: 64 << 10, worker: InlineWorker(),
      clock: CountingClock(), entropy: SeededEntropy(seed: 7))
    options.compression = isCompressed ? .values(ofAtLeast: 32) : .none
    return options
  }

  /// Whether values are compressed, so that sizes are not those of the values.
  var isCompressed: Bool { self == .posixCompressed || self == .memoryCompressed }

  /// For engines that represent processes. They release the lease after every write, so that nothing depends on time.
  var processOptions: EngineOptions {
    var options = options
    (options.idleSeconds, options.sharesInProcess) = (nil, false)
    return options
  }

  /// Runs `body` with a file system and a path at which nothing exists yet.
  func withPlace<Result>(_ body: (any FileSystem, String) throws -> Result) throws -> Result {
    switch self {
    case .posixMapped, .posixBuffered, .posixCompressed:
      return try TemporaryFolder.with { try body(PosixFileSystem(), $0 + "/store") }
    case .memoryMapped, .memoryBuffered, .memoryCompressed: return try body(MemoryFileSystem(), "/store")
    case .simulated: return try body(SimulatedFileSystem(), "/store")
    }
  }
}

/// A clock that shows 1, 2, 3 and so on.
final class CountingClock: WallClock, @unchecked Sendable {
  private let lock = Lock()
  private var time: Int64 = 0

  var nanosecondsSince1970: Int64 {
    lock.withLock {
      time += 1
      return time
    }
  }
}

/// The plain model of a store: the value of each key.
typealias Model = [[UInt8]: [UInt8]]

extension KeyValueReader {
  /// All entries, read by a scan.
  func contents() throws -> [(key: [UInt8], value: [UInt8])] {
    var found: [(key: [UInt8], value: [UInt8])] = []
    try scan { key, value in
      found.append((Array(key), Array(value)))
      return true
    }
    return found
  }

  /// All entries as a plain model.
  func model() throws -> Model {
    Model(uniqueKeysWithValues: try contents().map { ($0.key, $0.value) })
  }

  /// Expects the contents of the model, read in several ways.
  func expect(_ model: Model, _ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let sorted = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    let found = try contents()
    #expect(found.map(\.key) == sorted.map(\.key), comment, sourceLocation: sourceLocation)
    #expect(found.map(\.value) == sorted.map(\.value), comment, sourceLocation: sourceLocation)
    #expect(count == UInt64(model.count), comment, sourceLocation: sourceLocation)
    for (key, value) in sorted.prefix(5) {
      #expect(try get(key) == value, comment, sourceLocation: sourceLocation)
    }
  }
}

/// The code of the engine's error that `body` throws, or nil if it throws none.
func code(_ body: () throws -> Void) -> EngineError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? EngineError)?.code ?? EngineError.Code(rawValue: "another error: \(error)")
  }
}
