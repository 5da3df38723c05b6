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
    if CommandLine.arguments.contains("--follow") {
      let context = container.newBackgroundContext()
      for try await batch in filing.batches() {
        try await context.perform {
          try file(batch, in: context)
          try context.complete(batch)
          try context.save()
        }
      }
    } else {
      try filing.consume { context, batch in try file(batch, in: context) }
      try container.close()
    }
  }

  /// Puts each new link of a batch to its site. The caller saves that with the position of the consumer.
  private static func file(_ batch: HistoryBatch, in context: ManagedObjectContext) throws {
    for change in batch.changes where change.changeType == .insert {
      // Who deletes a link before it is filed has no more need of that.
      guard let link = try context.existingObject(with: change.changedObjectID) as? Link else { continue }
      let host = URL(string: link.address)?.host() ?? "unknown"
      let site = try site(host, in: context)
      link.site = site
      link.filings += 1
      site.linkCount += 1
      print("filed \(site.linkCount): \(link.title) in \(host)")
    }
  }

  private static func site(_ host: String, in context: ManagedObjectContext) throws -> Site {
    if let known = try context.fetch(Site.self, where: { $0.host == host }).first { return known }
    let site = Site(context: context)
    site.host = host
    return site
  }
}
