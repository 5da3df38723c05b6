import HeartwoodFiles

/// Reads the readable parts of a damaged store and writes them to a new one.
///
/// The newest tree whose root can be read determines the keys and the positions of their values. The log's
/// transactions after that tree are applied to it in order, skipping gaps. Keys that the tree has lost, and
/// keys whose value can't be read, get the newest value that the log before the tree still contains. Such a
/// value may be an older one, and a key may be there that was deleted in a lost part of the log.
struct Salvage {
  let source: SalvageSource
  let target: SalvageTarget

  /// Greatest number of checkpoints that are tried.
  private static let checkpointLimit = 16
  /// Above this many lost ranges, neighbours are merged.
  private static let rangeLimit = 20_000

  func run() throws(EngineError) -> SalvageReport {
    var report = SalvageReport()
    for loss in source.losses { report.add(loss) }
    // 1. The newest tree with a readable root.
    let checkpoint = try findCheckpoint()
    let holes = try checkpoint.map { (checkpoint) throws(EngineError) in try findHoles(checkpoint) } ?? []
    // 2. Its lost keys, from the log before it.
    let mended = try mend(holes, before: checkpoint?.record.generation ?? 0)
    for loss in mended { report.add(loss) }
    // 3. Its readable keys.
    if let checkpoint { report.keysOfTree = try copyTree(checkpoint) }
    // 4. The log after it.
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

  /// Finds the parts that the tree has lost: pages, and single values.
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

  /// Writes what the log up to a generation contains for the keys that the tree has lost.
  private func mend(_ holes: [SalvageTree.Hole], before generation: UInt64) throws(EngineError)
    -> [SalvageLoss]
  {
    guard !holes.isEmpty else { return [] }
    let target = target
    try SalvageLog(source: source) { _ in }.replay(durable: durable) {
      $0 <= generation
    } _: { (record) throws(EngineError) in
      // Deleted ranges are applied as a whole: the new store contains nothing outside the holes yet.
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

  /// Whether a key is in one of the holes, which are in ascending order.
  private static func isLost(_ key: UnsafeRawBufferPointer, _ holes: [SalvageTree.Hole]) -> Bool {
    var (low, high) = (0, holes.count)
    while low < high {
      let middle = (low + high) / 2
      // Finds the last hole that does not begin after the key.
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

  /// Records which transactions were read, to report the missing ones.
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

/// Collects holes in ascending order; adjacent lost values become one hole.
private final class Holes {
  private(set) var all: [SalvageTree.Hole] = []
  private let limit: Int
  /// Whether the last hole is of values, and no readable value was after it.
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
  /// Reads everything readable from a damaged store, even one that can't be opened, and writes it to a new
  /// store. The damaged store is not changed.
  ///
  /// The tree of the newest readable checkpoint determines the keys; the transactions after it are applied in
  /// order, skipping gaps. Keys that the tree has lost get the newest value left in the log, which may be an
  /// older one; a key may come back that was deleted in a lost part of the log. No key gets a value that it
  /// had only inside a transaction: of a partly damaged transaction, the records after the damage count. The
  /// new store has its own identifier, and its history begins after the newest generation of the damaged one.
  ///
  /// - Parameters:
  ///   - path: The folder of the damaged store. The anchor, segments, pages and parts of files may be
  ///     missing.
  ///   - newPath: A folder that is missing or empty.
  ///   - options: Options for creating the new store.
  ///   - fileSystem: The file system of the damaged store.
  ///   - newFileSystem: The file system of the new one; nil for the same.
  /// - Returns: A report on the values that were copied, and on those that could not be read.
  /// - Throws: `.notFound` if there is no folder, `.notAStore` if it contains nothing of a store, `.locked`
  ///   if the store is open, `.newerFormat`, `.exists` if the new store exists already, and errors of writing
  ///   the new store, which is then removed again.
  /// - Complexity: O(n) in the bytes of the store, some of which are read two or three times. Holds in memory
  ///   one segment of the log, a few mebibytes of changes, and the list of losses.
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
