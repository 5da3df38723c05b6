import Foundation
import Heartwood
import HeartwoodFaults

/// Two programs that do something with one store at the same time: as threads with coordinators of their own, or as processes, of which one
/// or both may be killed. Then the store has what the rules of `check` allow, and nothing else.
struct PairRun {
  let type: PersistentStore.StoreType
  let deeds: [PairDeed]
  let isInProcesses: Bool
  /// For each program: after how many microseconds it is killed; nil if it is not.
  let kills: [Int?]
  private let program: URL

  /// Draws a run from a seed.
  init(seed: UInt64, program: URL) {
    var random = SplitMix64(seed: seed)
    let type = PairStore.types[random.below(PairStore.types.count)]
    let fitting = PairDeed.allCases.filter { $0.fits(type) }
    self.type = type
    deeds = (0..<2).map { _ in fitting[random.below(fitting.count)] }
    isInProcesses = random.below(3) > 0
    let isKilled = random.below(3) == 0
    kills = (0..<2).map { [isInProcesses] _ in
      isInProcesses && isKilled && random.below(3) > 0 ? random.below(60_000) : nil
    }
    self.program = program
  }

  init(_ type: PersistentStore.StoreType, _ deeds: [PairDeed], inProcesses: Bool, program: URL) {
    (self.type, self.deeds, isInProcesses, self.program) = (type, deeds, inProcesses, program)
    kills = [nil, nil]
  }

  var isKilled: Bool { kills.contains { $0 != nil } }

  var line: String {
    let how = isInProcesses ? "processes" : "threads"
    let killed =
      isKilled ? ", killed after \(kills.map { $0.map { "\($0) µs" } ?? "-" })" : ""
    return "\(type.rawValue), \(deeds[0].rawValue) and \(deeds[1].rawValue) in \(how)\(killed)"
  }

  /// - Returns: How many deeds were done.
  func run() throws -> Int {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pairs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = PairStore(url: folder.appending(path: "store"), type: type)
    let made = try KilledProcess.inheritance.withLock {
      try store.make()
      if deeds.contains(.replace) { try PairDeed.source(of: store).make(items: 5) }
      return try PairDeed.source(of: store).contents()
    }
    let outcomes = try isInProcesses ? inProcesses(store) : inThreads(store)
    do {
      try KilledProcess.inheritance.withLock { try check(store, outcomes, source: made) }
    } catch {
      throw Finding("\(line): \(error); \(outcomes.map(\.line))")
    }
    return outcomes.count { $0.isDone }
  }

  // MARK: At the same time

