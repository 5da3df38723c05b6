import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

/// Opens images of crashes, and knows those it has opened before.
final class ImageChecker: @unchecked Sendable {
  private let lock = Lock()
  private var found: [Int: Rows] = [:]
  private(set) var imageCount = 0
  private var failureCount = 0

  var distinctCount: Int { found.count }

  /// Opens an image and everything a crash may leave of it, where a state of `candidates` has to be.
  func check(_ image: CrashImage, _ candidates: [Rows], after moment: String) {
    lock.withLock {
      imageCount += 1
      guard failureCount < 10 else { return }
      do {
        let rows = try found[image.fingerprint] ?? open(image)
        found[image.fingerprint] = rows
        guard !candidates.contains(rows) else { return }
        fail(image, moment, "found \(rows.summary), possible \(candidates.map(\.summary))")
      } catch {
        fail(image, moment, "\(error)")
      }
    }
  }

  private func fail(_ image: CrashImage, _ moment: String, _ message: String) {
    failureCount += 1
    Issue.record("crash before \(moment), \(image): \(message)")
  }

  /// The rows of an image, which has to be sound, and to go on being a store.
  private func open(_ image: CrashImage) throws -> Rows {
    let disk = image.mounted()
    let engine = try Engine(at: Session.path, options: Session.options, fileSystem: disk)
    let rows = try Session.rows(of: engine)
    try verify(engine)
    var next = rows
    next["after the crash"] = [1, 2, 3]
    try engine.write { try $0.put("after the crash", [1, 2, 3]) }
    try engine.close()
    let again = try Engine(at: Session.path, options: Session.options, fileSystem: disk)
    guard try Session.rows(of: again) == next else {
      throw Finding(text: "written once more, the store shows \(try Session.rows(of: again).summary)")
    }
    try verify(again)
    try again.close()
    return rows
  }

  private func verify(_ engine: Engine) throws {
    let report = try engine.verify()
    guard report.isSound else { throw Finding(text: "not sound: \(report.findings)") }
  }

  private struct Finding: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }
}
