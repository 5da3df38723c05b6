import HeartwoodBytes
import HeartwoodFiles

@testable import HeartwoodEngine

/// Opens, reads, verifies and writes a whole store some of whose fields were changed.
///
/// The first byte is a set of flags: recalculate checksums after the changes (1), read through maps (2), open for reading
/// only (4), open as untrusted (8), salvage (16). Each change takes eight bytes: the part (1), the width (1), the offset
/// (2) and the value (4).
enum StoreTarget {
  private static let store = Result { try Layout(SmallStore()) }

  static func finding(_ bytes: [UInt8]) -> String? {
    guard let mode = bytes.first else { return nil }
    do {
      var layout = try store.get()
      let changes = Array(bytes.dropFirst())
      for start in stride(from: 0, to: min(changes.count - 7, 8 * 32), by: 8) {
        layout.change(Array(changes[start..<start + 8]))
      }
      if mode & 1 != 0 { layout.seal() }
      return try use(layout.store, mode)
    } catch let error as EngineError {
      return error.message.isEmpty ? "an error without a message: \(error)" : nil
    } catch {
      return "\(error)"
    }
  }

  private static func use(_ store: SmallStore, _ mode: UInt8) throws -> String? {
    var options = SmallStore.options
    options.reading = mode & 2 != 0 ? .mapped : .buffered
    options.access = mode & 4 != 0 ? .readOnly : .readWrite
    let fileSystem = try store.mounted()
    if mode & 16 != 0 {
      _ = try Engine.salvage(
        from: SmallStore.path, to: "/new", options: SmallStore.options, fileSystem: fileSystem,
        newFileSystem: MemoryFileSystem())
      return nil
    }
    if mode & 8 != 0 { options.untrusted = EngineOptions.UntrustedLimits() }
    let engine = try Engine(at: SmallStore.path, options: options, fileSystem: fileSystem)
    if mode & 8 != 0 { return readVerified(engine) }
    defer { try? engine.close() }
    let count = try? read(engine)
    _ = try? engine.verify()
    _ = try? engine.generations()
    _ = try? engine.snapshot(at: Generation(rawValue: 1)).get("key/1001/xxxxxxx")
    guard options.access == .readWrite else { return nil }
    try change(engine)
    guard count != nil else { return nil }
    _ = try? engine.verify()
    try engine.close()
    let again = try Engine(at: SmallStore.path, options: options, fileSystem: fileSystem)
    let value = try again.snapshot().get("key/1070")
    try again.close()
    return value == [UInt8](repeating: 1, count: 20) ? nil : "what was written is not there any more"
  }

  /// Reads a store that was verified when it was opened. An error is a finding.
  private static func readVerified(_ engine: Engine) -> String? {
    defer { try? engine.close() }
    do {
      _ = try read(engine)
      return nil
    } catch { return "a store was opened as untrusted, and reading it fails: \(error)" }
  }

  private static func read(_ engine: Engine) throws -> Int {
    var count = 0
    let snapshot = try engine.snapshot()
    try snapshot.scan(.all) { key, value in
      count += key.reduce(0) { $0 &+ Int($1) } & 0 &+ value.count & 0 &+ 1
      return true
    }
    try snapshot.scan(.all, reversed: true) { _, _ in true }
    for rank in [0, 70, snapshot.count / 2, snapshot.count &- 1] { _ = try snapshot.entry(at: rank) }
    return count
  }

  private static func change(_ engine: Engine) throws {
    try engine.write { transaction in
      try transaction.put("key/1070", [UInt8](repeating: 1, count: 20))
      for number in 1020..<1050 { try transaction.put("key/\(number)/new", [UInt8](repeating: 2, count: 12)) }
      _ = try transaction.deleteRange(.prefix([UInt8]("key/109".utf8)))
      _ = try transaction.deleteRange(.prefix([UInt8]("key/12".utf8)))
    }
    try engine.checkpoint()
  }

  static var seeds: [[UInt8]] {
    var seeds: [[UInt8]] = [[0], [1], [3], [5], [9], [17]]
    for part in 0..<7 as Range<UInt8> {
      var seed: [UInt8] = [1]
      for number in 0..<4 as Range<UInt8> { seed += [part, number, number * 40, 0, number, 0, 0, 0] }
      seeds.append(seed)
      for mode in [9, 17] as [UInt8] { seeds.append([mode] + seed.dropFirst()) }
    }
    return seeds
  }
}

/// The positions of the store's structures, to change fields and recalculate checksums.
private struct Layout: Sendable {
  var store: SmallStore
  private let frames: [Int]
  private let checkpoint: Int
  private let root: Int
  /// The leaves' page indices, and the offsets of their checksums in the file of pages.
  private let leaves: [(index: Int, checksum: Int)]

