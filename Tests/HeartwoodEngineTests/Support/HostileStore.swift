import HeartwoodBytes
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// A store whose bytes were changed with knowledge of the format: every checksum is valid.
struct HostileStore {
  private(set) var files: StoreFiles
  private let layout: Layout

  /// Positions in the store before any change.
  private struct Layout {
    var log: String
    var pages: String
    var slot: Int
    /// Where the frames begin.
    var frames: [Int] = []
    var checkpoint = 0
    var root = 0
    /// The indices of the leaves, and the positions of their checksums in the root page.
    var leaves: [(index: Int, checksum: Int)] = []
  }

  /// Two levels of pages, a checkpoint, and a transaction after it.
  init() throws {
    let fileSystem = MemoryFileSystem()
    let engine = try Engine(
      at: StoreFiles.path, options: StoreKind.memoryBuffered.options, fileSystem: fileSystem)
    var random = SplitMix64(seed: 21)
    try engine.write { transaction in
      for number in 0..<300 {
        let key = [UInt8]("key/\(1000 + number)/".utf8) + random.bytes(number % 40)
        try transaction.put(key, random.bytes(number % 50))
      }
    }
    try engine.checkpoint()
    try engine.write { transaction in
      for number in 0..<6 { try transaction.put("more/\(number)", random.bytes(30)) }
      _ = try transaction.deleteRange(.prefix([UInt8]("key/11".utf8)))
      try transaction.delete("more/3")
    }
    files = try StoreFiles(fileSystem)
    layout = try Self.layout(of: files)
    try engine.close()
    try #require(layout.leaves.count > 2 && layout.frames.count == 3)
  }

  private static func layout(of files: StoreFiles) throws -> Layout {
    let anchor = try #require(files.files[StoreFolder.anchorName])
    var slots: [AnchorSlot?] = []
    for index in 0..<2 {
      let block = anchor[(index * Format.anchorBlockBytes)...].prefix(Format.anchorSlotBytes)
      guard case .valid(let slot) = Array(block).withUnsafeBytes({ AnchorSlot.decode($0, slot: index) })
      else {
        slots.append(nil)
        continue
      }
      slots.append(slot)
    }
    let newest = (slots[0]?.sequence ?? 0) > (slots[1]?.sequence ?? 0) ? 0 : 1
    let slot = try #require(slots[newest])
    let position = try #require(slot.checkpoint)
    var layout = Layout(log: SegmentName.log(position.segment), pages: "", slot: newest)
    layout.checkpoint = position.offset
    let log = try #require(files.files[layout.log])
    var offset = Format.segmentHeaderBytes
    while log.number32(offset) == Format.frameMagic {
      layout.frames.append(offset)
      offset += FrameHeader.totalBytes(payload: Int(log.number32(offset + 8)))
    }
    let root = PageReference(rawValue: log.number64(position.offset + Format.frameHeaderBytes + 8))
    layout.pages = SegmentName.pages(root.segment)
    layout.root = Int(root.index)
    let pages = try #require(files.files[layout.pages])
    let start = layout.root * Format.pageBytes
    let (count, capacity) = (Int(pages.number16(start + 2)), Int(pages.number16(start + 4)))
    let arrays = Int(pages.number16(start + 14))
    for entry in 0..<count {
      let child = PageReference(rawValue: pages.number64(start + arrays + 8 * capacity + 8 * entry))
      layout.leaves.append((Int(child.index), start + arrays + 24 * capacity + 8 * entry))
    }
    return layout
  }

  // MARK: Changing

