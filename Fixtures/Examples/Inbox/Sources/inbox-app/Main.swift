import Foundation
import Heartwood
import InboxModel

/// Files what extensions have saved: `inbox-app [--follow]`.
@main
struct Main {
  static func main() async throws {
    let container = try Inbox.open(at: Inbox.place)
    // The position of the consumer is in the store. The first application registers it, and sees all that is there.
    let filing = try container.historyConsumer("filing", startingAt: .oldest)
    try file(filing)
    guard CommandLine.arguments.contains("--follow") else { return try container.close() }
    for try await _ in filing.batches() { try file(filing) }
  }

  /// Files all that is new. Each batch is saved with the position of the consumer.
  private static func file(_ filing: HistoryConsumer) throws {
    var lines: [String] = []
    do {
      try filing.consume { context, batch in
        // The batch before this one is saved by now.
        for line in lines { print(line) }
        lines = try file(batch, in: context)
      }
      for line in lines { print(line) }
    } catch let error as HeartwoodError where late.contains(error.code) {
      // Another application was faster: the store refuses to file the same links twice, and has a new position.
      try file(filing)
    }
  }

  private static let late: Set<HeartwoodError.Code> = [
    .persistentStoreSaveConflicts, .managedObjectMerge, .managedObjectConstraintMerge,
  ]

  /// Puts each new link of a batch to its site.
  ///
  /// - Returns: The lines to print once that is saved.
  private static func file(_ batch: HistoryBatch, in context: ManagedObjectContext) throws -> [String] {
    var lines: [String] = []
    for change in batch.changes where change.changeType == .insert {
      // Who deletes a link before it is filed has no more need of that.
      guard let link = try context.existingObject(with: change.changedObjectID) as? Link else { continue }
      let host = URL(string: link.address)?.host() ?? "unknown"
      let site = try site(host, in: context)
      link.site = site
      link.filings += 1
      site.linkCount += 1
      lines.append("filed \(site.linkCount): \(link.title) in \(host)")
    }
    return lines
  }

  private static func site(_ host: String, in context: ManagedObjectContext) throws -> Site {
    if let known = try context.fetch(Site.self, where: { $0.host == host }).first { return known }
    let site = Site(context: context)
    site.host = host
    return site
  }
}
