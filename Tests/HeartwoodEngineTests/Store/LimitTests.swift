import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Tests each limit of `Limits.md` at the limit and one beyond it.
@Suite struct LimitTests {
  private static let path = StoreFiles.path
  private var options: EngineOptions { StoreKind.memoryMapped.options }

  /// Closes a store and opens it again.
  private func reopened(
    _ store: Engine, _ fileSystem: any FileSystem, at path: String = LimitTests.path
  ) throws -> Engine {
    try store.close()
    return try Engine(at: path, options: options, fileSystem: fileSystem)
  }

  /// Expects that transactions still commit, and are there when the store is opened again.
  private func expectGoesOn(_ store: Engine, _ fileSystem: any FileSystem) throws {
    let mark = [UInt8]("goes on".utf8)
    try store.write { try $0.put("mark", mark) }
    let again = try reopened(store, fileSystem)
    #expect(try again.snapshot().get("mark") == mark)
    #expect(try again.verify().findings == [])
    try again.close()
  }

  @Test func `keys have 1 to 1024 bytes`() throws {
    let fileSystem = MemoryFileSystem()
    var store = try Engine(at: Self.path, options: options, fileSystem: fileSystem)
    let fitting = [1, 2, 1023, 1024].flatMap { count in
      [0x00, 0x61, 0xFF].map { [UInt8](repeating: $0, count: count) }
    }
    try store.write { transaction in
      for key in fitting { try transaction.put(key, [1]) }
      for count in [0, 1025, 5000] {
        let key = [UInt8](repeating: 0x61, count: count)
        #expect(code { try transaction.put(key, [1]) } == .invalidKey)
        #expect(code { try transaction.delete(key) } == .invalidKey)
        #expect(try transaction.get(key) == nil)
      }
    }
    store = try reopened(store, fileSystem)
    let snapshot = try store.snapshot()
    #expect(snapshot.count == UInt64(fitting.count))
    for key in fitting { #expect(try snapshot.get(key) == [1]) }
    #expect(try snapshot.get([UInt8](repeating: 0x61, count: 1025)) == nil)
    #expect(try snapshot.rank(of: [UInt8](repeating: 0xFF, count: 1025)) == UInt64(fitting.count))
    try expectGoesOn(store, fileSystem)
  }

  @Test func `the error for a key that is too long states the limit`() throws {
    let store = try Engine(at: "/dev/null", options: options)
    let error = try #require(throws: EngineError.self) {
      try store.write { try $0.put([UInt8](repeating: 1, count: 1025), []) }
    }
    #expect(error.description == "a key of 1025 bytes; keys have 1 to 1024 bytes")
    try store.close()
  }

