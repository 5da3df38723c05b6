import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// Checks the invariants of every store after a crash, whatever its workload, against a reference model.
struct StoreChecker {
  let promise: ReferenceModel.Promise
  /// One of this many older generations is checked.
  var everyGeneration = 1

  init(promise: ReferenceModel.Promise) { self.promise = promise }

  /// Opens the store of a disk, checks all of it against `promise`, writes to it, and reopens it.
  ///
  /// - Returns: The generation that was found.
  @discardableResult
  func check(_ disk: any FileSystem, options: EngineOptions = Session.options) throws -> Int {
    let shown = try lookWithoutWriting(disk, options)
    let found = try open(disk, options) { engine in
      let found = try contents(of: engine)
      try require(
        shown == nil || shown == found,
        "read only it is of generation \(shown ?? 0), and of \(found) when it was opened for writing")
      return found
    }
    try findNothingToRecover(disk, options, generation: found)
    try checkBackup(on: disk, options)
    try goOn(disk, options, from: found)
    try lookForRemains(disk, Session.path)
    try backUpAgain(disk, options, of: found + 1)
    return found
  }

  /// Checks that opening read-only shows a complete state and changes no byte. Transactions that are not
  /// proven durable are counted, not shown. Returns the generation that includes them; nil if there is no
  /// readable store.
  private func lookWithoutWriting(_ disk: any FileSystem, _ options: EngineOptions) throws -> Int? {
    let simulated = (disk as? FaultInjectingFileSystem)?.disk ?? disk as? SimulatedFileSystem
    let before = simulated?.digest
    var reading = options
    reading.access = .readOnly
    guard let engine = try reader(of: disk, reading) else { return nil }
    let generation = Int(engine.newestGeneration.rawValue)
    let rows = try Session.rows(of: engine)
    try require(
      promise.generations.indices.contains(generation) && promise.generations[generation] == rows,
      "read only it shows \(rows.summary) as generation \(generation)")
    let hidden = try engine.statistics().unrecoveredTransactions
    try engine.close()
    try require(before == simulated?.digest, "opened to read only, the store has changed")
    return generation + hidden
  }

  private func reader(of disk: any FileSystem, _ options: EngineOptions) throws -> Engine? {
    do {
      return try Engine(at: Session.path, options: options, fileSystem: disk)
    } catch {
      guard error.code == .notAStore || error.code == .notFound else { throw error }
      try require(promise.durable == 0, "opened read-only: \(error)")
      return nil
    }
  }

  private func open<Result>(
    _ disk: any FileSystem, _ options: EngineOptions, _ body: (Engine) throws -> Result
  ) throws -> Result {
    let engine = try Engine(at: Session.path, options: options, fileSystem: disk)
    let result = try body(engine)
    try engine.close()
    return result
  }

  /// Checks that the newest generation is allowed by the promise, and that all older generations are
  /// complete.
  private func contents(of engine: Engine) throws -> Int {
    let generation = Int(engine.newestGeneration.rawValue)
    let rows = try Session.rows(of: engine)
    try require(
      generation >= promise.durable && generation < promise.generations.count
        && promise.generations[generation] == rows,
      "found generation \(generation) with \(rows.summary); possible are \(promise.summary)")
    try verify(engine)
    let records = try engine.generations()
    let numbers = records.map { Int($0.generation.rawValue) }
    // The frames of the oldest generations may be in segments that were reclaimed.
    try require(
      numbers == Array((generation - numbers.count + 1)..<(generation + 1)),
      "at generation \(generation) the store lists \(numbers)")
    for number in numbers.dropLast() where number.isMultiple(of: everyGeneration) {
      let rows = try Session.rows(of: try engine.snapshot(at: Generation(rawValue: UInt64(number))))
      try require(
        rows == promise.generations[number], "as generation \(number) the store shows \(rows.summary)")
    }
    return generation
  }

