import Foundation
import Heartwood

/// Heartwood's graph going through all objects of an entity in batches.
final class HeartwoodLeanPeer: LeanPeer {
  private let container: PersistentContainer

  init(directory: String) throws {
    let url = URL(fileURLWithPath: directory).appending(path: "objects.heartwood")
    container = try PersistentContainer(name: "Objects", types: [LeanEntry.self], at: url)
  }

  func insert(_ numbers: Range<Int>) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for number in numbers {
        let entry = LeanEntry(context: context)
        entry.title = LeanObject.title(number)
        entry.pages = LeanObject.pages(number)
      }
      try context.save()
    }
  }

  func pass(batch: Int, _ sample: () -> Void) throws -> UInt64 {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      var digest = UnorderedDigest()
      try context.enumerate(FetchRequest<LeanEntry>(), batchSize: batch) { entries in
        for entry in entries { digest.add(entry.title, entry.pages) }
        sample()
      }
      return digest.value
    }
  }

  func close() throws { try container.close() }
}

final class LeanEntry: ManagedObject {
  @Attribute var title = ""
  @Attribute var pages: Int64
}
