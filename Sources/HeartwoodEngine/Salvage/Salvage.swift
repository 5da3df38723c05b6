import HeartwoodFiles

/// Reads what can be read of a damaged store, and puts it into a new one.
///
/// What wins: the newest tree whose root can be read says which keys there are, and where their values lie; the
/// transactions of the log behind it are applied to that, in the log's order, over whatever is missing between them.
/// Keys that the tree has lost, and keys whose value cannot be read, have the newest value that the log before the
/// tree still has for them. Such a value may be an older one, and a key may be there that was deleted in a part of the log
/// that is gone.
struct Salvage {
  let source: SalvageSource
  let target: SalvageTarget

  /// How many checkpoints are tried.
  private static let checkpointLimit = 16
  /// More ranges are joined with their neighbours.
  private static let rangeLimit = 20_000

  func run() throws(EngineError) -> SalvageReport {
    var report = SalvageReport()
    for loss in source.losses { report.add(loss) }
    // 1. The newest tree that has a root.
    let checkpoint = try findCheckpoint()
    let holes = try checkpoint.map { (checkpoint) throws(EngineError) in try findHoles(checkpoint) } ?? []
    // 2. What it has lost, from the log before it.
    let mended = try mend(holes, before: checkpoint?.record.generation ?? 0)
    for loss in mended { report.add(loss) }
    // 3. What it has.
    if let checkpoint { report.keysOfTree = try copyTree(checkpoint) }
    // 4. The log behind it.
    try applyLog(behind: checkpoint?.record.generation ?? 0, &report)
    for loss in source.readFailures { report.add(loss) }
    report.keys = try target.engine.snapshot().count
    return report
  }

  private var durable: UInt64 { source.durableGeneration }

  // MARK: The tree

  private func findCheckpoint() throws(EngineError) -> NamedCheckpoint? {
    for slot in source.slots {
      if let named = try named(by: slot), isUsable(named) { return named }
    }
    let log = SalvageLog(source: source) { _ in }
    return try log.checkpoints(limit: Self.checkpointLimit).first { isUsable($0) }
  }

  private func named(by slot: AnchorSlot) throws(EngineError) -> NamedCheckpoint? {
    guard let position = slot.checkpoint,
      let found = source.logs.first(where: { $0.header.number == position.segment }),
      let segment = try source.open(found),
      let frame = try FrameScanner(segment).frame(at: position.offset),
      frame.checksum == slot.checkpointChecksum
    else { return nil }
    return NamedCheckpoint(frame)
  }

  private func isUsable(_ checkpoint: NamedCheckpoint) -> Bool {
    SalvageTree(
      source, checkpoint.root, visit: { (_, _) throws(EngineError) in }, miss: { (_) throws(EngineError) in }
    ).isUsable
  }

  /// What the tree has lost: pages, and single values.
  private func findHoles(_ checkpoint: NamedCheckpoint) throws(EngineError) -> [SalvageTree.Hole] {
    let holes = Holes(limit: Self.rangeLimit)
    let values = SalvageValues(source)
    let folder = source.folder
    try SalvageTree(source, checkpoint.root) { (key, entry) throws(EngineError) in
      guard case .position(let reference) = entry,
        try !values.read(reference, of: key, { (_) throws(EngineError) in })
      else { return holes.noteReadable() }
      holes.addValue(
        key, validationError: "a value cannot be read",
        file: folder.path(of: SegmentName.log(reference.segment)),
        offset: Int(reference.offset))
    } miss: { (hole) throws(EngineError) in
      holes.add(hole)
    }
    .walk()
    return holes.all
  }

  private func copyTree(_ checkpoint: NamedCheckpoint) throws(EngineError) -> UInt64 {
    let values = SalvageValues(source)
    let target = target
    var count: UInt64 = 0
    try withExtendedLifetime(values) { () throws(EngineError) in
      let counter = Counter()
      try SalvageTree(source, checkpoint.root) { (key, entry) throws(EngineError) in
        switch entry {
        case .inline(let value):
          try target.put(key, value)
          counter.value += 1
        case .position(let reference):
          let isRead = try values.read(reference, of: key) { (value) throws(EngineError) in
            try target.put(key, value)
          }
          if isRead { counter.value += 1 }
        }
      } miss: { (_) throws(EngineError) in
      }
      .walk()
      count = counter.value
    }
    try target.flush()
    return count
  }

  private final class Counter {
    var value: UInt64 = 0
  }

  // MARK: The log

  /// Puts what the log up to a generation has for the keys that the tree has lost.
  private func mend(_ holes: [SalvageTree.Hole], before generation: UInt64) throws(EngineError)
    -> [SalvageLoss]
  {
    guard !holes.isEmpty else { return [] }
    let target = target
    try SalvageLog(source: source) { _ in }.replay(durable: durable) {
      $0 <= generation
    } _: { (record) throws(EngineError) in
      // Ranges that were deleted hold nothing else yet.
      guard record.operation == Format.deleteRangeOperation || Self.isLost(record.key, holes) else { return }
      try target.apply(record)
    } end: { (_) throws(EngineError) in
    }
    try target.flush()
    var losses: [SalvageLoss] = []
    for hole in holes {
      var loss = SalvageLoss(
        hole.validationError, file: hole.file, offset: hole.offset, keys: hole.keys, expectedKeys: hole.count)
      loss.foundKeys = try target.count(in: hole.keys)
      losses.append(loss)
    }
    return losses
  }

