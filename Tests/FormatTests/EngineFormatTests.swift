import Foundation
import HeartwoodBytes
import HeartwoodFiles
import Testing

@testable import HeartwoodEngine

/// Checks that the engine's format document agrees with the engine.
@Suite struct `The document of the engine's format` {
  private let document: FormatDocument

  init() throws {
    document = try FormatDocument(at: "Sources/HeartwoodEngine/Documentation.docc/Format.md")
  }

  @Test func `the document has every constant of the code`() throws {
    let rows = try #require(document.tables["Constants"])
    let documented = Dictionary(rows.map { ($0[0], UInt64(documented: $0[1])) }, uniquingKeysWith: { $1 })
    #expect(documented == Self.constants.mapValues(Optional.some))
  }

  private static let constants: [String: UInt64] = [
    "version": UInt64(Format.version), "minimumReader": UInt64(Format.minimumReader),
    "minimumWriter": UInt64(Format.minimumWriter), "newestVersion": UInt64(Format.newestVersion),
    "checksumKind": UInt64(Format.checksumKind),
    "anchorMagic": Format.anchorMagic, "logSegmentMagic": Format.logSegmentMagic,
    "pageSegmentMagic": Format.pageSegmentMagic, "encryptedFileMagic": Format.encryptedFileMagic,
    "frameMagic": UInt64(Format.frameMagic),
    "holdsMagic": Format.holdsMagic,
    "anchorBlockBytes": UInt64(Format.anchorBlockBytes), "anchorSlotBytes": UInt64(Format.anchorSlotBytes),
    "segmentHeaderBytes": UInt64(Format.segmentHeaderBytes), "pageBytes": UInt64(Format.pageBytes),
    "frameHeaderBytes": UInt64(Format.frameHeaderBytes),
    "frameTrailerBytes": UInt64(Format.frameTrailerBytes), "frameAlignment": UInt64(Format.frameAlignment),
    "frameVersion": UInt64(Format.frameVersion), "transactionKind": UInt64(Format.transactionKind),
    "checkpointKind": UInt64(Format.checkpointKind), "lastFrameFlag": UInt64(Format.lastFrameFlag),
    "internalFlag": UInt64(Format.internalFlag), "putOperation": Format.putOperation,
    "deleteOperation": Format.deleteOperation, "deleteRangeOperation": Format.deleteRangeOperation,
    "putCompressedOperation": Format.putCompressedOperation,
    "compressedLimit": UInt64(Format.compressedLimit),
    "firstFillBytes": UInt64(Format.firstFillBytes), "fillStepBytes": UInt64(Format.fillStepBytes),
    "frameBytes": UInt64(Format.frameBytes), "keyLimit": UInt64(Format.keyLimit),
    "valueLimit": UInt64(Format.valueLimit),
    "segmentLimit": UInt64(Format.segmentLimit), "segmentNumberLimit": Format.segmentNumberLimit,
    "inlineLimit": UInt64(TreeEntry.inlineLimit), "levelLimit": UInt64(TreeRoot.levelLimit),
  ]

  @Test(arguments: [false, true])
  func `the document describes a slot of the anchor`(hasFeature: Bool) throws {
    let slot = AnchorSlot(
      identifier: StoreIdentifier(low: 1, high: 2), sequence: 3, created: 4,
      checkpoint: LogPosition(segment: 5, offset: 6), checkpointChecksum: 7, lastLogSegment: 8,
      knownDurable: LogPoint(
        position: LogPosition(segment: 9, offset: 10), sequence: 11, chain: 12, generation: 13),
      nextSegment: 14, isClean: true, isUnsynced: true, content: StoreContent("graph"),
      features: hasFeature ? [.compressedValues] : [])
    let format: UInt64 = hasFeature ? 2 : 1
    let values: [String: UInt64] = [
      "magic": Format.anchorMagic, "version": format, "minimumReader": format, "minimumWriter": format,
      "compatibleFeatures": 0, "readOnlyFeatures": 0, "incompatibleFeatures": hasFeature ? 1 : 0,
      "identifier": 1,
      "sequence": 3, "created": 4, "checkpointPosition": 5 << 32 | 6, "checkpointChecksum": 7,
      "lastLogSegment": 8, "provenPosition": 9 << 32 | 10, "provenSequence": 11, "provenChain": 12,
      "provenGeneration": 13, "nextSegment": 14, "state": 3, "checksumKind": 1,
      "content": 0x68_7061_7267,
    ]
    try document.expect(
      "Slot", in: slot.encoded(slot: 1), has: values, but: ["checksum"], byteCount: Format.anchorSlotBytes)
  }

