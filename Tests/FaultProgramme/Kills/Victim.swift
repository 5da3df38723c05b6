import Foundation
import Heartwood
import HeartwoodEngine

/// A process that commits until it is killed, and prints the number of each commit after it has returned.
///
///     FaultProgramme victim PATH SEED KIND
///
/// A plain number is a durable commit. A number after "deferred" is a commit that survives a kill of the
/// process, but not necessarily a power cut.
enum Victim {
  static func run(_ words: [String]) throws -> Never {
    Worker.limitTime()
    guard words.count == 3, let seed = UInt64(words[1]), let kind = VictimKind(rawValue: words[2]) else {
      throw Finding("usage: victim PATH SEED KIND")
    }
    if kind == .graph { try save(at: words[0], seed) }
    try commit(at: words[0], seed, kind)
  }

  private static func commit(at path: String, _ seed: UInt64, _ kind: VictimKind) throws -> Never {
    let engine = try Engine(at: path, options: kind.options)
    let workload = kind.rows(seed: seed)
    var number = VictimRows.count(in: try Session.rows(of: engine))
    while true {
      number += 1
      let durability = kind.durability(of: number)
      try engine.write(durability: durability) { transaction in
        for change in workload.changes(of: number) {
          if let value = change.value {
            try transaction.put(change.key, value)
          } else {
            _ = try transaction.delete(change.key)
          }
        }
      }
      say(durability == .full ? "\(number)" : "deferred \(number)")
    }
  }

  private static func save(at path: String, _ seed: UInt64) throws -> Never {
    let container = try VictimGraph.open(path)
    let workload = VictimGraph(seed: seed)
    var number = try workload.count(in: container)
    while true {
      number += 1
      try GraphSession.run(workload.step(number), on: container)
      say("\(number)")
    }
  }

  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
