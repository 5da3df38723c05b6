import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import TestSupport

/// A store to damage, and the states that it may show afterwards.
struct DamageSample: Sendable {
  let name: String
  let store: StoreFiles
  /// The same store some transactions earlier.
  let earlier: StoreFiles
  /// Another store that was made in the same way.
  let other: StoreFiles
  let reader: any SpecimenReader
  /// Whether the store was closed. In a closed store every transaction is proven to be on disk; otherwise
  /// nothing proves the last one.
  let isClosed: Bool
  /// The number of transactions that the anchor proves to be on disk.
  let knownDurable: Int

  /// The state numbers that a damaged store may show. The last state is the one that was written.
  func allowed(after damage: Damage) -> ClosedRange<Int> {
    let last = reader.stateCount - 1
    if isClosed { return last...last }
    return (damage.takesAwayMuch ? knownDurable : last - 1)...last
  }

  /// Whether the damaged byte certainly has a meaning. The files of a closed store contain no torn writes and
  /// no rolled-back transactions. The anchor is excluded, because opening rewrites one of its slots.
  private func isLive(_ damage: Damage) -> Bool {
    guard isClosed, case .flipped(let name, let offset, _) = damage, name != "anchor" else { return false }
    return store.files[name]?[offset] != 0
  }

  /// The result of reading a damaged store.
  enum Outcome: String {
    case refused, asBefore = "as before", earlier = "an allowed earlier state"
  }

  struct Sight {
    let outcome: Outcome
    /// Whether verification found damage that reading did not encounter.
    let isFoundByVerify: Bool
  }

  /// Reads the store with this damage; nil if the damage changes nothing.
  func look(at damage: Damage, number: Int) throws -> Sight? {
    var damaged = store
    guard damage.happen(to: &damaged, earlier: earlier, other: other) else { return nil }
    do {
      let seen = try reader.read(try damaged.mounted(), number: number)
      try require(
        allowed(after: damage).contains(seen.state),
        "shows state \(seen.state), and may show \(allowed(after: damage))")
      try require(
        !seen.isSound || !isLive(damage),
        "a byte that was written has changed, and verification does not report it")
      let outcome: Outcome = seen.state == reader.stateCount - 1 ? .asBefore : .earlier
      return Sight(outcome: outcome, isFoundByVerify: !seen.isSound)
    } catch let error as EngineError {
      try requireDamage(error, nil, damage)
    } catch let error as HeartwoodError {
      try requireDamage(error.engineError, error, damage)
    } catch { throw Finding("\(name), \(damage): \(error)") }
    return Sight(outcome: .refused, isFoundByVerify: false)
  }

  /// Checks that the error, if there is one, reports damage and names a file or folder.
  private func requireDamage(_ error: EngineError?, _ whole: HeartwoodError?, _ damage: Damage) throws {
    let kinds: Set<EngineError.Code> = [.damaged, .notAStore, .newerFormat]
    let isNamed = error?.file != nil || whole?.message.contains(Session.path) == true
    let isDamage = error.map { kinds.contains($0.code) } ?? (whole?.code == .persistentStoreDamaged)
    let text = whole?.description ?? error?.description ?? "nothing"
    try require(isDamage && isNamed, "\(name), \(damage): not clear: \(text)")
  }
}

/// Reads all of a store.
protocol SpecimenReader: Sendable {
  var stateCount: Int { get }

  /// Reads the store. Returns the number of the state that it shows, and whether verification finds it
  /// intact. Throws the errors of the store, and a finding if the shown state never existed.
  ///
  /// - Parameter number: A number that differs for each damage. Some checks run only for some numbers.
  func read(_ fileSystem: MemoryFileSystem, number: Int) throws -> (state: Int, isSound: Bool)
}

struct EngineReader: SpecimenReader {
  let states: [Rows]

  var stateCount: Int { states.count }

  func read(_ fileSystem: MemoryFileSystem, number: Int) throws -> (state: Int, isSound: Bool) {
    var options = Session.options
    options.reading = number.isMultiple(of: 2) ? .buffered : .mapped
    if number.isMultiple(of: 7) { try readOnly(fileSystem, options) }
    let engine = try Engine(at: Session.path, options: options, fileSystem: fileSystem)
    defer { try? engine.close() }
    let state = try state(of: engine)
    if number.isMultiple(of: 5) { try lookBack(engine) }
    let isSound = try engine.verify().isSound
    if isSound, number.isMultiple(of: 3) { try goOn(engine, from: state, options, fileSystem) }
    return (state, isSound)
  }

  private func state(of engine: Engine) throws -> Int {
    let state = Int(engine.newestGeneration.rawValue)
    let rows = try Session.rows(of: engine)
    try require(states.indices.contains(state) && states[state] == rows, "shows \(rows.summary) as \(state)")
    return state
  }

  /// Reads the store read-only. It may show an older state or refuse to open, and it must not write.
  private func readOnly(_ fileSystem: MemoryFileSystem, _ options: EngineOptions) throws {
    var options = options
    options.access = .readOnly
    let before = try StoreFiles(fileSystem).files
    do {
      let engine = try Engine(at: Session.path, options: options, fileSystem: fileSystem)
      _ = try state(of: engine)
      try engine.close()
    } catch is EngineError {}
    try require(try StoreFiles(fileSystem).files == before, "opened to read only, it has changed")
  }

  private func lookBack(_ engine: Engine) throws {
    for record in try engine.generations() {
      let rows = try Session.rows(of: try engine.snapshot(at: record.generation))
      let state = Int(record.generation.rawValue)
      try require(states[state] == rows, "shows \(rows.summary) as generation \(state)")
    }
  }

  private func goOn(
    _ engine: Engine, from state: Int, _ options: EngineOptions, _ fileSystem: MemoryFileSystem
  ) throws {
    try engine.write { try $0.put("more", [1]) }
    try engine.close()
    let again = try Engine(at: Session.path, options: options, fileSystem: fileSystem)
    var rows = states[state]
    rows["more"] = [1]
    try require(try Session.rows(of: again) == rows, "written once more, it shows something else")
    try again.close()
  }
}

struct GraphReader: SpecimenReader {
  let states: [GraphFacts]

  var stateCount: Int { states.count }

  func read(_ fileSystem: MemoryFileSystem, number: Int) throws -> (state: Int, isSound: Bool) {
    let container = try GraphSession.open(fileSystem, isBuffered: number.isMultiple(of: 2))
    defer { try? container.close() }
    let facts = try GraphFacts(of: container)
    guard let state = states.firstIndex(of: facts) else { throw Finding("shows\n\(facts)") }
    let isSound = try container.persistentStoreCoordinator.verify().isSound
    return (state, isSound)
  }
}
