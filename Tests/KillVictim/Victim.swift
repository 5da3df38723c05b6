import Foundation
import HeartwoodEngine

/// A process that commits until it is killed, and says each commit's number once it is durable.
///
///     victim PATH SEED
@main
struct Victim {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let seed = UInt64(arguments[2]) else {
      FileHandle.standardError.write(Data("usage: victim PATH SEED\n".utf8))
      exit(64)
    }
    var options = EngineOptions()
    // Small figures, so that a short life meets segment rolls and checkpoints.
    options.segmentBytes = 64 << 10
    options.checkpointBytes = 32 << 10
    let engine = try Engine(at: arguments[1], options: options)
    let workload = KillWorkload(seed: seed)
    var number = try last(in: engine)
    while true {
      number += 1
      try engine.write { transaction in
        for change in workload.changes(of: number) {
          if let value = change.value {
            try transaction.put(change.key, value)
          } else {
            _ = try transaction.delete(change.key)
          }
        }
      }
      FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    }
  }

  private static func last(in engine: Engine) throws -> UInt64 {
    let value = try engine.read { try $0.get(KillWorkload.counterKey) }
    return value.flatMap { UInt64(String(decoding: $0, as: UTF8.self)) } ?? 0
  }
}