  init(_ store: SmallStore) {
    self.store = store
    let log = store.files[store.log] ?? []
    var found: [Int] = []
    var offset = Format.segmentHeaderBytes
    while log.number(offset, 4) == UInt64(Format.frameMagic) {
      found.append(offset)
      offset += FrameHeader.totalBytes(payload: Int(log.number(offset + 8, 4)))
    }
    frames = found
    checkpoint = found.first { log[$0 + 4] == Format.checkpointKind } ?? Format.segmentHeaderBytes
    root = Int(log.number(checkpoint + Format.frameHeaderBytes + 8, 4))
    let pages = store.files[store.pages] ?? []
    let start = root * Format.pageBytes
    let (count, capacity) = (Int(pages.number(start + 2, 2)), Int(pages.number(start + 4, 2)))
    let arrays = start + Int(pages.number(start + 14, 2))
    leaves = (0..<count).map { entry in
      (Int(pages.number(arrays + 8 * capacity + 8 * entry, 4)), arrays + 24 * capacity + 8 * entry)
    }
  }

  mutating func change(_ bytes: [UInt8]) {
    let (file, start, count) = place(Int(bytes[0]))
    let width = 1 << Int(bytes[1] & 3)
    let offset = start + Int(bytes.number(2, 2)) % max(1, count - width + 1)
    guard offset + width <= store.files[file]?.count ?? 0 else { return }
    // The fifth bit of the width inverts the value, which makes small numbers negative.
    let value = bytes.number(4, 4) ^ (bytes[1] & 16 != 0 ? .max : 0)
    store.files[file]?.set(offset, value, width)
  }

  private func place(_ part: Int) -> (file: String, start: Int, count: Int) {
    let leaf = leaves.isEmpty ? 1 : leaves[part / 8 % leaves.count].index
    switch part % 8 {
    case 0:
      return (StoreFolder.anchorName, part & 8 == 0 ? 0 : Format.anchorBlockBytes, Format.anchorSlotBytes)
    case 1: return (part & 8 == 0 ? store.log : store.pages, 0, Format.segmentHeaderBytes)
    case 2: return (store.log, frames[part / 8 % frames.count], Format.frameHeaderBytes)
    case 3: return (store.log, checkpoint + Format.frameHeaderBytes, 112 + 64)
    case 4: return (store.log, (frames.last ?? 0) + Format.frameHeaderBytes, 400)
    case 5: return (store.pages, root * Format.pageBytes, Format.pageBytes)
    case 6: return (store.pages, leaf * Format.pageBytes, 64)
    default: return (store.pages, leaf * Format.pageBytes, Format.pageBytes)
    }
  }

  /// Recalculates all checksums, each after those that it covers.
  mutating func seal() {
    var log = store.files[store.log] ?? []
    var pages = store.files[store.pages] ?? []
    let identifier = StoreIdentifier(low: log.number(16, 8), high: log.number(24, 8))
    let logSeed = Self.sealHeader(&log, identifier)
    let pageSeed = Self.sealHeader(&pages, identifier)
    for leaf in leaves { pages.set(leaf.checksum, Self.checksum(pages, leaf.index, pageSeed), 8) }
    log.set(checkpoint + Format.frameHeaderBytes + 16, Self.checksum(pages, root, pageSeed), 8)
    let sealed = Sealing.frames(&log, from: Format.segmentHeaderBytes, seed: logSeed, keepsFields: true)
    store.files[store.log] = log
    store.files[store.pages] = pages
    sealAnchor(sealed[checkpoint] ?? 0)
  }

  private mutating func sealAnchor(_ named: UInt64) {
    var anchor = store.files[StoreFolder.anchorName] ?? []
    for slot in 0..<2 {
      let start = slot * Format.anchorBlockBytes
      if anchor.number(start + 72, 8) != 0 { anchor.set(start + 72, named, 8) }
      let seed: UInt64 = 0x4865_6172_7477_6F6F ^ UInt64(slot)
      anchor.set(start + 504, anchor.hash(start..<start + 504, seed: seed), 8)
    }
    store.files[StoreFolder.anchorName] = anchor
  }

  private static func sealHeader(_ bytes: inout [UInt8], _ identifier: StoreIdentifier) -> UInt64 {
    let number = bytes.number(32, 8)
    bytes.set(120, bytes.hash(0..<120, seed: Checksums.mix(identifier.seed, number)), 8)
    return Checksums.segmentSeed(
      store: identifier.seed, salt: bytes.number(40, 8), number: UInt32(truncatingIfNeeded: number))
  }

  private static func checksum(_ pages: [UInt8], _ index: Int, _ seed: UInt64) -> UInt64 {
    let start = index * Format.pageBytes
    guard start + Format.pageBytes <= pages.count else { return 0 }
    return pages.withBytes {
      PageSpace.checksum(Bytes($0).bytes(start, Format.pageBytes), segmentSeed: seed, index: index)
    }
  }
}