  /// Changes one field somewhere, and returns which.
  mutating func change(_ random: inout SplitMix64) -> String {
    let (file, start, count) = place(&random)
    let width = [1, 2, 4, 8][random.below(4)]
    let offset = start + random.below(max(1, count / width)) * width
    let value = Self.value(&random)
    guard let size = files.files[file]?.count, offset + width <= size else { return "nothing" }
    for byte in 0..<width {
      files.files[file]?[offset + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))
    }
    return "\(file) at \(offset): \(width) bytes of \(value)"
  }

  private func place(_ random: inout SplitMix64) -> (file: String, start: Int, count: Int) {
    let leaf = layout.leaves[random.below(layout.leaves.count)].index * Format.pageBytes
    switch random.below(8) {
    case 0: return (StoreFolder.anchorName, layout.slot * Format.anchorBlockBytes + 8, 128)
    case 1: return (random.below(2) == 0 ? layout.log : layout.pages, 8, 96)
    case 2: return (layout.log, layout.frames[random.below(3)], Format.frameHeaderBytes)
    case 3: return (layout.log, layout.checkpoint + Format.frameHeaderBytes, 112 + 64)
    case 4: return (layout.log, layout.frames[2] + Format.frameHeaderBytes, 300)
    case 5: return (layout.pages, layout.root * Format.pageBytes, random.below(2) == 0 ? 64 : 4096)
    case 6: return (layout.pages, leaf, 64)
    default: return (layout.pages, leaf, 4096)
    }
  }

  private static func value(_ random: inout SplitMix64) -> UInt64 {
    switch random.below(6) {
    case 0: 0
    case 1: .max
    case 2: 1 << UInt64(random.below(64))
    case 3: UInt64(random.below(5000))
    case 4: UInt64(random.below(3)) << 32 | UInt64(random.below(5))
    default: random.next()
    }
  }

  // MARK: Sealing

  /// Recomputes all checksums, from the inside out.
  mutating func seal() {
    var all = files.files
    var log = all[layout.log] ?? []
    var pages = all[layout.pages] ?? []
    let identifier = StoreIdentifier(low: log.number64(16), high: log.number64(24))
    let (logSeed, pageSeed) = (Self.sealHeader(&log, identifier), Self.sealHeader(&pages, identifier))
    func checksum(ofPage index: Int) -> UInt64 {
      let bytes = Array(pages[(index * Format.pageBytes)...].prefix(Format.pageBytes))
      return bytes.withBytes { PageSpace.checksum(Bytes($0), segmentSeed: pageSeed, index: index) }
    }
    for leaf in layout.leaves { pages.set64(leaf.checksum, checksum(ofPage: leaf.index)) }
    log.set64(layout.checkpoint + Format.frameHeaderBytes + 16, checksum(ofPage: layout.root))
    var previous: UInt64 = 0
    var named: UInt64 = 0
    for frame in layout.frames {
      log.set64(frame + 32, previous)
      previous = Self.sealFrame(&log, at: frame, logSeed)
      if frame == layout.checkpoint { named = previous }
    }
    all[layout.log] = log
    all[layout.pages] = pages
    files.files = all
    files.setAnchorField(slot: layout.slot, 72, UInt32(truncatingIfNeeded: named))
    files.setAnchorField(slot: layout.slot, 76, UInt32(truncatingIfNeeded: named >> 32))
  }

  private static func sealHeader(_ bytes: inout [UInt8], _ identifier: StoreIdentifier) -> UInt64 {
    let number = bytes.number64(32)
    let sum = bytes.prefix(120).hash(Checksums.mix(identifier.seed, number))
    bytes.set64(120, sum)
    let salt = bytes.number64(40)
    return Checksums.segmentSeed(
      store: identifier.seed, salt: salt, number: UInt32(truncatingIfNeeded: number))
  }

  private static func sealFrame(_ log: inout [UInt8], at frame: Int, _ seed: UInt64) -> UInt64 {
    let payload = Int(log.number32(frame + 8))
    let total = FrameHeader.totalBytes(payload: payload)
    let start = frame + Format.frameHeaderBytes
    let isWhole = frame + total <= log.count
    let isTransaction = log[frame + 4] == Format.transactionKind
    let joined = isWhole && isTransaction ? sealRecords(&log, start..<start + payload, seed) : 0
    let header = log[frame..<frame + 72].hash(Checksums.seed(seed, at: frame))
    log.set64(frame + 72, header)
    guard isWhole else { return 0 }
    let body = isTransaction ? joined : log[start..<start + payload].hash(header)
    let sum = Checksums.mix(header, body)
    log.set64(frame + total - Format.frameTrailerBytes, sum)
    return sum
  }

  private static func sealRecords(_ log: inout [UInt8], _ payload: Range<Int>, _ seed: UInt64) -> UInt64 {
    var records = Array(log[payload])
    var joined: UInt64 = 0
    records.withWritableBytes { buffer in
      var iterator = RecordIterator(buffer.bytes, firstOffset: payload.lowerBound)
      while let (record, offset) = iterator.next() {
        let sum = XXH3.hash(record.bytes.bytes(from: 8).buffer, seed: Checksums.seed(seed, at: offset))
        buffer.setField(offset - payload.lowerBound, sum)
        joined = Checksums.mix(joined, sum)
      }
    }
    log.replaceSubrange(payload, with: records)
    return joined
  }
}

extension [UInt8] {
  fileprivate func number16(_ offset: Int) -> UInt16 { UInt16(truncatingIfNeeded: number64(offset)) }
  fileprivate func number32(_ offset: Int) -> UInt32 { UInt32(truncatingIfNeeded: number64(offset)) }

  fileprivate func number64(_ offset: Int) -> UInt64 {
    self[offset...].prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  fileprivate mutating func set64(_ offset: Int, _ value: UInt64) {
    for byte in 0..<8 { self[offset + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte)) }
  }
}

extension ArraySlice<UInt8> {
  fileprivate func hash(_ seed: UInt64) -> UInt64 {
    withUnsafeBytes { XXH64.hash($0, seed: seed) }
  }
}
