import Foundation
import Heartwood
import HeartwoodFaults
import HeartwoodFiles

/// Checks the graph of a store after a crash.
struct GraphChecker {
  /// All states that may be found.
  let candidates: [GraphFacts]

  /// Opens the store of a disk, checks all of it, saves once more, and reopens it.
  ///
  /// - Returns: The state that was found.
  @discardableResult
  func check(_ disk: any FileSystem) throws -> GraphFacts {
    let container = try GraphSession.open(disk)
    let facts = try GraphFacts(of: container)
    try require(
      candidates.contains(facts),
      "found\n\(facts)\npossible\n" + candidates.map(\.description).joined(separator: "\nor\n"))
    try verify(container)
    try GraphSession.run(Self.another, on: container)
    let after = try GraphFacts(of: container)
    try container.close()
    let again = try GraphSession.open(disk)
    let found = try GraphFacts(of: again)
    try require(found == after, "saved once more, the store shows\n\(found)")
    try verify(again)
    try again.close()
    return facts
  }

  private static let another = GraphStep("after the crash") { Subject(context: $0).name = "after the crash" }

  private func verify(_ container: PersistentContainer) throws {
    let report = try container.persistentStoreCoordinator.verify()
    try require(report.isSound, "not sound: \(report.findings)")
  }
}
