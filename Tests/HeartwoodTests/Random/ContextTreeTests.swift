import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

@Suite struct `Random work on a tree of contexts` {
  @Test(arguments: Array(1...30) as [UInt64])
  func `parents, children and siblings show what a plain model shows, and the store has it`(seed: UInt64)
    throws
  {
    let folder = try TemporaryFolder()
    var work = try ContextTreeWork(seed: seed) {
      try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
    }
    do {
      try work.run(bursts: 12)
    } catch {
      Issue.record("seed \(seed): \(error)\n\(work.history)")
    }
  }
}