  /// Checks that recovery is complete: the next opening changes only the anchor, and repeated openings use no
  /// additional space.
  private func findNothingToRecover(
    _ disk: any FileSystem, _ options: EngineOptions, generation: Int
  ) throws {
    let files = try sizes(of: disk)
    try open(disk, options) { engine in
      try require(
        Int(engine.newestGeneration.rawValue) == generation, "the second opening finds another state")
    }
    let after = try sizes(of: disk)
    try require(after == files, "the second opening changes the files from \(files) to \(after)")
  }

  /// Checks that a recovered store commits another transaction and keeps it.
  private func goOn(_ disk: any FileSystem, _ options: EngineOptions, from generation: Int) throws {
    var rows = promise.generations[generation]
    rows["after the crash"] = [1, 2, 3]
    try open(disk, options) { try $0.write { try $0.put("after the crash", [1, 2, 3]) } }
    try open(disk, options) { engine in
      let found = try Session.rows(of: engine)
      try require(
        found == rows && Int(engine.newestGeneration.rawValue) == generation + 1,
        "after another write the store is at generation \(engine.newestGeneration) with \(found.summary)")
      try verify(engine)
    }
  }

  /// Checks that the folder contains only files of the store.
  private func lookForRemains(_ disk: any FileSystem, _ path: String) throws {
    for name in try sizes(of: disk, path).keys {
      try require(Self.isExpected(name), "there is a file left over, \(name)")
    }
  }

  /// Whether a complete store can have a file with this name.
  static func isExpected(_ name: String) -> Bool {
    ["anchor", "lock", "processes", "reserve"].contains(name) || name.hasSuffix(".log")
      || name.hasSuffix(".pages")
  }

  /// The size of every file in bytes, by name.
  private func sizes(of disk: any FileSystem, _ path: String = Session.path) throws -> [String: Int64] {
    let folder = try disk.openDirectory(path)
    var sizes: [String: Int64] = [:]
    for name in try folder.entries() {
      let file = try folder.open(name, .readOnly)
      defer { try? file.close() }
      sizes[name] = try file.size()
    }
    return sizes
  }

  // MARK: Backups

  /// Checks that the backup folder contains a complete backup of an allowed generation.
  private func checkBackup(on disk: any FileSystem, _ options: EngineOptions) throws {
    guard let backup = promise.backup else { return }
    var reading = options
    reading.access = .readOnly
    let engine: Engine
    do {
      engine = try Engine(at: Session.backupPath, options: reading, fileSystem: disk)
    } catch {
      guard error.code == .notAStore || error.code == .notFound else { throw Finding("the backup: \(error)") }
      return try require(backup.oldest == nil, "there is no backup any more: \(error)")
    }
    let generation = Int(engine.newestGeneration.rawValue)
    try require(
      generation >= backup.oldest ?? 0 && generation <= backup.newest,
      "the backup is of generation \(generation), and not of \(backup.oldest ?? 0) to \(backup.newest)")
    let rows = try Session.rows(of: engine)
    try require(
      promise.generations.indices.contains(generation) && promise.generations[generation] == rows,
      "as generation \(generation) the backup shows \(rows.summary)")
    try verify(engine)
    try engine.close()
  }

  /// Checks that the next backup to the same folder is complete and leaves no other files.
  private func backUpAgain(_ disk: any FileSystem, _ options: EngineOptions, of generation: Int) throws {
    guard promise.backup != nil else { return }
    let rows = try open(disk, options) { engine in
      try engine.backup(to: Session.backupPath, fileSystem: disk)
      return try Session.rows(of: engine)
    }
    let backup = try Engine(at: Session.backupPath, options: options, fileSystem: disk)
    let found = try Session.rows(of: backup)
    try require(
      found == rows && Int(backup.newestGeneration.rawValue) == generation,
      "the next backup is of generation \(backup.newestGeneration) and shows \(found.summary)")
    try verify(backup)
    try backup.close()
    try lookForRemains(disk, Session.backupPath)
  }

  private func verify(_ engine: Engine) throws {
    let report = try engine.verify()
    try require(report.isSound, "not sound: \(report.findings)")
  }
}
