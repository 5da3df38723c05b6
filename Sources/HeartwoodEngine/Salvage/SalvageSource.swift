import HeartwoodFiles

/// The folder of a damaged store, with every segment of which anything may be readable. Nothing in it is
/// changed.
final class SalvageSource {
  /// A segment according to its header; if that is damaged, to its file name and the salt in the header.
  struct Segment {
    let header: SegmentHeader
    let name: String
    let size: Int
    /// Whether the whole header is valid, not just its salt.
    let isSound: Bool
  }

  let folder: StoreFolder
  let identifier: StoreIdentifier
  /// The valid slots of the anchor, the newer one first.
  let slots: [AnchorSlot]
  /// The log segments in the order of their numbers, which is the log's order.
  private(set) var logs: [Segment] = []
  private(set) var pages: [UInt32: Segment] = [:]
  private(set) var losses: [SalvageLoss] = []
  private let unreadable = Guarded<[SalvageLoss]>([])

  private static let unreadableLimit = 1000

  init(_ path: String, _ fileSystem: any FileSystem) throws(EngineError) {
    folder = try StoreFolder.openDamaged(path, fileSystem: fileSystem)
    do throws(EngineError) {
      slots = try Self.readAnchor(folder, &losses)
      let names = try folder.entries().filter { SegmentName.parse($0) != nil }
      guard let known = slots.first?.identifier ?? Self.commonIdentifier(of: names, in: folder) else {
        throw EngineError(.notAStore, "this folder contains nothing of a store", file: path)
      }
      identifier = known
    } catch {
      folder.close()
      throw error
    }
  }

  /// Finds the segments.
  func findSegments() throws(EngineError) {
    for name in try folder.entries() {
      guard let (number, isLog) = SegmentName.parse(name) else { continue }
      guard let segment = examine(name, number, isLog: isLog) else { continue }
      if isLog { logs.append(segment) } else { pages[number] = segment }
    }
    logs.sort { $0.header.number < $1.header.number }
    noteLostLastFile()
  }

  /// Reports a missing last segment. The anchor names a segment only once its header is durable. If all that
  /// the other files prove is before this segment, nothing else shows that it is missing.
  private func noteLostLastFile() {
    guard let last = slots.first?.lastLogSegment, !logs.contains(where: { $0.header.number == last }) else {
      return
    }
    losses.append(
      SalvageLoss(
        "the last file of the log, which the anchor names, is missing or empty; transactions may be lost",
        file: folder.path(of: SegmentName.log(last))))
  }

  func close() { folder.close() }

  /// The newest generation that the anchor states to be durable.
  var durableGeneration: UInt64 { slots.map(\.knownDurable.generation).max() ?? 0 }

  /// The newest generation that anything in the folder mentions.
  func newestGeneration() throws(EngineError) -> UInt64 {
    var newest = durableGeneration
    try SalvageLog(source: self) { _ in }.forEachFrame { (frame) throws(EngineError) in
      newest = max(newest, frame.header.transaction)
    }
    return min(newest, Self.generationLimit)
  }

  /// Greater numbers are damage: no store reaches them.
  private static let generationLimit: UInt64 = 1 << 62

  /// The read errors so far.
  var readFailures: [SalvageLoss] { unreadable.withLock { $0 } }

  // MARK: Files

  /// Opens a file of the store for reading; nil if that fails.
  func open(_ name: String) -> TolerantFile? {
    guard let file = try? folder.directory.open(name, .readOnly) else { return nil }
    let path = folder.path(of: name)
    return TolerantFile(file) { [unreadable] offset in
      unreadable.withLock { losses in
        guard losses.count < Self.unreadableLimit else { return }
        losses.append(SalvageLoss("the disk could not read the file", file: path, offset: Int(offset)))
      }
    }
  }

  /// Opens a log segment with its bytes. The caller frees both by releasing the segment.
  func open(_ segment: Segment) throws(EngineError) -> LogSegment? {
    guard let file = open(segment.name) else { return nil }
    return try LogSegment(
      header: segment.header, file: file, path: folder.path(of: segment.name), limit: segment.size,
      capacity: segment.size, reading: .buffered)
  }

