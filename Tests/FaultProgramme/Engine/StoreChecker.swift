import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// What has to hold of every store that a crash leaves, whatever its workload, held against a witness that
/// knows nothing of how a store works.
struct StoreChecker {
  let promise: ReferenceModel.Promise
  /// Of so many older generations one is looked at.
  var everyGeneration = 1

  init(promise: ReferenceModel.Promise) { self.promise = promise }

  /// Opens the store of a disk, which is `promise`'s to keep, looks at all of it, goes on with it, and
  /// opens it again.
  ///
  /// - Returns: the generation that was found.
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

  /// Opening to read only shows a whole state and leaves every byte alone. What it can't know to be durable
  /// it counts and does not show. Returns the generation behind that; nil where there is no store to read.
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
      try require(promise.durable == 0, "to read only: \(error)")
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

  /// What is there is whole, acknowledged or under way, and so is every older generation.
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
    // Their frames may be in segments that were given back, the oldest first.
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

  /// What a recovery has done is done: the next opening changes nothing but the anchor, and opening again and
  /// again takes no more room.
  private func findNothingToRecover(
    _ disk: any FileSystem, _ options: EngineOptions, generation: Int
  ) throws {
    let files = try sizes(of: disk)
    try open(disk, options) { engine in
      try require(
        Int(engine.newestGeneration.rawValue) == generation, "the second opening finds another state")
    }
    let after = try sizes(of: disk)
    try require(after == files, "the second opening makes of \(files) \(after)")
  }

  /// A store that was recovered takes another transaction and keeps it.
  private func goOn(_ disk: any FileSystem, _ options: EngineOptions, from generation: Int) throws {
    var rows = promise.generations[generation]
    rows["after the crash"] = [1, 2, 3]
    try open(disk, options) { try $0.write { try $0.put("after the crash", [1, 2, 3]) } }
    try open(disk, options) { engine in
      let found = try Session.rows(of: engine)
      try require(
        found == rows && Int(engine.newestGeneration.rawValue) == generation + 1,
        "written once more, the store is at generation \(engine.newestGeneration) with \(found.summary)")
      try verify(engine)
    }
  }

  /// The folder has the store's files and no others.
  private func lookForRemains(_ disk: any FileSystem, _ path: String) throws {
    for name in try sizes(of: disk, path).keys {
      try require(Self.isExpected(name), "there is a file left over, \(name)")
    }
  }

  /// Whether a file of this name belongs to a store that nobody is making.
  static func isExpected(_ name: String) -> Bool {
    ["anchor", "lock", "processes", "reserve"].contains(name) || name.hasSuffix(".log")
      || name.hasSuffix(".pages")
  }

  /// The bytes of every file, by its name.
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

  /// The folder of the backups holds one that is whole, of a generation that it may be of.
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

  /// The next backup to the same folder is whole again, and leaves nothing over.
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
