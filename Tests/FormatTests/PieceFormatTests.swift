import Testing

@testable import HeartwoodEngine

/// Checks that the document of shipped pieces agrees with the engine.
@Suite struct `The document of shipped pieces` {
  private let document: FormatDocument

  init() throws {
    document = try FormatDocument(at: "Sources/HeartwoodEngine/Documentation.docc/ShippedFormat.md")
  }

  @Test func `the document has every constant of the code`() throws {
    let rows = try #require(document.tables["Constants"])
    let documented = Dictionary(rows.map { ($0[0], UInt64(documented: $0[1])) }, uniquingKeysWith: { $1 })
    let constants: [String: UInt64] = [
      "version": UInt64(PieceFormat.version), "minimumReader": UInt64(PieceFormat.minimumReader),
      "newestVersion": UInt64(PieceFormat.newestVersion),
      "magic": PieceFormat.magic, "headerBytes": UInt64(PieceFormat.headerBytes),
      "entryBytes": UInt64(PieceFormat.entryBytes), "pieceKind": UInt64(PieceFormat.pieceKind),
      "baseKind": UInt64(PieceFormat.baseKind), "chunkBytes": UInt64(PieceFormat.chunkBytes),
      "checksumSeed": PieceFormat.checksumSeed, "markMagic": PieceFormat.markMagic,
      "markBytes": UInt64(PieceFormat.markBytes),
    ]
    #expect(documented == constants.mapValues(Optional.some))
  }

  @Test func `the document has the names of the files`() {
    let names = document.tables["Names"]?.map { $0[0] } ?? []
    #expect(names.prefix(2) == [PieceName(1, isBase: true).text, PieceName(2, isBase: false).text])
  }

  private static let header = PieceHeader(
    identifier: StoreIdentifier(low: 1, high: 2), lineage: Lineage(low: 3, high: 4), number: 5, previous: 6,
    created: 7, content: StoreContent("graph"), nextSegment: 8,
    checkpoint: LogPosition(segment: 9, offset: 10), checkpointChecksum: 11,
    start: LogPoint(position: LogPosition(segment: 12, offset: 13), sequence: 14, chain: 15, generation: 16),
    end: LogPoint(position: LogPosition(segment: 17, offset: 18), sequence: 19, chain: 20, generation: 21),
    earliestTime: 22, latestTime: 23, shipped: 24,
    segments: [.init(number: 17, isLog: true, extent: 18, chain: 25)],
    parts: [.init(number: 17, isLog: true, offset: 6, count: 12, checksum: 26)])

  @Test(arguments: [false, true]) func `the document describes a piece`(hasFeature: Bool) throws {
    var header = Self.header
    header.features = hasFeature ? [.compressedValues] : []
    let version: UInt64 = hasFeature ? 2 : 1
    let (bytes, checksum) = header.encoded()
    let values: [String: UInt64] = [
      "magic": PieceFormat.magic, "version": version, "minimumReader": version, "identifier": 1, "lineage": 3,
      "features": hasFeature ? 1 : 0,
      "number": 5,
      "previous": 6, "kind": 1, "segmentCount": 1, "partCount": 1, "created": 7, "content": 0x68_7061_7267,
      "nextSegment": 8, "checkpointPosition": 9 << 32 | 10, "checkpointChecksum": 11,
      "startPosition": 12 << 32 | 13, "startSequence": 14, "startChain": 15, "startGeneration": 16,
      "endPosition": 17 << 32 | 18, "endSequence": 19, "endChain": 20, "endGeneration": 21,
      "earliestTime": 22, "latestTime": 23, "shipped": 24, "checksum": checksum,
    ]
    try document.expect(
      "Piece header", in: Array(bytes[..<256]), has: values, but: [], byteCount: PieceFormat.headerBytes)
    try document.expect(
      "Part", in: Array(bytes[288...]),
      has: ["number": 17, "kind": 1, "offset": 6, "count": 12, "checksum": 26], but: [],
      byteCount: PieceFormat.entryBytes)
    guard case .valid(let read, _) = PieceHeader.decode(bytes) else {
      Issue.record("the header is not read as it was written")
      return
    }
    #expect(read == header)
  }

  @Test func `the document describes a mark`() throws {
    let mark = ShippingMark(
      identifier: StoreIdentifier(low: 1, high: 2), lineage: Lineage(low: 3, high: 4), number: 5,
      pieceChecksum: 6)
    try document.expect(
      "Mark", in: mark.encoded(),
      has: [
        "magic": PieceFormat.markMagic, "version": 1, "identifier": 1, "lineage": 3, "number": 5,
        "pieceChecksum": 6,
      ], but: ["checksum"], byteCount: PieceFormat.markBytes)
  }
}