  @Test func `pages of the longest keys split and join`() throws {
    let fileSystem = MemoryFileSystem()
    var store = try Engine(at: Self.path, options: options, fileSystem: fileSystem)
    var model: Model = [:]
    try store.write { transaction in
      for number in 0..<60 {
        var key = [UInt8](repeating: UInt8(number % 7), count: 1024)
        key[number % 3 * 500] = UInt8(number)
        let value = [UInt8](repeating: UInt8(number), count: 16)
        try transaction.put(key, value)
        model[key] = value
      }
    }
    store = try reopened(store, fileSystem)
    try store.snapshot().expect(model, "after opening again")
    try store.write { transaction in
      for key in model.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }).prefix(50) {
        try transaction.delete(key)
        model[key] = nil
      }
    }
    try store.snapshot().expect(model, "after deleting most")
    try expectGoesOn(store, fileSystem)
  }

  @Test func `bounds of deleted ranges have up to 1024 bytes`() throws {
    let fileSystem = MemoryFileSystem()
    var store = try Engine(at: Self.path, options: options, fileSystem: fileSystem)
    let longest = [UInt8](repeating: 0x61, count: 1024)
    try store.write { try $0.put(longest, [1]) }
    try store.write { transaction in
      let beyond = KeyRange(from: [], to: longest + [0])
      #expect(code { _ = try transaction.deleteRange(beyond) } == .invalidKey)
      let deleted = try transaction.deleteRange(KeyRange(from: longest, through: longest))
      #expect(deleted == 1)
    }
    store = try reopened(store, fileSystem)
    #expect(try store.snapshot().count == 0)
    try expectGoesOn(store, fileSystem)
  }

  /// Values of one byte less and more than the sizes that decide where values are stored and how lengths are encoded.
  @Test func `values of every critical size are stored and read`() throws {
    let fileSystem = MemoryFileSystem()
    var store = try Engine(at: Self.path, options: options, fileSystem: fileSystem)
    var model: Model = [:]
    let sizes = [0, 1, 15, 16, 17, 127, 128, 16_383, 16_384, 65_535, 65_536, 1 << 20]
    try store.write { transaction in
      for size in sizes {
        let (key, value) = ([UInt8]("\(size)".utf8), [UInt8](repeating: UInt8(size % 251), count: size))
        try transaction.put(key, value)
        model[key] = value
      }
    }
    store = try reopened(store, fileSystem)
    try store.snapshot().expect(model, "after opening again")
    try expectGoesOn(store, fileSystem)
  }

  @Test func `a value of one byte too many is refused before a byte of it is read`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try Engine(at: Self.path, options: options, fileSystem: fileSystem)
    // Address space only: no page of it is accessed.
    let memory = try AnonymousMemory(byteCount: Format.valueLimit + 1)
    let value = UnsafeRawBufferPointer(start: memory.base, count: Format.valueLimit + 1)
    try store.write { transaction in
      let error = try #require(throws: EngineError.self) {
        try [UInt8]("key".utf8).withUnsafeBytes { try transaction.put($0, value) }
      }
      #expect(error.code == .tooLarge)
      #expect(error.description == "a value of 1073741825 bytes; values have 0 to 1073741824 bytes")
      for count in [-1, .min, .max] {
        let refusal = #expect(throws: EngineError.self) {
          try transaction.put([UInt8]("key".utf8), count: count) { _ in 1 }
        }
        #expect(refusal?.code == .tooLarge)
      }
      try transaction.put("another", [1])
    }
    #expect(try store.snapshot().count == 1)
    try expectGoesOn(store, fileSystem)
  }

  /// Takes 2 GiB of disk and some seconds.
  @Test(.enabled(if: LongRun.isWanted, "A transaction of 2 GiB; set HEARTWOOD_LONG."))
  func `one transaction can hold several values of the greatest length`() throws {
    try TemporaryFolder.with { folder in
      let (path, fileSystem) = (folder + "/store", PosixFileSystem())
      var store = try Engine(at: path, options: options, fileSystem: fileSystem)
      let memory = try AnonymousMemory(byteCount: Format.valueLimit)
      try store.write { transaction in
        for (key, count) in [("first", Format.valueLimit), ("second", Format.valueLimit - 1)] {
          let value = UnsafeRawBufferPointer(start: memory.base, count: count)
          try [UInt8](key.utf8).withUnsafeBytes { try transaction.put($0, value) }
        }
      }
      try store.write { try $0.put("mark", [1]) }
      store = try reopened(store, fileSystem, at: path)
      for (key, count) in [("first", Format.valueLimit), ("second", Format.valueLimit - 1)] {
        var found = 0
        try store.snapshot().readValue(of: [UInt8](key.utf8)) {
          found += $0.count
          return true
        }
        #expect(found == count)
      }
      #expect(try store.snapshot().get("mark") == [1])
      try store.close()
    }
  }

  @Test func `sizes of segments and checkpoints are kept within their limits`() {
    let low = EngineOptions(segmentBytes: 0, checkpointBytes: -1)
    #expect(low.segmentBytes == 65_536 && low.checkpointBytes == 65_536)
    let high = EngineOptions(segmentBytes: .max, checkpointBytes: .max)
    #expect(high.segmentBytes == 1 << 30 && high.checkpointBytes == .max)
    let exact = EngineOptions(segmentBytes: 65_537, checkpointBytes: 65_537)
    #expect(exact.segmentBytes == 65_537 && exact.checkpointBytes == 65_537)
    #expect(EngineOptions(segmentBytes: (1 << 30) - 1).segmentBytes == (1 << 30) - 1)
    var set = EngineOptions()
    (set.segmentBytes, set.checkpointBytes) = (8 << 30, 0)
    #expect(set.segmentBytes == 1 << 30 && set.checkpointBytes == 65_536)
  }

  @Test func `a transaction may be longer than the requested segment size`() throws {
    let fileSystem = MemoryFileSystem()
    var store = try Engine(at: Self.path, options: options, fileSystem: fileSystem)
    let value = [UInt8](repeating: 7, count: 3 * options.segmentBytes)
    try store.write { try $0.put("a", value) }
    try store.write { try $0.put("b", [1]) }
    store = try reopened(store, fileSystem)
    #expect(try store.snapshot().get("a") == value)
    #expect(try store.snapshot().get("b") == [1])
    try expectGoesOn(store, fileSystem)
  }

  @Test func `the last segment number is assigned, and none after it`() throws {
    let numbers = SegmentNumbers(next: UInt32(Format.segmentNumberLimit) - 1)
    #expect(try numbers.take() == 2_147_483_646)
    #expect(try numbers.take() == 2_147_483_647)
    let error = try #require(throws: EngineError.self) { try numbers.take() }
    #expect(error.code == .tooLarge)
    #expect(error.message.contains("copy its contents to a new store"))
    #expect(SegmentName.parse(SegmentName.log(2_147_483_647))?.number == 2_147_483_647)
    #expect(SegmentName.parse("0000000080000000.log") == nil)
  }

  /// A store whose last number is given out says that the next one would be one more, which is no number of a
  /// segment; it was taken for damage once.
  @Test(arguments: [(0, true), (1, true), (2, false)])
  func `a store that has used up its segment numbers can be read`(beyond: UInt64, isReadable: Bool) {
    let next = UInt32(Format.segmentNumberLimit + beyond)
    let slot = AnchorSlot(
      identifier: StoreIdentifier(low: 1, high: 2), sequence: 3, created: 4, checkpoint: nil,
      checkpointChecksum: 0, lastLogSegment: UInt32(Format.segmentNumberLimit), knownDurable: Self.point,
      nextSegment: next, isClean: false, isUnsynced: false)
    if case .valid(let read) = slot.encoded(slot: 0).withUnsafeBytes({ AnchorSlot.decode($0, slot: 0) }) {
      #expect(isReadable && read.nextSegment == next)
    } else {
      #expect(!isReadable)
    }
    let record = CheckpointRecord(
      generation: 0, root: .init(reference: 0, checksum: 0, level: 0, count: 0), replay: Self.point,
      previous: nil, previousChecksum: 0, previousGeneration: 0, nextSegment: next, segments: [])
    #expect((record.encoded().withUnsafeBytes { CheckpointRecord.decode($0) } == record) == isReadable)
  }

  private static let point = LogPoint(
    position: LogPosition(segment: 1, offset: 128), sequence: 1, chain: 0, generation: 0)

  @Test func `hundreds of snapshots of different generations can be held at once`() throws {
    let store = try Engine(at: Self.path, options: options, fileSystem: MemoryFileSystem())
    var held: [Snapshot] = []
    for number in 0..<300 as Range<UInt64> {
      try store.write { try $0.put("key", withUnsafeBytes(of: number.bigEndian) { Array($0) }) }
      held.append(try store.snapshot())
    }
    for (number, snapshot) in held.enumerated() {
      #expect(try snapshot.get("key")?.last == UInt8(truncatingIfNeeded: number))
    }
    #expect(try store.statistics().oldestPinned == Generation(rawValue: 1))
    held = []
    #expect(try store.statistics().oldestPinned == nil)
    try store.close()
  }

  @Test func `one transaction writes at a time, in all engines of a store`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try Engine(at: Self.path, options: options, fileSystem: fileSystem)
    try store.write { transaction in
      try transaction.put("a", [1])
      #expect(code { try store.write { try $0.put("b", [1]) } } == .nestedWrite)
    }
    var impatient = options
    impatient.busyTimeout = 0
    let other = try Engine(at: Self.path, options: impatient, fileSystem: fileSystem)
    try store.write { transaction in
      try transaction.put("b", [1])
      #expect(code { try other.write { try $0.put("c", [1]) } } == .locked)
    }
    #expect(try other.snapshot().count == 2)
    try other.close()
    try store.write { _ = try $0.delete("b") }
    #expect(try store.snapshot().count == 1)
    try expectGoesOn(store, fileSystem)
  }

  @Test func `a name of the greatest length is opened, and an error states a longer one`() throws {
    try TemporaryFolder.with { folder in
      let longest = folder + "/" + String(repeating: "s", count: 255)
      let store = try Engine(at: longest, options: options)
      try store.write { try $0.put("a", [1]) }
      let again = try reopened(store, PosixFileSystem(), at: longest)
      #expect(try again.snapshot().count == 1)
      try again.close()
      let error = try #require(throws: EngineError.self) { try Engine(at: longest + "s", options: options) }
      #expect(error.code == .inputOutput, "\(error)")
      #expect(error.description.contains(longest + "s"))
    }
  }
}