  // MARK: Headers

  private static func readAnchor(
    _ folder: StoreFolder, _ losses: inout [SalvageLoss]
  ) throws(EngineError) -> [AnchorSlot] {
    let path = folder.path(of: StoreFolder.anchorName)
    do {
      let (anchor, contents) = try AnchorFile.open(folder, access: .readOnly, syncs: false)
      anchor.close()
      if contents.isIncomplete { losses.append(SalvageLoss("one slot of the anchor is damaged", file: path)) }
      return [contents.slot] + (contents.older.map { [$0] } ?? [])
    } catch {
      guard error.code != .newerFormat else { throw error }
      losses.append(SalvageLoss("the anchor is missing or damaged", file: path))
      return []
    }
  }

  /// The identifier that most of the headers contain.
  private static func commonIdentifier(of names: [String], in folder: StoreFolder) -> StoreIdentifier? {
    var counts: [StoreIdentifier: Int] = [:]
    for name in names {
      guard let bytes = header(of: name, in: folder), let (number, isLog) = SegmentName.parse(name),
        let header = decode(bytes, number, isLog: isLog, identifier: nil)
      else { continue }
      counts[header.identifier, default: 0] += 1
    }
    return counts.max { ($0.value, $0.key.low) < ($1.value, $1.key.low) }?.key
  }

  private static func header(of name: String, in folder: StoreFolder) -> [UInt8]? {
    guard let file = try? folder.directory.open(name, .readOnly) else { return nil }
    defer { try? file.close() }
    let bytes = try? StoreFolder.read(file, at: 0, count: Format.segmentHeaderBytes, path: name)
    return bytes?.count == Format.segmentHeaderBytes ? bytes : nil
  }

  private static func decode(
    _ bytes: [UInt8], _ number: UInt32, isLog: Bool, identifier: StoreIdentifier?
  ) -> SegmentHeader? {
    bytes.withBytes {
      SegmentHeader.decode(
        $0, magic: isLog ? Format.logSegmentMagic : Format.pageSegmentMagic, number: number,
        identifier: identifier)
    }
  }

  private func examine(_ name: String, _ number: UInt32, isLog: Bool) -> Segment? {
    let path = folder.path(of: name)
    guard let file = open(name), let size = try? Int(file.size()),
      let bytes = try? StoreFolder.read(file, at: 0, count: Format.segmentHeaderBytes, path: path)
    else {
      losses.append(SalvageLoss("the file could not be opened", file: path))
      return nil
    }
    try? file.close()
    let limit = min(size, Format.segmentLimit)
    if let header = Self.decode(bytes, number, isLog: isLog, identifier: identifier) {
      return Segment(header: header, name: name, size: limit, isSound: true)
    }
    guard bytes.count == Format.segmentHeaderBytes else {
      // A file that was just begun when the machine crashed.
      if size > 0 { losses.append(SalvageLoss("the file ends in its header", file: path)) }
      return nil
    }
    if Self.decode(bytes, number, isLog: isLog, identifier: nil) != nil {
      losses.append(SalvageLoss("the file belongs to another store", file: path))
      return nil
    }
    guard bytes.contains(where: { $0 != 0 }) else { return nil }
    losses.append(SalvageLoss("the segment's header is damaged", file: path, offset: 0))
    return Segment(header: headerBySalt(bytes, number), name: name, size: limit, isSound: false)
  }

  /// The salt may be intact although the header is not: then the checksums of the segment's frames prove it.
  private func headerBySalt(_ bytes: [UInt8], _ number: UInt32) -> SegmentHeader {
    let salt = bytes.count >= 48 ? bytes.withBytes { $0.field64(40) } : 0
    return SegmentHeader(
      identifier: identifier, number: number, salt: salt, predecessor: nil, copiedThrough: 0,
      durableThrough: 0)
  }
}
