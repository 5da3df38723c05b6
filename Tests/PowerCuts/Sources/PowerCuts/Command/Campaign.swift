import Comparison
import Cutting
import Foundation
import HeartwoodFaults
import HeartwoodFiles
import Workload

/// The execution of one command.
final class Campaign {
  private let arguments: Arguments
  private let boot: Machine.Boot
  private let folder: URL
  private var table = EffectTable()
  private static let simulatedImagesPerCut = 100

  init(_ arguments: Arguments) throws {
    self.arguments = arguments
    boot = Machine.Boot(kernel: arguments.kernel, initialRamDisk: arguments.initialRamDisk)
    folder = URL(fileURLWithPath: arguments.folder).appending(path: "power-cuts-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Returns whether all checks passed.
  func run() throws -> Bool {
    defer { if !arguments.keepsImages { try? FileManager.default.removeItem(at: folder) } }
    var isClean = true
    for format in arguments.formats {
      let start = Date()
      let base = try format.makeImage(folder.appending(path: "base.img").path)
      var figures = Figures()
      for (index, victim) in victims(format).enumerated() {
        figures.add(try cut(victim, base, index))
      }
      figures.add(try KillScenario(boot: boot, base: base, folder: folder).run(format, arguments))
      say("\(format): \(figures); \(Int(-start.timeIntervalSinceNow)) s")
      for finding in figures.findings { say("  FOUND \(finding)") }
      isClean = isClean && figures.findings.isEmpty
      guard arguments.mutant == nil else { continue }
      isClean = try Controls(boot: boot, base: base, folder: folder).run(format, arguments) && isClean
    }
    report()
    return isClean
  }

  /// Prints the effects on real and on simulated disks for the same calls.
  private func report() {
    let formats = arguments.formats.map(\.rawValue)
    func columns(_ personalities: [CrashModel], _ terms: CrashModel) -> [EffectTable.Column] {
      (formats + personalities.map(\.rawValue)).map { .init(source: $0, terms: terms) }
    }
    say("\nIn the terms of POSIX: a sync makes the bytes of its file durable, or the names in its folder.")
    say(table.markdown(columns([.posix, .hostile], .posix), exactly: "of them exactly as a simulated image"))
    say("\nIn the terms of ext4Ordered: a sync makes all earlier changes of names durable too.")
    say(
      table.markdown(columns([.ext4Ordered], .ext4Ordered), exactly: "of them exactly as a simulated image"))
  }

  private func victims(_ format: DiskFormat) -> [Machine.Victim] {
    let seed = arguments.seed * 100
    let alone = Machine.Victim(format: format, seed: seed + 1, mutant: arguments.mutant)
    let crowded = Machine.Victim(
      format: format, seed: seed + 2, threads: 3, processors: 2, hasHastyWriteback: true,
      mutant: arguments.mutant)
    let deferring = Machine.Victim(
      format: format, seed: seed + 3, kind: .deferring, hasHastyWriteback: true, mutant: arguments.mutant)
    var traced = deferring
    (traced.seed, traced.isTraced) = (seed + 4, true)
    return arguments.size == .short ? [crowded, traced] : [alone, crowded, deferring, traced]
  }

  private func cut(_ victim: Machine.Victim, _ base: ImageFile, _ index: Int) throws -> Figures {
    var random = RandomNumbers(seed: victim.seed)
    let recording = try Recording.make(victim, on: base, boot, in: folder) {
      $0.acknowledgements.count >= arguments.size.commits / (victim.kind == .deferring ? 4 : 1)
    }
    say("  \(victim): \(recording.record.summary)")
    let checker = ImageChecker(format: victim.format, seed: victim.seed, folder: folder)
    var course = CutCourse(recording: recording, checker: checker, folder: folder)
    course.keptImages = arguments.keepsImages ? folder : nil
    if let trace = recording.trace { compare(trace, &course) }
    return try course.run(cuts: arguments.size.cuts, &random)
  }

  /// Repeats the calls of a trace on simulated disks up to each cut, and counts the effects on them and on
  /// the real disk.
  private func compare(_ trace: CallTrace, _ course: inout CutCourse) {
    let victim = course.recording.victim
    let simulated = SimulatedCut(trace, imagesPerCut: Self.simulatedImagesPerCut, seed: victim.seed)
    course.willCut = { try simulated.advance(to: $0, &self.table) }
    course.checker.look = { path in
      let found = try folderState(path, in: PosixFileSystem())
      let effects = simulated.add(found, of: "\(victim.format)", &self.table)
      let impossible = effects.posix.union(effects.ordered).filter { $0 >= .foreignSector }
      if !impossible.isEmpty { say("  not simulated, \(victim): \(impossible.map(\.rawValue).sorted())") }
    }
  }
}

extension DiskRecord {
  /// A summary of the contents.
  var summary: String {
    let bytes = events.reduce(0) { sum, event in
      if case .write(_, let bytes, _) = event { sum + bytes.count } else { sum }
    }
    return "\(events.count - flushCount) writes of \(bytes >> 20) MiB, \(flushCount) flushes, "
      + "\(acknowledgements.count) acknowledged commits"
  }
}
