import Foundation
import Heartwood
import InboxModel

/// Saves a link and ends: `inbox-extension ADDRESS TITLE`.
@main
struct Main {
  static func main() throws {
    let words = CommandLine.arguments.dropFirst()
    guard let address = words.first, let title = words.last, words.count == 2 else {
      print("inbox-extension ADDRESS TITLE")
      exit(64)
    }
    let container = try Inbox.open(at: Inbox.place)
    let context = container.newBackgroundContext()
    context.transactionAuthor = "extension"
    let link = Link(context: context)
    (link.address, link.title) = (address, title)
    try context.save()
    try container.close()
  }
}