  private func inThreads(_ store: PairStore) -> [PairOutcome] {
    KilledProcess.inheritance.withLock {
      let outcomes = Results()
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        outcomes.set(number, PairOutcome(of: deeds[number], on: store, number))
      }
      return outcomes.all
    }
  }

  private final class Results: @unchecked Sendable {
    private let lock = NSLock()
    private var found: [PairOutcome] = [.killed, .killed]

    func set(_ number: Int, _ outcome: PairOutcome) { lock.withLock { found[number] = outcome } }
    var all: [PairOutcome] { lock.withLock { found } }
  }

  private func inProcesses(_ store: PairStore) throws -> [PairOutcome] {
    let children = try (0..<2).map { try Child(program, PairChild.arguments(deeds[$0], store, $0)) }
    for child in children { try child.readUntilReady() }
    for child in children { child.begin() }
    let results = Results()
    DispatchQueue.concurrentPerform(iterations: 2) { number in
      if let microseconds = kills[number] {
        usleep(UInt32(microseconds))
        children[number].kill()
      }
      results.set(number, children[number].outcome())
    }
    return results.all
  }

  private final class Child: @unchecked Sendable {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    init(_ program: URL, _ arguments: [String]) throws {
      process.executableURL = program
      process.arguments = arguments
      process.environment = ["SWIFT_BACKTRACE": "enable=no"]
      (process.standardInput, process.standardOutput) = (input, output)
      try KilledProcess.inheritance.withLock { try process.run() }
    }

    func readUntilReady() throws {
      var text = ""
      while !text.hasSuffix("ready\n") {
        let more = output.fileHandleForReading.availableData
        try require(!more.isEmpty, "a process ended by itself, after \"\(text)\"")
        text += String(decoding: more, as: UTF8.self)
      }
    }

    func begin() { try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }
    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    func outcome() -> PairOutcome {
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      let text = String(decoding: data, as: UTF8.self)
      // An answer that it has printed before it was killed counts.
      if text.hasSuffix("\n") { return PairOutcome(String(text.dropLast())) }
      return process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
        ? .killed : .failed(code: -1, "ended by itself with \(process.terminationStatus), after \"\(text)\"")
    }
  }

  // MARK: Rules

  private func check(_ store: PairStore, _ outcomes: [PairOutcome], source: PairStore.Contents?) throws {
    try checkErrors(outcomes)
    try finish(store)
    let found = try store.contents()
    let destroys = zip(deeds, outcomes).contains { $0.isDestructive && !isRefused($1) }
    try require(found != nil || destroys, "the store is gone")
    if let found { try check(found, outcomes, destroys, source) }
    for number in 0..<2 where [.copy, .backup].contains(deeds[number]) {
      let place = PairDeed.copy(of: store, number)
      switch outcomes[number] {
      case .done:
        let copy = try place.contents()
        try require(copy != nil, "there is no copy \(number)")
        if let copy { try checkObjects(copy, isWhole: !destroys, "the copy") }
      case .killed:
        // The next save or destruction there removes the part of a store that it has left.
        try PairDeed.destroy.perform(on: place, number)
      case .failed: break
      }
    }
    let expected: Set = ["store", "source", "copy-0", "copy-1"]
    let names = try FileManager.default.contentsOfDirectory(
      atPath: store.url.deletingLastPathComponent().path)
    let left = names.filter { !expected.contains($0) }
    try require(left.isEmpty, "left over: \(left)")
  }

  private func isRefused(_ outcome: PairOutcome) -> Bool { if case .failed = outcome { true } else { false } }

  /// A deed waits for the other one, or is refused for a reason. Without a deed that puts something else in the place of the store, only what
  /// has read the store before the other one changed it is refused: saves, and openings with the former model.
  private func checkErrors(_ outcomes: [PairOutcome]) throws {
    let destroys = deeds.contains { $0.isDestructive }
    for (number, outcome) in outcomes.enumerated() {
      guard case .failed(let code, let text) = outcome else { continue }
      var allowed: Set<HeartwoodError.Code> = [.persistentStoreIncompatibleVersionHash]
      switch deeds[number] {
      case .save: allowed.formUnion([.persistentStoreSaveConflicts, .persistentStoreSave])
      case .copy: allowed.formUnion([.persistentStoreOperation])
      // A log store is not migrated by a mapping, replaced or destroyed while another program has it open for longer than the timeout.
      case .mapping, .replace, .destroy: allowed.formUnion([.persistentStoreTimeout])
      default: break
      }
      if destroys {
        allowed.formUnion([
          .persistentStoreOpen, .persistentStoreSave, .persistentStoreSaveConflicts,
          .persistentStoreOperation,
          .persistentStoreTimeout, .migration, .migrationMissingSourceModel,
        ])
      }
      // An earlier version of the model is refused by a store that had it.
      if deeds.contains(.staged) || deeds.contains(.mapping) || deeds.contains(.inferred) {
        allowed.formUnion([.stagedMigrationBackwardMigration, .migration])
      }
      try require(
        allowed.contains(HeartwoodError.Code(rawValue: code)), "\(deeds[number].rawValue) failed: \(text)")
    }
  }

  /// Opens the store and saves to it as programs do later: what a killed one has left is finished or removed.
  private func finish(_ store: PairStore) throws {
    guard let found = try store.contents() else {
      // A killed one that was making the store anew has left a part of it, which the next save or destruction there removes.
      if isKilled { try PairDeed.destroy.perform(on: store, 0) }
      return
    }
    try open(store, found)
    guard isKilled else { return }
    try PersistentStoreCoordinator.setMetadata(
      found.note.map { [PairDeed.noteKey: $0] }, type: store.type, at: store.url, options: store.options)
  }

  private func open(_ store: PairStore, _ found: PairStore.Contents) throws {
    if deeds.contains(.staged), found.version > 1 || isKilled {
      return try MigrationWay.staged.migrate(store.url, store.edit)
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: MigratedBoxes.models[found.version - 1])
    let description = PersistentStoreDescription(url: store.url)
    store.edit(description)
    (description.createsStore, description.shouldMigrateStoreAutomatically) = (false, false)
    try coordinator.addPersistentStore(with: description)
    try coordinator.close()
  }

  private func check(
    _ found: PairStore.Contents, _ outcomes: [PairOutcome], _ destroys: Bool, _ source: PairStore.Contents?
  ) throws {
    try require(found.findings.isEmpty, "\(found.findings.prefix(3))")
    guard !destroys else {
      let names = found.names.filter { !$0.hasPrefix("added") }
      let isSource = source.map { Set(names).isSubset(of: $0.names) } ?? names.isEmpty
      // Or a deed that began later has made it, or the destruction was killed before it began.
      return try checkObjects(found, isWhole: !isSource && !names.isEmpty, "the store")
    }
    try checkObjects(found, isWhole: true, "the store")
    for (number, outcome) in outcomes.enumerated() where outcome.isDone {
      let deed = deeds[number]
      try require(
        found.version >= deed.version, "\(deed.rawValue) was done, and the model is \(found.version)")
      if deed == .save {
        let count = found.names.count { $0 == PairDeed.added(number) }
        try require(count == 1, "what program \(number) has saved is there \(count) times")
      }
      if deed == .metadata, deeds[1 - number] != .metadata {
        try require(found.note == "note \(number)", "the metadata of program \(number) are lost")
      }
    }
  }

  /// - Parameter isWhole: Whether each object that the store had at first is there.
  private func checkObjects(_ found: PairStore.Contents, isWhole: Bool, _ what: String) throws {
    let twice = Dictionary(grouping: found.names, by: { $0 }).filter { $1.count > 1 }
    try require(twice.isEmpty, "\(what) has \(twice.mapValues(\.count).sorted { $0.key < $1.key }.prefix(4))")
    guard isWhole else { return }
    // Later versions have no toys, which are every third item.
    let items = (0..<PairStore.items).filter { found.version == 1 || $0 % 3 != 2 }.map { "number \($0)" }
    let missing = Set(items + (0..<3).map { "box \($0)" }).subtracting(found.names)
    try require(missing.isEmpty, "\(what) lacks \(missing.sorted().prefix(4))")
  }
}
