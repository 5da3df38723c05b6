import Cutting
import Foundation
import Workload

/// Kills machines one after the other. Each starts from the disk that the kill of the previous one has left,
/// so the victim recovers on a file system that has recovered too. Some machines are killed during recovery.
struct KillScenario {
  let boot: Machine.Boot
  let base: ImageFile
  let folder: URL

  func run(_ format: DiskFormat, _ arguments: Arguments) throws -> Figures {
    var figures = Figures()
    let victim = Machine.Victim(
      format: format, seed: arguments.seed * 100 + 50, threads: 2, mutant: arguments.mutant)
    var random = RandomNumbers(seed: victim.seed)
    let checker = ImageChecker(format: format, seed: victim.seed, folder: folder)
    var acknowledged = 0
    var start = try base.copied(to: folder.appending(path: "kills-0.img").path)
    for round in 1...arguments.size.kills {
      let commits = random.below(4) == 0 ? 0 : 5 + random.below(60)
      let recording = try Recording.make(
        victim, on: start, boot, in: folder, delay: Double(random.below(30)) / 100
      ) { $0.openedAt != nil && $0.acknowledgements.count >= commits || commits == 0 && !$0.events.isEmpty }
      let record = recording.record
      acknowledged = max(acknowledged, record.lastAcknowledged(at: record.events.count))
      let survival = Survival.allCases[random.below(Survival.allCases.count)]
      let image = CutImage(
        record.events[record.firstUncertain(at: record.events.count)...], survival, &random)
      let next = try start.copied(to: folder.appending(path: "kills-\(round % 2 + 1).img").path)
      for event in record.events[..<record.firstUncertain(at: record.events.count)] { try next.apply(event) }
      try next.apply(image)
      figures.cuts += 1
      figures.kills += 1
      figures.images += 1
      figures.acknowledgements += acknowledged
      let copy = try next.copied(to: folder.appending(path: "cut.img").path)
      switch try checker.check(copy, acknowledged: acknowledged) {
      case .sound: break
      case .lost(let found, _):
        figures.findings.append(
          "\(format), kill \(round): \(acknowledged) was acknowledged, the store ends with \(found)")
      case .damaged(let finding): figures.findings.append("\(format), kill \(round): \(finding)")
      case .unmountable(let reason):
        figures.unmountable += 1
        say("  \(format), kill \(round): not mountable: \(reason)")
        return figures
      }
      start = next
    }
    return figures
  }
}
