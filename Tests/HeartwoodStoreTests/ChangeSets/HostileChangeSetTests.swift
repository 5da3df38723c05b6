import Foundation
import GraphTestSupport
import HeartwoodBytes
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood

/// Change sets whose checksum is right, and whose contents no store has made.
@Suite struct `Hostile change sets` {
  private final class Leaf: Tree {
    @Attribute var size: Int64?
  }

  private class Tree: ManagedObject {
    @Attribute(.unique) var code: String?
    @Attribute var small: Int16?
    @Attribute var picture: Data?
    @Relationship(inverse: { $0.parent }) var children: [Tree]
    @Relationship(inverse: { $0.children }) var parent: Tree?
    @Relationship var nests: Set<Nest>
    @Relationship(inverse: { $0.home }) var favourite: Nest?
  }

  private final class Nest: ManagedObject {
    @Attribute var name = ""
    @Relationship(inverse: { $0.favourite }) var home: Tree?
    @Relationship var leaf: Leaf?
  }

  private static func open(_ url: URL) throws -> PersistentContainer {
    try PersistentContainer(name: "Forest", types: [Tree.self, Leaf.self, Nest.self], at: url)
  }

  private static func change(_ container: PersistentContainer, _ random: inout SplitMix64) throws {
    let context = container.newBackgroundContext()
    let trees = try context.fetch(FetchRequest<Tree>()) + [Tree(context: context), Leaf(context: context)]
    let nests = try context.fetch(FetchRequest<Nest>()) + [Nest(context: context)]
    for tree in trees where random.below(2) == 0 {
      tree.small = Int16(random.below(100))
      tree.children = trees.filter { $0 !== tree && random.below(3) == 0 }
      tree.nests = Set(nests.filter { _ in random.below(2) == 0 })
      tree.favourite = nests[random.below(nests.count)]
      (tree as? Leaf)?.size = Int64(random.below(9))
    }
    for nest in nests { nest.leaf = trees.compactMap { $0 as? Leaf }.randomElement(using: &random) }
    if trees.count > 6 { context.delete(trees[random.below(trees.count - 2)]) }
    try context.save()
  }

  /// The file with a few bytes changed, and its checksum made again.
  private static func altered(_ file: Data, _ random: inout SplitMix64) -> Data {
    var bytes = [UInt8](file.dropLast(8))
    for _ in 0...random.below(3) {
      let place = 12 + random.below(bytes.count - 12)
      bytes[place] =
        random.below(3) == 0 ? UInt8(random.below(256)) : bytes[12 + random.below(bytes.count - 12)]
    }
    let checksum = bytes.withUnsafeBytes { XXH64.hash($0, seed: 0x4368_616E_6765_5365) }
    return Data(bytes + withUnsafeBytes(of: checksum.littleEndian) { Array($0) })
  }

  @Test(arguments: 1...6) func `a set with any contents is applied, or refused and changes nothing`(
    seed: UInt64
  ) throws {
    print("random seed \(seed)")
    let folder = try TemporaryFolder()
    var random = SplitMix64(seed: seed)
    let first = try Self.open(URL(fileURLWithPath: folder.path("a")))
    for _ in 0..<3 { try Self.change(first, &random) }
    let start = try #require(first.currentHistoryToken?.transactionNumber)
    try first.persistentStoreCoordinator.backup(to: URL(fileURLWithPath: folder.path("b")))
    for _ in 0..<3 { try Self.change(first, &random) }
    let set = try first.persistentStoreCoordinator.changeSet(from: start)
    let second = try Self.open(URL(fileURLWithPath: folder.path("b")))
    try second.persistentStoreCoordinator.beginLineage()
    var (decodedCount, refusedCount) = (0, 0)
    for _ in 0..<(LongRun.isWanted ? 5000 : 150) {
      guard let other = try? ChangeSet(decoding: Self.altered(set.encoded(), &random)) else { continue }
      decodedCount += 1
      let tried = [other, other.inverted, other.rebased(on: set)][random.below(3)]
      let before = try second.history().count
      do {
        try second.persistentStoreCoordinator.apply(
          tried, policy: ChangeSetPolicy.allCases[random.below(4)])
      } catch let error as HeartwoodError {
        refusedCount += 1
        #expect(try second.history().count == before, "\(error)")
      }
    }
    #expect(decodedCount > 20 && refusedCount > 0, "\(decodedCount) decoded, \(refusedCount) refused")
    #expect(try second.persistentStoreCoordinator.verify().findings.isEmpty)
  }
}
