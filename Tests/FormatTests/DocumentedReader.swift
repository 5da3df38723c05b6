import HeartwoodBytes

/// Reads a small store using only the format document: its tables for the offsets of fields, its text for the rest. Only
/// the hash functions are the code's.
struct DocumentedReader {
  struct Mistake: Error, CustomStringConvertible {
    let description: String
  }

  private let document: FormatDocument
  private let files: [String: [UInt8]]
  private let slot: FieldTable
  private let segment: FieldTable
  private let frame: FieldTable
  private let checkpoint: FieldTable
  private let page: FieldTable

  init(_ document: FormatDocument, _ files: [String: [UInt8]]) throws {
    self.document = document
    self.files = files
    func table(_ heading: String) throws -> FieldTable {
      guard let table = FieldTable(document, heading) else { throw Mistake(description: "no \(heading)") }
      return table
    }
    slot = try table("Slot")
    segment = try table("Segment header")
    frame = try table("Frame header")
    checkpoint = try table("Checkpoint")
    page = try table("Page header")
  }

  private func constant(_ name: String) -> Int {
    let row = document.tables["Constants"]?.first { $0[0] == name }
    return Int(truncatingIfNeeded: row.flatMap { UInt64(documented: $0[1]) } ?? 0)
  }

  private func check(_ condition: Bool, _ what: String) throws {
    guard condition else { throw Mistake(description: what) }
  }

  // MARK: Checksums

  private static func rotl(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }

