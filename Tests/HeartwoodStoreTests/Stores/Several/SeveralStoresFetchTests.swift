import Foundation
import GraphTestSupport
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood

/// Requests of several stores beside the same requests of one store with the same objects.
@Suite struct `Fetches of several stores` {
  // FET-07
  @Test(arguments: [(71, 0), (72, 0), (73, 1), (74, 2)] as [(UInt64, Int)])
  func `rows and objects of three stores are those of one store`(seed: UInt64, customCount: Int) throws {
    var both = try IndexedAndPlain(seed: seed, storeCount: 3 - customCount, customCount: customCount)
    try both.fill(changes: 500)
    var kinds: Set<String> = []
    for round in 0..<(LongRun.isWanted ? 220 : 80) {
      if round % 10 == 9 { try both.change() }
      if round % 40 == 39 { try both.save() }
      var asked = RandomDictionaries(&both.random)
      asked.breaksTies = true
      guard !asked.columns.contains("self") else { continue }
      let what: Comment = "seed \(seed): \(asked.text)"
      #expect(try asked.rows(in: both.indexed) == asked.rows(in: both.plain), what)
      #expect(try asked.objects(in: both.indexed) == asked.objects(in: both.plain), what)
      let request = try asked.request()
      for step in try both.indexed.plan(forDictionaries: request).steps {
        kinds.insert(step.split(whereSeparator: { $0 == ":" }).first.map(String.init) ?? "")
      }
    }
    for kind in customCount > 0 ? ["request"] : ["scan", "index", "order", "runs", "ends"] {
      #expect(kinds.contains(kind), "seed \(seed) never used \(kind), but \(kinds.sorted())")
    }
  }
}
