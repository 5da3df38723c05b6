import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

/// Whether tests run longer than in CI.
private let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil

private let policies: [MergePolicyType] = [.error, .storeTrump, .objectTrump, .overwrite, .rollback]

/// The same program in a root context, in a child of it, and in a child of the child.
@Suite struct `Programs in children` {
  // CTX-42, MRG-05..MRG-19
  @Test(arguments: ["Log", "Binary", "Dictionary"], policies)
  func `a program that runs in a child leaves the same store as in the root`(
    kind: String, type: MergePolicyType
  ) throws {
    for seed in 0..<(isLong ? 60 : kind == "Log" ? 2 : 1) as Range<UInt64> {
      let runs = try (0...2).map {
        try Run(levels: $0, seed: seed &* 101 &+ UInt64(type.rawValue), kind, type)
      }
      for var run in runs {
        do { try run.run() } catch {
          Issue.record("\(kind), \(type), seed \(seed), \(run.levels) levels: \(error)")
        }
      }
      let results = runs.map(\.result.states)
      for (level, result) in results.enumerated() {
        guard
          let index = (0..<max(result.count, results[0].count)).first(where: { index in
            index >= result.count || index >= results[0].count || result[index] != results[0][index]
          })
        else { continue }
        let (mine, root) = (
          index < result.count ? result[index] : [], index < results[0].count ? results[0][index] : []
        )
        Issue.record(
          """
          \(kind), \(type), seed \(seed), \(level) levels, state \(index):
          \(mine.filter { !root.contains($0) }.joined(separator: "\n"))
          in the root:
          \(root.filter { !mine.contains($0) }.joined(separator: "\n"))
          \(runs[level].result.log.joined(separator: "\n"))
          """)
        break
      }
    }
  }

  /// The log of a run, and the contents of the store after each save.
  private final class Result {
    var states: [[String]] = []
    var log: [String] = []
  }

  private struct Run {
    let levels: Int
    let container: PersistentContainer
    /// From the root to the context in which the program runs.
    let contexts: [ManagedObjectContext]
    let other: ManagedObjectContext
    let result = Result()
    var editor: KnotEditor
    private let folder: TemporaryFolder
    /// A store of a program has no verifier.
    private let isVerifiable: Bool

    init(levels: Int, seed: UInt64, _ kind: String, _ type: MergePolicyType) throws {
      self.levels = levels
      folder = try TemporaryFolder()
      isVerifiable = kind != "Dictionary"
      switch kind {
      case "Log":
        container = try PersistentContainer(name: "Knots", types: knotTypes, at: URL(filePath: "/dev/null"))
      case "Binary": container = try StoreKind.binary.open(knotTypes, at: folder.store)
      default: container = try DictionaryWorld(types: knotTypes).container
      }
      let root = container.newBackgroundContext()
      root.mergePolicy = MergePolicy(rows: type, unique: type, toMany: seed % 3 == 0 ? .replace : .unite)
      contexts = (0..<levels).reduce(into: [root]) { all, _ in
        all.append(ManagedObjectContext(.privateQueue, parent: all[all.count - 1]))
      }
      other = container.newBackgroundContext()
      editor = KnotEditor(random: SplitMix64(seed: seed))
      try editor.fill(other)
      contexts[levels].transactionAuthor = "program"
    }

    mutating func run() throws {
      for _ in 0..<4 {
        try readSome()
        if editor.random.below(3) == 0 { try changeElsewhere() }
        for _ in 0...editor.random.below(6) {
          try editor.change(contexts[levels], deleting: true)
          if editor.random.below(4) == 0 { try push() }
        }
        try save()
        result.log = editor.log
      }
    }

    /// Reads some objects before others change them.
    private mutating func readSome() throws {
      contexts.reversed().forEach { $0.reset() }
      for knot in try KnotEditor.objects(contexts[levels]).knots where editor.random.below(2) == 0 {
        _ = (knot.size, knot.list.count, knot.friends.count)
      }
    }

    private mutating func changeElsewhere() throws {
      editor.log.append("elsewhere")
      other.reset()
      guard let knot = try KnotEditor.objects(other).knots.randomElement(using: &editor.random) else {
        return
      }
      knot.note = "elsewhere \(editor.random.below(9))"
      if editor.random.below(2) == 0 { knot.size += 1 }
      try other.save()
    }

    /// Moves the changes to the child of the root; in the root itself nothing is to be moved.
    private mutating func push() throws {
      editor.log.append("push")
      if levels == 0 { contexts[0].processPendingChanges() }
      for context in contexts.dropFirst().reversed() { try context.save() }
    }

    private mutating func save() throws {
      editor.log.append("save")
      do {
        for context in contexts.reversed() { try context.save() }
      } catch let error as HeartwoodError {
        editor.log.append("\(error)")
        guard error.code == .managedObjectMerge || error.code == .managedObjectConstraintMerge else {
          throw error
        }
        for context in contexts.reversed() { context.rollback() }
      }
      result.states.append(try knotLines(container.newBackgroundContext(), stamps: true))
      let transactions = (try? other.execute(.fetchHistory(after: Date.distantPast)).transactions) ?? []
      result.states[result.states.count - 1].append("author \(transactions.last?.author ?? "-")")
      guard isVerifiable else { return }
      let findings = try container.persistentStoreCoordinator.verify().findings
      if !findings.isEmpty { throw Disagreement(what: "\(findings)") }
    }
  }
}
