import Foundation
import Heartwood
import HeartwoodFiles

/// Checks a diary after a crash.
struct DiaryChecker {
  /// All states that may be found.
  let candidates: [[String]]
  /// The change sets of the copy, in order.
  let sets: [ChangeSet]

  /// Opens the store of a disk, first for reading only, checks all of it, and goes on with every consumer, hold and change set.
  func check(_ disk: any FileSystem) throws {
    let reader = try DiarySession(disk, isReadOnly: true)
    let shown = try reader.facts()
    try reader.close()
    let session = try DiarySession(disk, sets: sets)
    let facts = try session.facts()
    try facts.check()
    if !candidates.contains(facts.lines) { throw Finding(difference(facts.lines)) }
    try require(
      shown.lines == facts.lines, "opened for reading only it has other contents: \(differing(shown, facts))")
    try goOn(session, facts)
    let after = try session.facts()
    try after.check()
    try verify(session)
    try session.run(.reopen)
    try require(try session.facts().lines == after.lines, "opened again it has other contents")
    try verify(session)
    try session.close()
  }

  /// The lines of the nearest allowed state that the found one does not have, or the reverse.
  private func difference(_ found: [String]) -> String {
    let nearest =
      candidates.map { Set($0).symmetricDifference(found) }.min { $0.count < $1.count } ?? []
    let lines = nearest.sorted().map { (found.contains($0) ? "found: " : "not found: ") + $0 }
    return "not one of \(candidates.count) possible states\n" + lines.prefix(20).joined(separator: "\n")
  }

  private func differing(_ shown: DiaryFacts, _ facts: DiaryFacts) -> [String] {
    Set(shown.lines).symmetricDifference(facts.lines).sorted()
  }

  private func verify(_ session: DiarySession) throws {
    let report = try session.coordinator.verify()
    try require(report.isSound, "not sound: \(report.findings)")
  }

  private func goOn(_ session: DiarySession, _ facts: DiaryFacts) throws {
    let applied = facts.objects.counts["copy"] ?? 0
    if applied > 0 {
      let report = try session.coordinator.apply(sets[applied - 1], policy: .newest)
      try require(report.wasKnown, "a change set that is there was applied again")
    }
    try session.run(.apply(applied))
    try session.run(.save(writer: Diary.writers[0], seed: 1))
    try session.run(.hold("after the crash", past: nil))
    for reader in Diary.readers {
      while try Diary.consume(reader, in: session.container, limit: 5) != nil {}
    }
    try session.run(.purge)
    for name in facts.holds.keys.sorted() { try session.run(.release(name)) }
    try session.run(.reclaim)
    try checkAll(session, wanted: applied + 1)
  }

  private func checkAll(_ session: DiarySession, wanted: Int) throws {
    let facts = try session.facts()
    try require(facts.objects.counts["copy"] == wanted, "the next change set was not applied")
    try require(Array(facts.holds.keys) == ["after the crash"], "the holds are \(facts.holds.keys.sorted())")
    for reader in Diary.readers {
      let count = facts.objects.notes[reader]?.count
      try require(
        count == facts.objects.entries.count,
        "\(reader) has noted \(count ?? 0) of \(facts.objects.entries.count) entries at the end")
    }
  }
}
