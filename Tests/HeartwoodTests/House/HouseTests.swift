import TestSupport
import Testing

/// Counts what makes the graph hard to read and slow to build. Who lowers a number writes the lower one; who has to raise
/// one says in ARCHITECTURE.md why.
struct HouseTests {
  private static let counted = Result { try SourceCounts(of: "Sources/Heartwood") }
  private let graph: SourceCounts

  init() throws { graph = try Self.counted.get() }

  /// The classes that are kinds of stores, and what they give contexts to read.
  private static let kindsOfStores: Set<String> = [
    "LogStore", "LogStoreView", "LogStoreTransaction", "StoreUnion", "StoreUnionView",
    "StoreUnionTransaction",
    "AtomicStore", "IncrementalStore", "IncrementalContents", "IncrementalView", "IncrementalTransaction",
    "MixedStores", "ParentView",
  ]
  /// The protocols of what some kinds can do.
  private static let abilitiesOfStores: Set<String> = [
    "AskedStore", "FollowedStore", "HistorySource", "MemberView", "ObjectUses", "RequestingMember",
    "RequestingView", "RowStore", "StoreReading",
  ]

  @Test func `few places ask which kind a store is`() {
    let casts = graph.casts(to: Self.kindsOfStores)
    #expect(casts.count == 2, "\(casts.joined(separator: "\n"))")
  }

  @Test func `few places ask what a store can do`() {
    let casts = graph.casts(to: Self.abilitiesOfStores)
    #expect(casts.count == 12, "\(casts.joined(separator: "\n"))")
  }

  @Test func `contexts are extended in few files`() {
    let files = graph.files(extending: "ManagedObjectContext")
    #expect(files.count == 20, "\(files.joined(separator: "\n"))")
  }

  @Test func `few files use each other in a ring`() {
    let ring = graph.largestRing
    #expect(ring.count == 42, "\(ring.joined(separator: "\n"))")
  }

  @Test func `few folders use each other in a ring`() {
    let ring = graph.largestRingOfFolders
    #expect(ring.count == 6, "\(ring.joined(separator: "\n"))")
  }

  /// The other modules, with how many of their folders use each other.
  private static let others = [
    "HeartwoodFiles": 5, "HeartwoodModel": 6, "HeartwoodFaults": 2, "HeartwoodEngine": 1,
    "HeartwoodArchives": 1,
    "HeartwoodSQLite": 7, "HeartwoodAppleStores": 5, "HeartwoodCommand": 14, "HeartwoodBrowser": 1,
    "CoreData": 5,
    "CoreDataTranslation": 1, "SwiftData": 10,
  ]

  @Test(arguments: others) func `no more folders of a module use each other than did`(
    module: String, count: Int
  ) throws {
    let ring = try SourceCounts(of: "Sources/\(module)").largestRingOfFolders
    #expect(ring.count == count, "\(module): \(ring.joined(separator: ", "))")
  }

  @Test func `the modules are not larger than they were`() throws {
    #expect(graph.lines <= 63_300)
    #expect(try SourceCounts(of: "Sources/HeartwoodModel").lines <= 23_600)
  }
}