  @Test func `the document describes a segment's header`() throws {
    let header = SegmentHeader(
      identifier: StoreIdentifier(low: 1, high: 2), number: 3, salt: 4,
      predecessor: LogPoint(
        position: LogPosition(segment: 2, offset: 6), sequence: 7, chain: 8, generation: 9),
      copiedThrough: 10, durableThrough: 11)
    let values: [String: UInt64] = [
      "magic": Format.logSegmentMagic, "version": 1, "identifier": 1, "number": 3, "salt": 4,
      "predecessorPosition": 2 << 32 | 6, "predecessorSequence": 7, "predecessorChain": 8,
      "predecessorGeneration": 9, "copiedThrough": 10, "durableThrough": 11,
    ]
    try document.expect(
      "Segment header", in: header.encoded(magic: Format.logSegmentMagic), has: values, but: ["checksum"],
      byteCount: Format.segmentHeaderBytes)
  }

  @Test func `the document describes a frame's header`() throws {
    let header = FrameHeader(
      kind: 1, flags: 1, payloadBytes: 2, recordCount: 3, sequence: 4, transaction: 5, previous: 6,
      durableThrough: 7, time: 8, puts: 9, deletes: 10)
    var bytes = [UInt8](repeating: 0, count: Format.frameHeaderBytes)
    _ = header.encode(to: &bytes, seed: 0)
    let values: [String: UInt64] = [
      "magic": UInt64(Format.frameMagic), "kind": 1, "flags": 1, "version": 1, "payloadBytes": 2,
      "recordCount": 3, "sequence": 4, "transaction": 5, "previous": 6, "durableThrough": 7, "time": 8,
      "puts": 9, "deletes": 10,
    ]
    try document.expect(
      "Frame header", in: bytes, has: values, but: ["checksum"], byteCount: Format.frameHeaderBytes)
  }

  @Test func `the document describes a checkpoint`() throws {
    let record = CheckpointRecord(
      generation: 1, root: .init(reference: 2, checksum: 3, level: 4, count: 5),
      replay: LogPoint(
        position: LogPosition(segment: 6, offset: 7), sequence: 8, chain: 9, generation: 10),
      previous: LogPosition(segment: 11, offset: 12), previousChecksum: 13, previousGeneration: 14,
      nextSegment: 15, segments: [.init(number: 16, isLog: false, extent: 17, chain: 18)])
    let bytes = record.encoded()
    let values: [String: UInt64] = [
      "generation": 1, "rootReference": 2, "rootChecksum": 3, "rootLevel": 4, "segmentCount": 1,
      "keyCount": 5, "replayPosition": 6 << 32 | 7, "replaySequence": 8, "replayChain": 9,
      "replayGeneration": 10, "previousPosition": 11 << 32 | 12, "previousChecksum": 13,
      "previousGeneration": 14, "nextSegment": 15,
    ]
    let fixed = bytes.count - 32
    try document.expect("Checkpoint", in: bytes, has: values, but: [], byteCount: fixed)
    try document.expect(
      "Checkpoint segment", in: Array(bytes[fixed...]),
      has: ["number": 16, "kind": 2, "extent": 17, "chain": 18], but: [], byteCount: 32)
  }

  @Test func `the document describes the file of holds`() throws {
    let needs = HoldRecord.Needs(
      generation: 3, checkpoint: LogPosition(segment: 6, offset: 7), checkpointChecksum: 8, lastLogSegment: 9,
      segments: [10, 11])
    let hold = HoldRecord(name: "kept", created: 4, end: 5, needs)
    let bytes = HoldList(holds: [hold]).encoded(StoreIdentifier(low: 1, high: 2))
    try document.expect(
      "Holds", in: Array(bytes[..<32]),
      has: ["magic": Format.holdsMagic, "version": 1, "count": 1, "identifier": 1], but: [], byteCount: 32)
    try document.expect(
      "Hold", in: Array(bytes[32..<88]),
      has: [
        "generation": 3, "created": 4, "end": 5, "checkpointPosition": 6 << 32 | 7, "checkpointChecksum": 8,
        "lastLogSegment": 9, "segmentCount": 2, "nameBytes": 4,
      ], but: [], byteCount: 56)
    #expect(Array(bytes[88..<104]) == [10, 0, 0, 0, 11, 0, 0, 0] + Array("kept".utf8) + [0, 0, 0, 0])
    let checksum = Array(bytes[..<104]).withUnsafeBytes { XXH64.hash($0, seed: 0x486F_6C64_4865_6C64) }
    #expect(Array(bytes[104...]) == withUnsafeBytes(of: checksum.littleEndian) { Array($0) })
  }

  @Test func `the document describes a page's header and its arrays`() throws {
    var bytes = [UInt8](repeating: 0, count: Page.byteCount)
    bytes.withWritableBytes {
      let page = Page(PageBytes($0))
      page.level = 1
      page.hasSlots = false
      page.count = 2
      page.capacity = 3
      page.prefixBytes = 4
      page.heapStart = 5
      page.heapDead = 6
      page.uniform = 7
      page.arraysOffset = 8
      page.birth = 9
      page.firstHead = 10
      page.scale = 0.5
    }
    let values: [String: UInt64] = [
      "level": 1, "layout": 1, "count": 2, "capacity": 3, "prefixBytes": 4, "heapStart": 5, "heapDead": 6,
      "uniform": 7,
      "arraysOffset": 8, "birth": 9, "firstHead": 10, "scale": (0.5).bitPattern,
    ]
    try document.expect("Page header", in: bytes, has: values, but: [], byteCount: Page.headerBytes)
    let arrays = try #require(document.tables["Page arrays"])
    let inBoth = arrays.filter { $0[2] == "both" }.compactMap { Int($0[1]) }
    #expect(inBoth.reduce(0, +) == Page.leafEntryBytes)
    #expect(arrays.compactMap { Int($0[1]) }.reduce(0, +) == Page.branchEntryBytes)
  }

