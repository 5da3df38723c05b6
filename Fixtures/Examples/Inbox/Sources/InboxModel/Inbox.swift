import Foundation
import Heartwood

/// A shared address.
package final class Link: ManagedObject {
  @Attribute package var address = ""
  @Attribute package var title = ""
  /// How often the application has filed it: once, whatever happens.
  @Attribute package var filings: Int64 = 0
  @Relationship(inverse: { $0.links }) package var site: Site?
}

/// A site, with how many links lead to it.
package final class Site: ManagedObject {
  @Attribute(.unique) package var host = ""
  @Attribute package var linkCount: Int64 = 0
  @Relationship(inverse: { $0.site }) package var links: Set<Link>
}

/// The store that the application and its extension share.
package enum Inbox {
  package static func open(at place: String) throws -> PersistentContainer {
    try PersistentContainer(
      name: "Inbox", types: [Link.self, Site.self], at: URL(fileURLWithPath: place))
  }

  /// The place that the environment names.
  package static var place: String {
    ProcessInfo.processInfo.environment["INBOX"] ?? "inbox.heartwood"
  }
}