  private static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let turned = rotl(word &* 0xC2B2_AE3D_27D4_EB4F, 31) &* 0x9E37_79B1_85EB_CA87
    return rotl(state ^ turned, 27) &* 0x9E37_79B1_85EB_CA87 &+ 0x85EB_CA77_C2B2_AE63
  }

  private static func place(_ segmentSeed: UInt64, _ offset: Int) -> UInt64 {
    segmentSeed ^ (UInt64(offset) &* 0x9E37_79B1_85EB_CA87)
  }

  private static func xxh64(_ bytes: ArraySlice<UInt8>, _ seed: UInt64) -> UInt64 {
    Array(bytes).withUnsafeBytes { XXH64.hash($0, seed: seed) }
  }

  private static func xxh3(_ bytes: ArraySlice<UInt8>, _ seed: UInt64) -> UInt64 {
    Array(bytes).withUnsafeBytes { XXH3.hash($0, seed: seed) }
  }

  // MARK: Anchor and segments

  /// The bytes of the valid slot with the higher sequence number.
  private func anchor() throws -> [UInt8] {
    let bytes = files["anchor"] ?? []
    var slots: [[UInt8]] = []
    for index in 0..<2 {
      let start = index * constant("anchorBlockBytes")
      let slot = Array(bytes[start..<start + constant("anchorSlotBytes")])
      let sum = Self.xxh64(slot[..<504], 0x4865_6172_7477_6F6F ^ UInt64(index))
      try check(self.slot.number("checksum", in: slot) == sum, "slot \(index)")
      try check(self.slot.number("sequence", in: slot) % 2 == UInt64(index), "sequence of slot \(index)")
      slots.append(slot)
    }
    let sequences = slots.map { slot.number("sequence", in: $0) }
    return sequences[0] > sequences[1] ? slots[0] : slots[1]
  }

  private func store() throws -> UInt64 { Self.xxh64(slot.bytes("identifier", in: try anchor())[...], 0) }

  private func segmentBytes(_ number: UInt64, _ kind: String) throws -> (bytes: [UInt8], seed: UInt64) {
    let bytes = files["\(FormatDocument.hexadecimal(Int(number), 16)).\(kind)"] ?? []
    try check(bytes.count >= constant("segmentHeaderBytes"), "segment \(number)")
    let store = try store()
    try check(
      segment.number("checksum", in: bytes) == Self.xxh64(bytes[..<120], Self.mix(store, number)),
      "header of segment \(number)")
    try check(segment.number("number", in: bytes) == number, "number of segment \(number)")
    return (bytes, Self.mix(Self.mix(store, segment.number("salt", in: bytes)), number))
  }

  // MARK: Log

  /// The values that the log puts, from its start to the end that the anchor states.
  func log() throws -> [String: String] {
    let anchor = try anchor()
    let (bytes, seed) = try segmentBytes(slot.number("lastLogSegment", in: anchor), "log")
    let end = Int(slot.number("provenPosition", in: anchor) & 0xFFFF_FFFF)
    try check(slot.number("state", in: anchor) == 1, "the store is not closed")
    var offset = constant("segmentHeaderBytes")
    var previous: UInt64 = 0
    var sequence: UInt64 = 1
    var values: [String: String] = [:]
    while offset < end {
      try check(frame.number("sequence", in: bytes, at: offset) == sequence, "frame at \(offset)")
      try check(frame.number("previous", in: bytes, at: offset) == previous, "chain at \(offset)")
      let payload = try framePayload(bytes, seed, offset)
      if frame.number("kind", in: bytes, at: offset) == UInt64(constant("transactionKind")) {
        for (key, value, _) in try records(bytes, seed, payload) { values[key] = value }
      }
      offset = (payload.upperBound + 7) / 8 * 8 + constant("frameTrailerBytes")
      previous = Self.number(bytes[(offset - 8)..<offset])
      sequence += 1
    }
    try check(sequence == slot.number("provenSequence", in: anchor), "the log's end")
    try check(previous == slot.number("provenChain", in: anchor), "the log's chain")
    return values
  }

  /// The range of a frame's payload. Throws if a checksum of the frame is wrong.
  private func framePayload(_ bytes: [UInt8], _ seed: UInt64, _ offset: Int) throws -> Range<Int> {
    let header = Self.xxh64(bytes[offset..<offset + 72], Self.place(seed, offset))
    try check(frame.number("checksum", in: bytes, at: offset) == header, "header of the frame at \(offset)")
    let start = offset + constant("frameHeaderBytes")
    let payload = start..<start + Int(frame.number("payloadBytes", in: bytes, at: offset))
    let trailer = (payload.upperBound + 7) / 8 * 8
    var joined: UInt64 = 0
    if frame.number("kind", in: bytes, at: offset) == UInt64(constant("transactionKind")) {
      let records = try records(bytes, seed, payload)
      try check(UInt64(records.count) == frame.number("recordCount", in: bytes, at: offset), "records")
      for record in records { joined = Self.mix(joined, record.checksum) }
    } else {
      joined = Self.xxh64(bytes[payload], header)
    }
    let sum = Self.number(bytes[trailer..<trailer + 8])
    try check(Self.mix(header, joined) == sum, "the frame at \(offset)")
    return payload
  }

  private func records(
    _ bytes: [UInt8], _ seed: UInt64, _ payload: Range<Int>
  ) throws -> [(key: String, value: String, checksum: UInt64)] {
    var records: [(key: String, value: String, checksum: UInt64)] = []
    var offset = payload.lowerBound
    while offset < payload.upperBound {
      let record = try record(bytes, seed, offset)
      records.append((record.key, record.value, record.checksum))
      offset = record.end
    }
    return records
  }

  private func record(
    _ bytes: [UInt8], _ seed: UInt64, _ offset: Int
  ) throws -> (key: String, value: String, checksum: UInt64, end: Int) {
    var place = offset + 8
    let tag = Self.varint(bytes, &place)
    let valueBytes = Self.varint(bytes, &place)
    try check(tag % 4 == constant("putOperation"), "the example only puts")
    let end = place + tag / 4 + valueBytes
    let sum = Self.number(bytes[offset..<offset + 8])
    try check(sum == Self.xxh3(bytes[(offset + 8)..<end], Self.place(seed, offset)), "record at \(offset)")
    let key = String(decoding: bytes[place..<place + tag / 4], as: UTF8.self)
    return (key, String(decoding: bytes[(place + tag / 4)..<end], as: UTF8.self), sum, end)
  }

  private static func varint(_ bytes: [UInt8], _ place: inout Int) -> Int {
    var number = 0
    var shift = 0
    while true {
      let byte = Int(bytes[place])
      place += 1
      number |= (byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  // MARK: Tree

  /// The layout of the entries in the tree's root.
  func rootLayout() throws -> UInt64 { page.number("layout", in: try root().bytes) }

  /// The newest checkpoint's root, which is the only page of its tree, with the log, its seed, and the offset of the
  /// checkpoint's payload.
  private func root() throws -> (bytes: [UInt8], log: [UInt8], seed: UInt64, checkpoint: Int) {
    let anchor = try anchor()
    let position = slot.number("checkpointPosition", in: anchor)
    let (log, seed) = try segmentBytes(position >> 32, "log")
    let start = try framePayload(log, seed, Int(position & 0xFFFF_FFFF)).lowerBound
    let root = checkpoint.number("rootReference", in: log, at: start)
    let (pages, pageSeed) = try segmentBytes(root >> 32, "pages")
    let offset = Int(root & 0xFFFF_FFFF) * constant("pageBytes")
    let bytes = Array(pages[offset..<offset + constant("pageBytes")])
    let sum = checkpoint.number("rootChecksum", in: log, at: start)
    try check(Self.xxh64(bytes[...], Self.place(pageSeed, offset)) == sum, "the root page")
    return (bytes, log, seed, start)
  }

  /// The content of the newest checkpoint's tree, which has one page.
  func tree() throws -> [String: String] {
    let (bytes, log, seed, start) = try root()
    try check(page.number("level", in: bytes) == 0, "the root is no leaf")
    let count = Int(page.number("count", in: bytes))
    try check(UInt64(count) == checkpoint.number("keyCount", in: log, at: start), "keys of the root")
    var values: [String: String] = [:]
    for index in 0..<count {
      let (key, value) = try leafEntry(index, bytes, log, seed)
      values[key] = value
    }
    return values
  }

  private func leafEntry(
    _ index: Int, _ bytes: [UInt8], _ log: [UInt8], _ seed: UInt64
  ) throws -> (key: String, value: String) {
    let capacity = Int(page.number("capacity", in: bytes))
    let prefixBytes = Int(page.number("prefixBytes", in: bytes))
    let heads = Int(page.number("arraysOffset", in: bytes))
    let references = heads + 8 * capacity
    let slots = references + 8 * capacity
    let slot = slots + 4 * index
    let hasSlots = page.number("layout", in: bytes) == 0
    let place = hasSlots ? Int(Self.number(bytes[slot..<slot + 2])) : bytes.count
    let suffix = Int(
      hasSlots ? Self.number(bytes[(slot + 2)..<(slot + 4)]) : page.number("uniform", in: bytes))
    let rest = max(0, suffix - 8)
    let key =
      Array(bytes[page.byteCount..<page.byteCount + prefixBytes])
      + bytes[(heads + 8 * index)..<(heads + 8 * index + 8)].reversed().prefix(suffix)
      + Array(bytes[place..<place + rest])
    let reference = Self.number(bytes[(references + 8 * index)..<(references + 8 * index + 8)])
    if reference >> 63 == 1 {
      let value = bytes[(place + rest)..<(place + rest + Int(reference & 0xFF))]
      return (String(decoding: key, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }
    let record = try record(log, seed, Int(reference & 0xFFFF_FFFF))
    try check(Array(record.key.utf8) == key, "the record's key")
    return (record.key, record.value)
  }
}