  @Test func `the document describes the writer record that processes share`() throws {
    let record = WriterRecord(
      identifier: StoreIdentifier(low: 1, high: 2), writer: 3, isHeld: true, isRecovering: true,
      end: LogPoint(position: LogPosition(segment: 4, offset: 5), sequence: 6, chain: 7, generation: 8),
      durable: LogPoint(
        position: LogPosition(segment: 9, offset: 10), sequence: 11, chain: 12, generation: 13),
      nextSegment: 14)
    let values: [String: UInt64] = [
      "counter": 0, "leader": 3, "state": 14 << 1 | 1, "endPosition": 4 << 32 | 5, "endSequence": 6,
      "endChain": 7, "endGeneration": 8, "durablePosition": 9 << 32 | 10, "durableSequence": 11,
      "durableChain": 12, "durableGeneration": 13, "recovering": 1,
    ]
    let bytes = record.words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
    try document.expect(
      "Processes", in: bytes, has: values, but: ["identifier", "checksum"],
      byteCount: WriterRecord.byteCount)
    var told = record
    told.counter = 1
    #expect(WriterRecord(told.words) == told)
    for index in told.words.indices {
      var words = told.words
      words[index] ^= 1 << 40
      #expect(WriterRecord(words) == nil, "word \(index)")
    }
    #expect(WriterRecord(record.words) == nil, "a record that was not counted is none")
  }

  @Test func `the document shows the bytes that the code writes`() throws {
    let files = try EngineExample.files()
    let dumps = Dictionary(document.dumps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for (name, bytes) in files.sorted(by: { $0.key < $1.key }) where bytes.contains(where: { $0 != 0 }) {
      let isShown = dumps[name]?.bytes(count: bytes.count) == bytes
      #expect(isShown, "\(name) is not what is shown, but\n\(FormatDocument.dump(bytes))")
    }
    #expect(dumps.keys.allSatisfy { files[$0] != nil })
  }

  @Test func `the document suffices to read the example`() throws {
    var files: [String: [UInt8]] = [:]
    let lengths = try EngineExample.files().mapValues(\.count)
    for dump in document.dumps { files[dump.name] = dump.bytes(count: lengths[dump.name] ?? 0) }
    try #require(files.count == 4)
    let reader = try DocumentedReader(document, files)
    #expect(try reader.log() == EngineExample.values)
    #expect(try reader.tree() == EngineExample.values)
  }

  /// The leaf of the document's example has slots, because it contains an inline value.
  @Test func `the document suffices to read a leaf without slots`() throws {
    let values = ["city": "Reykjavík, 139875 people", "code": "IS, as in Iceland"]
    let reader = try DocumentedReader(document, try EngineExample.files(values))
    #expect(try reader.log() == values)
    #expect(try reader.tree() == values)
    #expect(try reader.rootLayout() == 1)
  }
}

/// The store of the example.
enum EngineExample {
  static let values = ["city": "Reykjavík, 139875 people", "code": "IS"]

  /// Numbers whose bytes are easy to recognize.
  private final class ExampleEntropy: Entropy, @unchecked Sendable {
    private let lock = Lock()
    private var words: [UInt64] = [0x0807_0605_0403_0201, 0x1817_1615_1413_1211]
    private var salt: UInt64 = 0xA0

    func next() -> UInt64 {
      lock.withLock {
        if !words.isEmpty { return words.removeFirst() }
        salt += 1
        return salt * 0x0101_0101_0101_0101
      }
    }
  }

  private struct ExampleClock: WallClock {
    var nanosecondsSince1970: Int64 { 1_700_000_000_000_000_000 }
  }

  static func files(_ values: [String: String] = values) throws -> [String: [UInt8]] {
    let fileSystem = MemoryFileSystem()
    let options = EngineOptions(worker: InlineWorker(), clock: ExampleClock(), entropy: ExampleEntropy())
    let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    try engine.write { transaction in
      for (key, value) in values.sorted(by: { $0.key > $1.key }) {
        try transaction.put(key, Array(value.utf8))
      }
    }
    try engine.close()
    let directory = try fileSystem.openDirectory("/store")
    var files: [String: [UInt8]] = [:]
    for name in try directory.entries() {
      let file = try directory.open(name, .readOnly)
      var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
      _ = try bytes.withUnsafeMutableBytes { try file.readFully(into: $0, at: 0) }
      files[name] = bytes
    }
    return files
  }
}
