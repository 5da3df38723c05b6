import Foundation
import Heartwood
import Testing

@testable import FaultProgramme

/// Two programs that use one store of any kind at the same time: `Tests/FaultProgramme/run long pairs` is the long form.
@Suite(.serialized) struct `Two programs at once` {
  private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "FaultProgramme")

  private static let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil

  @Test(arguments: PairStore.types, [false, true])
  func `two programs that open a store with a mapping model at once make each object once`(
    type: PersistentStore.StoreType, inProcesses: Bool
  ) throws {
    for _ in 0..<(Self.isLong ? 25 : 3) {
      let run = PairRun(type, [.mapping, .mapping], inProcesses: inProcesses, program: Self.program)
      #expect(try run.run() == 2)
    }
  }

  @Test(arguments: PairStore.types)
  func `two programs that make a store at once both have it`(type: PersistentStore.StoreType) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pairs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for round in 0..<(Self.isLong ? 50 : 5) {
      let store = PairStore(url: folder.appending(path: "\(round)"), type: type)
      let outcomes = Collected()
      DispatchQueue.concurrentPerform(iterations: 4) { number in
        outcomes.add(PairOutcome(of: .open, on: store, number))
      }
      #expect(outcomes.lines == ["done", "done", "done", "done"])
      #expect(try store.contents()?.names == [])
    }
  }

  @Test func `two programs leave a store as one after the other would, or one of them is told why not`()
    throws
  {
    var done = 0
    for seed in 1...(Self.isLong ? 400 : 24) as ClosedRange<UInt64> {
      let run = PairRun(seed: seed, program: Self.program)
      do {
        done += try run.run()
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
    #expect(done > 12)
  }

  private final class Collected: @unchecked Sendable {
    private let lock = NSLock()
    private var found: [String] = []

    func add(_ outcome: PairOutcome) { lock.withLock { found.append(outcome.line) } }
    var lines: [String] { lock.withLock { found } }
  }
}
