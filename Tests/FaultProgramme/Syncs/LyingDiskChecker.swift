import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// Checks a store whose disk has lied: it is in a state that once existed, possibly older than promised, or
/// it reports damage and its place.
struct LyingDiskChecker {
  let promise: ReferenceModel.Promise

  func check(_ disk: any FileSystem) throws {
    do {
      let generation = try look(disk)
      try goOn(disk, from: generation)
    } catch let error as EngineError {
      try require(
        error.code == .damaged || error.code == .notAStore, "neither a state nor damage: \(error)")
      try require(error.file != nil, "damage without a place: \(error)")
    }
  }

  private func look(_ disk: any FileSystem) throws -> Int {
    let engine = try Engine(at: Session.path, options: Session.options, fileSystem: disk)
    let generation = Int(engine.newestGeneration.rawValue)
    let rows = try Session.rows(of: engine)
    try require(
      promise.generations.indices.contains(generation) && promise.generations[generation] == rows,
      "shows \(rows.summary) as generation \(generation)")
    for record in try engine.generations() {
      let number = Int(record.generation.rawValue)
      let rows = try Session.rows(of: try engine.snapshot(at: record.generation))
      try require(rows == promise.generations[number], "shows \(rows.summary) as generation \(number)")
    }
    if let finding = try engine.verify().findings.first {
      throw EngineError(.damaged, finding, file: Session.path)
    }
    try engine.close()
    return generation
  }

  /// Checks that an intact store commits a transaction and keeps it.
  private func goOn(_ disk: any FileSystem, from generation: Int) throws {
    var rows = promise.generations[generation]
    rows["after the lie"] = [1]
    let engine = try Engine(at: Session.path, options: Session.options, fileSystem: disk)
    try engine.write { try $0.put("after the lie", [1]) }
    try engine.close()
    let again = try Engine(at: Session.path, options: Session.options, fileSystem: disk)
    let found = try Session.rows(of: again)
    try require(found == rows, "written once more, it shows \(found.summary)")
    try again.close()
  }
}
