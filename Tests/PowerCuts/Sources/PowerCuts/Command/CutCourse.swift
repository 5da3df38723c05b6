import Cutting
import Foundation
import Workload

/// Cuts one recording at many moments, makes the images that each cut can leave, and checks them.
struct CutCourse {
  let recording: Recording
  var checker: ImageChecker
  let folder: URL
  /// The folder to which failed images are copied; nil for none.
  var keptImages: URL?
  /// The number of flushes before the cut to ignore, as on a lying disk.
  var ignoredFlushes = 0
  var survivals = Survival.allCases
  /// Called with the moment of each cut before its images are checked.
  var willCut: (Int) throws -> Void = { _ in }

  /// Cuts at this many moments. `report` is called with each outcome that is not sound.
  func run(cuts: Int, _ random: inout RandomNumbers) throws -> Figures {
    var figures = Figures()
    let record = recording.record
    let flushed = try recording.base.copied(to: folder.appending(path: "flushed.img").path)
    var applied = 0
    for position in record.cutPositions(cuts, &random) {
      let start = record.firstUncertain(at: position, ignoringLast: ignoredFlushes)
      for event in record.events[applied..<max(start, applied)] { try flushed.apply(event) }
      applied = max(start, applied)
      figures.cuts += 1
      try willCut(position)
      var seen: [[CutImage.Piece]] = []
      for survival in survivals {
        let image = CutImage(record.events[applied..<position], survival, &random)
        guard !seen.contains(image.pieces) else { continue }
        seen.append(image.pieces)
        try check(
          image, over: flushed, "event \(position) of \(record.events.count), \(survival)", position, &figures
        )
      }
    }
    figures.kills = 1
    return figures
  }

  private func check(
    _ image: CutImage, over flushed: ImageFile, _ place: String, _ position: Int, _ figures: inout Figures
  ) throws {
    let file = try flushed.copied(to: folder.appending(path: "cut.img").path)
    try file.apply(image)
    let acknowledged = recording.record.lastAcknowledged(at: position)
    figures.images += 1
    figures.acknowledgements += recording.record.acknowledgements.count { $0.position <= position }
    figures.whole += image.whole
    figures.torn += image.torn
    figures.lost += image.lost
    let victim = recording.victim
    let words = "\(victim), cut after \(place)"
    switch try checker.check(file, acknowledged: acknowledged) {
    case .sound: return
    case .unmountable(let reason):
      figures.unmountable += 1
      say("  \(words): not mountable: \(reason)")
    case .lost(let found, let acknowledged):
      figures.findings.append("\(words): \(acknowledged) was acknowledged, the store ends with \(found)")
    case .damaged(let finding): figures.findings.append("\(words): \(finding)")
    }
    try keep(image, flushed, "\(victim.format)-\(victim.seed)-\(position)-\(figures.images)")
  }

  /// Stores the image as it was before mounting.
  private func keep(_ image: CutImage, _ flushed: ImageFile, _ name: String) throws {
    guard let keptImages else { return }
    try flushed.copied(to: keptImages.appending(path: "\(name).img").path).apply(image)
  }
}
