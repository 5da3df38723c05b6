import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `Compressed values` {
  private static let path = "/store"
  private let fileSystem = MemoryFileSystem()
  private let text = [UInt8](String(repeating: "the quick brown fox ", count: 100).utf8)

  private func options(
    _ compression: EngineOptions.Compression = .values(ofAtLeast: 512),
    _ reading: EngineOptions.Reading = .mapped
  ) -> EngineOptions {
    var options = StoreKind.memoryMapped.processOptions
    (options.compression, options.reading) = (compression, reading)
    return options
  }

  private func opened(
    _ compression: EngineOptions.Compression = .values(ofAtLeast: 512),
    _ reading: EngineOptions.Reading = .mapped
  ) throws -> Engine {
    try Engine(at: Self.path, options: options(compression, reading), fileSystem: fileSystem)
  }

  /// The bytes of all log segments that are not zeros at their end.
  private func logBytes(_ engine: Engine) throws -> Int {
    try StoreFiles(fileSystem).files.reduce(0) { sum, file in
      file.key.hasSuffix(".log") ? sum + (file.value.lastIndex { $0 != 0 } ?? 0) : sum
    }
  }

  private func appendedBytes(_ engine: Engine) throws -> Int {
    try engine.handle.store.writer.withLock { $0.log.appendedBytes }
  }

  // MARK: Reading

  @Test(arguments: [EngineOptions.Reading.mapped, .buffered], [true, false])
  func `every way of reading returns the value that was put`(
    reading: EngineOptions.Reading, isReopened: Bool
  ) throws {
    var engine = try opened(.values(ofAtLeast: 64), reading)
    try engine.write {
      for number in 0..<30 { try $0.put("key \(10 + number)", text + [UInt8(number)]) }
    }
    if isReopened {
      try engine.close()
      engine = try opened(.none, reading)
    }
    let snapshot = try engine.snapshot()
    for number in 0..<30 {
      let (key, value) = ([UInt8]("key \(10 + number)".utf8), text + [UInt8(number)])
      #expect(try engine.get(key) == value)
      #expect(try snapshot.get(key) == value)
      #expect(try key.withUnsafeBytes { try snapshot.withValue(of: $0) { Array($0) } } == value)
      #expect(try snapshot.entry(at: UInt64(number))?.value == value)
      for pieceBytes in [1, 7, 2000, 5000] {
        var pieces: [UInt8] = []
        #expect(
          try snapshot.readValue(of: key, pieceBytes: pieceBytes) {
            pieces += $0; return true
          })
        #expect(pieces == value)
      }
      let cursor = try snapshot.cursor()
      #expect(try key.withUnsafeBytes { try cursor.seek($0) })
      #expect(try Array(cursor.value()) == value)
    }
    var scanned: [[UInt8]] = []
    try snapshot.scan(.all, reversed: true) { _, value in
      scanned.append(Array(value))
      return true
    }
    #expect(scanned == (0..<30).reversed().map { text + [UInt8($0)] })
    #expect(try engine.verify().isSound)
  }

  @Test func `a transaction reads what it has put and what was there`() throws {
    let engine = try opened()
    try engine.write { try $0.put("a", text) }
    try engine.write { transaction in
      #expect(try transaction.get("a") == text)
      try transaction.put("b", text + [1])
      #expect(try transaction.get("b") == text + [1])
      let bytes = try #require(try [UInt8]("a".utf8).withUnsafeBytes { try transaction.pointer(of: $0) })
      // The bytes that a read has returned are the value of a put.
      try [UInt8]("c".utf8).withUnsafeBytes { try transaction.put($0, bytes) }
      #expect(try transaction.contents().map(\.value) == [text, text + [1], text])
      try transaction.put("a", [2])
      #expect(try transaction.get("a") == [2])
    }
    #expect(try engine.snapshot().contents().map(\.value) == [[2], text + [1], text])
  }

  @Test func `a transaction that is rolled back leaves no value behind`() throws {
    struct Refusal: Error {}
    let engine = try opened()
    for round in 0..<3 as Range<UInt8> {
      #expect(throws: Refusal.self) {
        try engine.write {
          try $0.put("a", text + [round])
          #expect(try $0.get("a") == text + [round])
          throw Refusal()
        }
      }
    }
    try engine.write { try $0.put("a", text) }
    #expect(try engine.get("a") == text)
  }

  @Test func `bytes that a snapshot has returned stay valid while it is held`() throws {
    let engine = try opened()
    try engine.write { transaction in
      for number in 0..<200 { try transaction.put("key \(1000 + number)", text + [UInt8(number)]) }
    }
    let snapshot = try engine.snapshot()
    var found: [UnsafeRawBufferPointer] = []
    try snapshot.scan { _, value in
      found.append(value)
      return true
    }
    try engine.write { transaction in
      for number in 0..<200 { try transaction.put("key \(1000 + number)", [0]) }
    }
    for (number, value) in found.enumerated() { #expect(Array(value) == text + [UInt8(number)]) }
    let again = try #require(
      try [UInt8]("key 1003".utf8).withUnsafeBytes { try snapshot.pointer(of: $0) })
    #expect(again.baseAddress == found[3].baseAddress)
    snapshot.forgetDecompressedValues()
    #expect(try snapshot.get("key 1003") == text + [3])
  }

  @Test func `threads read the values of one snapshot`() async throws {
    let engine = try opened()
    try engine.write { transaction in
      for number in 0..<100 { try transaction.put("key \(100 + number)", text + [UInt8(number)]) }
    }
    let snapshot = try engine.snapshot()
    let expected = (0..<100).map { text + [UInt8($0)] }
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<4 {
        group.addTask { (try? snapshot.contents().map(\.value)) == expected }
      }
      for await isEqual in group { #expect(isEqual) }
    }
  }

  // MARK: Compressed values

  @Test func `values that become shorter are stored compressed, others as they are`() throws {
    var random = SplitMix64(seed: 1)
    let long = [UInt8](repeating: 1, count: Format.compressedLimit)
    let values: [(value: [UInt8], isCompressed: Bool)] = [
      (text, true), (random.bytes(2000), false), ([UInt8](repeating: 0, count: 511), false),
      ([UInt8](repeating: 0, count: 512), true), (long, true), (long + [1], false), ([], false),
    ]
    let engine = try opened()
    for (number, (value, isCompressed)) in values.enumerated() {
      let before = try appendedBytes(engine)
      try engine.write { try $0.put("key \(number)", value) }
      let bytes = try appendedBytes(engine) - before
      #expect((bytes < value.count) == isCompressed, "value \(number)")
      #expect(try engine.get("key \(number)") == value)
    }
    #expect(try engine.verify().isSound)
  }

  @Test func `a value from a source is compressed if it is no longer than the limit`() throws {
    let engine = try opened()
    for count in [5000, Format.compressedLimit - 1, Format.compressedLimit + 1] {
      try engine.write {
        try $0.put([UInt8]("key \(count)".utf8), count: count) { buffer in
          buffer.initializeMemory(as: UInt8.self, repeating: 9)
          return buffer.count
        }
      }
      #expect(try engine.get("key \(count)") == [UInt8](repeating: 9, count: count))
    }
  }

  @Test func `compaction keeps what is compressed, and compresses what is not`() throws {
    var engine = try opened(.none)
    for number in 0..<100 { try engine.write { try $0.put("key \(number)", text + [UInt8(number)]) } }
    try engine.reclaim()
    let plain = try logBytes(engine)
    try engine.close()
    for _ in 0..<3 {
      engine = try opened()
      try engine.write { for number in 0..<100 { try $0.put("key \(number)", text + [UInt8(number)]) } }
      try engine.reclaim()
      #expect(try logBytes(engine) < plain / 4)
      for number in 0..<100 { #expect(try engine.get("key \(number)") == text + [UInt8(number)]) }
      #expect(try engine.verify().isSound)
      try engine.close()
    }
  }

  // MARK: The format

  /// The version, and the format that readers and writers must know, in both slots of the anchor.
  private func formats() throws -> [[UInt32]] {
    let anchor = try #require(try StoreFiles(fileSystem).files["anchor"])
    return [0, Format.anchorBlockBytes].map { slot in
      [8, 12, 16, 28].map { field in
        anchor[slot..<slot + 512].withUnsafeBytes { $0.field32(field) }
      }
    }
  }

  @Test func `both slots of the anchor say that values may be compressed`() throws {
    try opened().close()
    #expect(try formats() == [[2, 2, 2, 1], [2, 2, 2, 1]])
  }

  @Test func `a store without the option is written as before`() throws {
    let engine = try opened(.none)
    try engine.write { try $0.put("a", text) }
    try engine.close()
    #expect(try formats() == [[1, 1, 1, 0], [1, 1, 1, 0]])
  }

  @Test func `an existing store gets compressed values when it is opened with the option`() throws {
    var engine = try opened(.none)
    try engine.write { try $0.put("a", text) }
    try engine.close()
    engine = try opened()
    #expect(try formats() == [[2, 2, 2, 1], [2, 2, 2, 1]])
    try engine.write { try $0.put("b", text) }
    try engine.close()
    engine = try opened(.none)
    try engine.write { try $0.put("c", text) }
    #expect(try formats() == [[2, 2, 2, 1], [2, 2, 2, 1]])
    #expect(try engine.snapshot().contents().map(\.value) == [text, text, text])
  }

  @Test func `a store that another process has open gets none`() throws {
    let first = try opened(.none)
    let second = try opened()
    try second.write { try $0.put("a", text) }
    #expect(try first.get("a") == text)
    #expect(try formats() == [[1, 1, 1, 0], [1, 1, 1, 0]])
  }

  @Test func `processes read what one of them has compressed`() throws {
    let first = try opened()
    let second = try opened(.none)
    try first.write { try $0.put("a", text) }
    #expect(try second.get("a") == text)
    try second.write { try $0.put("b", text) }
    #expect(try first.snapshot().contents().map(\.value) == [text, text])
    var readOnly = options()
    readOnly.access = .readOnly
    let reader = try Engine(at: Self.path, options: readOnly, fileSystem: fileSystem)
    #expect(try reader.snapshot().contents().map(\.value) == [text, text])
  }

  @Test func `a reader that began before the first compressed value reads it`() throws {
    try opened(.none).close()
    var readOnly = options()
    readOnly.access = .readOnly
    let reader = try Engine(at: Self.path, options: readOnly, fileSystem: fileSystem)
    #expect(try reader.get("a") == nil)
    let writer = try opened()
    try writer.write { try $0.put("a", text) }
    #expect(try reader.get("a") == text)
    #expect(try reader.snapshot().contents().map(\.value) == [text])
  }

  // MARK: Copies

  @Test func `backups, pieces and salvage have the values`() throws {
    let engine = try opened()
    for number in 0..<20 { try engine.write { try $0.put("key \(number)", text + [UInt8(number)]) } }
    let model = try engine.snapshot().model()
    try engine.backup(to: "/backup", fileSystem: fileSystem)
    let place = try FolderDestination("/place", creates: true, fileSystem: fileSystem)
    try Shipper(engine, to: place).ship()
    try engine.write { try $0.put("last", text) }
    try engine.close()
    try Restoration(from: place).restore(to: "/restored", fileSystem: fileSystem)
    for path in ["/backup", "/restored"] {
      let copy = try Engine(at: path, options: options(.none), fileSystem: fileSystem)
      #expect(try copy.snapshot().model() == model, "\(path)")
      #expect(try copy.verify().isSound)
      #expect(copy.handle.store.anchor.file.current.features == .compressedValues)
    }
    let report = try Engine.salvage(
      from: Self.path, to: "/salvaged", options: options(.none), fileSystem: fileSystem)
    #expect(report.isComplete)
    let salvaged = try Engine(at: "/salvaged", options: options(.none), fileSystem: fileSystem)
    #expect(try salvaged.get("last") == text)
    #expect(try salvaged.snapshot().count == 21)
  }

  @Test func `past generations have the values`() throws {
    let engine = try opened()
    for number in 0..<10 { try engine.write { try $0.put("key", text + [UInt8(number)]) } }
    for number in 0..<10 as Range<UInt64> {
      let snapshot = try engine.snapshot(at: Generation(rawValue: number + 1))
      #expect(try snapshot.contents().map(\.value) == [text + [UInt8(number)]])
    }
  }

  // MARK: Damage

  /// A store of one value whose stored bytes are these, with valid checksums.
  private func store(storing bytes: [UInt8]) throws -> Engine {
    let engine = try opened()
    try engine.handle.store.writer.withLock { (writer) throws(EngineError) in
      try writer.writeInternally { (transaction) throws(EngineError) in
        var memory = [UInt8](repeating: 0, count: bytes.count + Record.overheadLimit + 3)
        let record = memory.withWritableBytes { target in
          bytes.withBytes { value in
            [UInt8]("key".utf8).withBytes { key in
              let count = Record.write(
                to: target, operation: Format.putCompressedOperation, key: key, value: value, seed: 0
              ).bytes
              return Record.parse(target.bytes.bytes(0, count))
            }
          }
        }
        try memory.withBytes { (_) throws(EngineError) in
          if let record { try transaction.move([UInt8]("key".utf8), record) }
        }
      }
    }
    return engine
  }

  @Test(
    arguments: [
      [], [0x80], [5], [5, 0x50, 1, 2, 3, 4], [4, 0x50, 1, 2, 3, 4, 5], [0x81, 0x80, 0x40, 0x00],
      [0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x1F, 0, 1, 0, 255, 255],
    ] as [[UInt8]])
  func `a value that cannot be decompressed is damage`(bytes: [UInt8]) throws {
    let engine = try store(storing: bytes)
    let snapshot = try engine.snapshot()
    #expect(code { _ = try snapshot.get("key") } == .damaged)
    #expect(code { _ = try snapshot.contents() } == .damaged)
    #expect(code { _ = try engine.get("key") } == .damaged)
    #expect(code { _ = try snapshot.readValue(of: [UInt8]("key".utf8)) { _ in true } } == .damaged)
    #expect(try engine.verify().findings.count == 1)
  }

  @Test func `a value whose stored bytes are right is read`() throws {
    #expect(try store(storing: [5, 0x50, 1, 2, 3, 4, 5]).get("key") == [1, 2, 3, 4, 5])
  }
}