  /// Whether a key lies in one of the holes, which lie in the order of the keys.
  private static func isLost(_ key: UnsafeRawBufferPointer, _ holes: [SalvageTree.Hole]) -> Bool {
    var (low, high) = (0, holes.count)
    while low < high {
      let middle = (low + high) / 2
      // The last one that does not begin behind the key.
      if let from = holes[middle].keys.lower?.key, key.lexicographicallyPrecedes(from) {
        high = middle
      } else {
        low = middle + 1
      }
    }
    guard low > 0 else { return false }
    guard let upper = holes[low - 1].keys.upper else { return true }
    if upper.isInclusive, upper.key.elementsEqual(key) { return true }
    return key.lexicographicallyPrecedes(upper.key)
  }

  private func applyLog(behind generation: UInt64, _ report: inout SalvageReport) throws(EngineError) {
    let course = Course(expected: generation &+ 1)
    let target = target
    let log = SalvageLog(source: source) { course.losses.append($0) }
    try log.replay(durable: durable) {
      $0 > generation
    } _: { (record) throws(EngineError) in
      try target.apply(record)
    } end: { (number) throws(EngineError) in
      course.note(number)
    }
    course.end(durable: durable)
    try target.flush()
    for loss in course.losses { report.add(loss) }
    report.transactions = course.count
    report.generation = Generation(rawValue: course.expected &- 1)
  }

  /// Which transactions were met.
  private final class Course {
    private(set) var expected: UInt64
    private(set) var count = 0
    var losses: [SalvageLoss] = []

    init(expected: UInt64) { self.expected = expected }

    func note(_ number: UInt64) {
      count += 1
      guard number >= expected else { return }
      miss(upTo: number)
      expected = number &+ 1
    }

    func end(durable: UInt64) {
      if durable >= expected { miss(upTo: durable &+ 1) }
    }

    private func miss(upTo number: UInt64) {
      guard number > expected else { return }
      losses.append(
        SalvageLoss("part of the log cannot be read or is missing", generations: expected...number - 1))
    }
  }
}

/// Gathers holes in the order of the keys; values that lie beside each other are one.
private final class Holes {
  private(set) var all: [SalvageTree.Hole] = []
  private let limit: Int
  /// Whether the last hole is of values, and nothing was readable behind it.
  private var isOpen = false

  init(limit: Int) { self.limit = limit }

  func noteReadable() { isOpen = false }

  func addValue(_ key: UnsafeRawBufferPointer, validationError: String, file: String, offset: Int) {
    let bytes = Array(key)
    let hole = SalvageTree.Hole(
      validationError: validationError, file: file, offset: offset,
      keys: KeyRange(from: bytes, through: bytes), count: 1)
    if isOpen || all.count >= limit { append(hole) } else { all.append(hole) }
    isOpen = true
  }

  func add(_ hole: SalvageTree.Hole) {
    isOpen = false
    if all.count >= limit { append(hole) } else { all.append(hole) }
  }

  private func append(_ hole: SalvageTree.Hole) {
    guard let last = all.popLast() else { return all.append(hole) }
    all.append(
      SalvageTree.Hole(
        validationError: last.count > 1 || last.validationError != hole.validationError
          ? last.validationError : "values cannot be read", file: last.file,
        offset: last.offset, keys: KeyRange(lower: last.keys.lower, upper: hole.keys.upper),
        count: last.count &+ hole.count))
  }
}

extension Engine {
  /// Reads everything that can still be read of a store that is damaged, also of one that can't be opened, and puts it
  /// into a new store. Nothing is written to the damaged one.
  ///
  /// The tree of the newest checkpoint that can be found says which keys there are; the transactions behind it are applied
  /// in their order, over what is missing between them. Keys that the tree has lost have the newest value that is
  /// left in the log, which may be an older one; a key may come back that was deleted in a part of the log that is gone. No key
  /// gets a value that it had only within a transaction: of one that is damaged in part, what lies behind the damage counts.
  /// The new store has an identifier of its own, and a history that begins behind the newest generation of the damaged one.
  ///
  /// - Parameters:
  ///   - path: The folder of the damaged store. The anchor, segments, pages and parts of files may be missing.
  ///   - newPath: A folder that is missing or empty.
  ///   - options: How the new store is made.
  ///   - fileSystem: Where the damaged store is.
  ///   - newFileSystem: Where the new one is to be; nil for the same.
  /// - Returns: What was brought over, and what could not be read.
  /// - Throws: `.notFound` where there is no folder, `.notAStore` where nothing of a store is in it, `.locked` where it is open,
  ///   `.newerFormat`, `.exists` where the new one is there already, and what writing the new store throws; it is taken away
  ///   again then.
  /// - Complexity: O(n) in the bytes of the store, some of which are read twice or three times; holds in memory one segment of
  ///   the log, a few mebibytes of changes, and what is lost.
  @discardableResult
  public static func salvage(
    from path: String, to newPath: String, options: EngineOptions = EngineOptions(),
    fileSystem: any FileSystem = PosixFileSystem(), newFileSystem: (any FileSystem)? = nil
  ) throws(EngineError) -> SalvageReport {
    let source = try SalvageSource(path, fileSystem)
    defer { source.close() }
    try source.findSegments()
    let target = try SalvageTarget(
      newPath, options, newFileSystem ?? fileSystem, after: try source.newestGeneration())
    do throws(EngineError) {
      let report = try Salvage(source: source, target: target).run()
      try target.engine.close()
      return report
    } catch {
      target.discard()
      throw error
    }
  }
}
