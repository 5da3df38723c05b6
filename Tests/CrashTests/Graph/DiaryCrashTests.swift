import Heartwood
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

/// Runs a part of `Tests/FaultProgramme/run crashes schedules`.
@Suite(.serialized) struct `A store with consumers, holds and change sets` {
  @Test func `a crash leaves history without a gap, and consumers, holds and change sets as acknowledged`()
    throws
  {
    var limits = CrashImageLimits()
    limits.imageCount = 2
    let explorer = CrashExplorer(seed: 1, limits: limits)
    let report = try CrashSubject.diary(steps: 6).explore(explorer, variant: 0, seed: 1)
    print("diary: \(report)")
    try report.check()
    #expect(report.images > report.calls)
  }

  @Test func `the steps of a few seeds are of each kind, and change something`() throws {
    var kinds: Set<String> = []
    for seed in 1...3 as ClosedRange<UInt64> {
      let rehearsal = try DiaryRehearsal(seed: seed, count: 24)
      kinds.formUnion(rehearsal.steps.map { "\($0)".prefix { $0.isLetter } }.map(String.init))
      #expect(Set(rehearsal.states).count > 12)
    }
    #expect(
      kinds == [
        "save", "consume", "consumeSlowly", "hold", "release", "purge", "apply", "reclaim", "reopen",
      ])
  }

  @Test(arguments: [
    ScheduleScenario.consumers, .sameConsumer, .purges, .holds, .history, .keeperKill,
  ])
  func `consumers, purges and holds are right in each order of their steps`(scenario: ScheduleScenario) throws
  {
    let explorer = ScheduleExplorer(mostSchedules: 5)
    let systematic = try explorer.explore(preemptions: 1, scenario.prepare)
    let random = try explorer.random(seed: 62, count: 5, scenario.prepare)
    print("\(scenario): \(systematic), \(random)")
    #expect(systematic.failure == nil && random.failure == nil)
  }
}

/// The checks themselves, on stores that no save leaves.
@Suite struct `The checks of a store with consumers` {
  enum Mistake: CaseIterable {
    case noteTwice, noteAhead, noteMissing, noteOfAnotherTransaction, entryMissing, entryTwice
    case historyMissing
  }

  @Test(arguments: Mistake.allCases)
  func `each mistake is found`(mistake: Mistake) throws {
    let container = try Diary.open(MemoryFileSystem())
    try Diary.prepare(container)
    var random = SplitMix64(seed: 1)
    for _ in 0..<4 { try Diary.save(Diary.writers[0], in: container, &random) }
    for reader in Diary.readers { try Diary.consume(reader, in: container, limit: 4) }
    try DiaryFacts(of: container).check()
    try make(mistake, container)
    #expect(throws: Finding.self) { try DiaryFacts(of: container).check() }
  }

  private func make(_ mistake: Mistake, _ container: PersistentContainer) throws {
    let context = container.newBackgroundContext()
    func note(_ number: Int64, transaction: Int64) {
      let note = DiaryNote(context: context)
      (note.consumer, note.writer) = (Diary.readers[0], Diary.writers[0])
      (note.number, note.transaction) = (number, transaction)
    }
    try context.performAndWait {
      let notes = try context.fetch(DiaryNote.self, where: { $0.consumer == "first reader" }).sorted {
        $0.number < $1.number
      }
      let entries = try context.fetch(DiaryEntry.self, sort: [.ascending(\.number)])
      switch mistake {
      case .noteTwice: note(1, transaction: notes[0].transaction)
      case .noteAhead: note(4, transaction: notes[0].transaction + 1000)
      case .noteMissing: context.delete(notes[1])
      case .noteOfAnotherTransaction: notes[0].transaction += 1
      case .entryMissing: context.delete(entries[0])
      case .entryTwice:
        let entry = DiaryEntry(context: context)
        (entry.writer, entry.number) = (Diary.writers[0], 2)
      case .historyMissing:
        let newest = try #require(container.currentHistoryToken)
        _ = try context.execute(.deleteHistory(before: newest))
      }
      try context.save()
    }
  }
}
