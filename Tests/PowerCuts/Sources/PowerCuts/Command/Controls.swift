import Cutting
import Foundation
import Workload

/// Proves that the harness can detect failures: it must report lost commits for a victim that acknowledges
/// unsynced commits, and for a disk that answers flushes without performing them.
struct Controls {
  let boot: Machine.Boot
  let base: ImageFile
  let folder: URL

  func run(_ format: DiskFormat, _ arguments: Arguments) throws -> Bool {
    var honest = Machine.Victim(format: format, seed: arguments.seed * 100 + 90)
    let lyingDisk = try lost(honest, arguments, ignoredFlushes: 40)
    honest.kind = .lying
    let lyingVictim = try lost(honest, arguments, ignoredFlushes: 0)
    say("\(format): control: commits were lost in \(lyingDisk) with a disk that ignores flushes")
    say("\(format): control: commits were lost in \(lyingVictim) with a victim that does not sync")
    return lyingDisk.lost > 0 && lyingVictim.lost > 0
  }

  private struct Share: CustomStringConvertible {
    var (lost, images) = (0, 0)
    var description: String { "\(lost) of \(images) images" }
  }

  private func lost(_ victim: Machine.Victim, _ arguments: Arguments, ignoredFlushes: Int) throws -> Share {
    var random = RandomNumbers(seed: victim.seed)
    let recording = try Recording.make(victim, on: base, boot, in: folder) { $0.acknowledgements.count >= 60 }
    let checker = ImageChecker(format: victim.format, seed: victim.seed, folder: folder)
    let course = CutCourse(
      recording: recording, checker: checker, folder: folder, ignoredFlushes: ignoredFlushes,
      survivals: [.none])
    let figures = try course.run(cuts: 6, &random)
    return Share(lost: figures.findings.count { $0.contains("was acknowledged") }, images: figures.images)
  }
}
