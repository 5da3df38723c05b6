import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Creates a golden store, with the same bytes each time.
struct GoldenRecipe: Sendable {
  let name: String
  /// Description for readers of the fixture.
  let summary: String
  var isGraph = false
  /// Creates the store in a folder that does not exist yet.
  let make: @Sendable (_ path: String) throws -> Void

  static let all = healthy + damaged

  static let healthy = [
    GoldenRecipe(name: "empty", summary: "A store that nothing was written to, closed.") { path in
      try open(path, "empty").close()
    },
    GoldenRecipe(
      name: "transactions", summary: "Four transactions: short, long and empty values, deletes; closed."
    ) { path in
      let engine = try open(path, "transactions")
      try write(to: engine)
      try engine.close()
    },
    GoldenRecipe(
      name: "unclosed", summary: "The same, and its writer was killed: nothing proves its last transaction."
    ) { path in
      try unclosed(path, "unclosed")
    },
    GoldenRecipe(
      name: "torn-tail",
      summary: "The same, after a power cut: the last transaction has come to the disk in part."
    ) { path in
      try unclosed(path, "torn-tail")
      try change(log, at: path) { bytes in
        let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        for index in end - 20..<end { bytes[index] = 0 }
      }
    },
    GoldenRecipe(
      name: "reclaimed",
      summary:
        "Several segments, overwritten and deleted values, a tree of two levels, and reclaimed space; closed.",
      make: reclaimed),
    GoldenRecipe(
      name: "keys-of-one-length",
      summary: "Leaves without slots, one that has got them, and one that has lost them again; closed.",
      make: keysOfOneLength),
    GoldenRecipe(
      name: "graph", summary: "A graph with relationships of all kinds, and its history; closed.",
      isGraph: true, make: GoldenGraph.make),
    GoldenRecipe(
      name: "migrated-graph",
      summary:
        "The graph, migrated to a model with other names, numbers and layouts, and used since; closed.",
      isGraph: true, make: GoldenGraph.makeMigrated),
    GoldenRecipe(
      name: "values",
      summary:
        "Objects with attributes of every type, data outside rows, metadata, and a history that begins later; closed.",
      isGraph: true, make: GoldenValues.make),
    GoldenRecipe(
      name: "versions",
      summary: "Rows of three versions of a model, read by the last of them, and history of all; closed.",
      isGraph: true, make: GoldenVersions.make),
  ]

  static let damaged = [
    GoldenRecipe(
      name: "flipped-frame", summary: "A bit of a frame has turned that is proven to have been on disk."
    ) { path in
      try unclosed(path, "flipped-frame")
      try change(log, at: path) { $0[0x100] ^= 1 }
    },
    GoldenRecipe(name: "damaged-page", summary: "A bit of the tree's only page has turned.") { path in
      let engine = try open(path, "damaged-page")
      try write(to: engine)
      try engine.close()
      try change("0000000000000002.pages", at: path) { $0[4096 + 200] ^= 1 }
    },
    GoldenRecipe(name: "damaged-anchor", summary: "A bit has turned in each slot of the anchor.") { path in
      try unclosed(path, "damaged-anchor")
      try change("anchor", at: path) { bytes in
        for slot in [0, 4096] { bytes[slot + 100] ^= 1 }
      }
    },
    GoldenRecipe(name: "missing-segment", summary: "The log is not there.") { path in
      let engine = try open(path, "missing-segment")
      try write(to: engine)
      try engine.close()
      try FileManager.default.removeItem(atPath: path + "/" + log)
    },
    GoldenRecipe(name: "truncated-log", summary: "The log of a closed store ends in its second frame.") {
      path in
      let engine = try open(path, "truncated-log")
      try write(to: engine)
      try engine.close()
      try change(log, at: path) { $0.removeLast($0.count - 0x1A0) }
    },
    GoldenRecipe(
      name: "newer-format", summary: "The anchor of a store in format 9, which asks for a reader of format 9."
    ) {
      path in
      try open(path, "newer-format").close()
      try FileManager.default.removeItem(atPath: path + "/" + log)
      try change("anchor", at: path) { bytes in
        for slot in 0..<2 { AnchorEditing.setFormat(9, ofSlot: slot, &bytes) }
      }
    },
  ]
}

// MARK: Steps

extension GoldenRecipe {
  static let log = "0000000000000001.log"

  static func options(_ seed: String) -> EngineOptions {
    EngineOptions(
      durability: .full, segmentBytes: 64 << 10, checkpointBytes: 1 << 30, worker: InlineWorker(),
      clock: GoldenClock(), entropy: GoldenEntropy(seed))
  }

  private static func open(_ path: String, _ seed: String) throws -> Engine {
    try Engine(at: path, options: options(seed))
  }

  private static func write(to engine: Engine) throws {
    try engine.write { transaction in
      try transaction.put("city/lyon", Array("520774".utf8))
      try transaction.put("city/nice", Array("348085".utf8))
      try transaction.put("empty", [])
      try transaction.put([0, 1, 0xFF], [0, 0xFE])
    }
    try engine.write { transaction in
      try transaction.put("long", [UInt8](repeating: 0x6C, count: 100))
      try transaction.put("city/lyon", Array("522250 people live in Lyon".utf8))
    }
    try engine.write { transaction in
      try transaction.delete("city/nice")
      for number in 0..<5 { try transaction.put("temporary/\(number)", [UInt8(number)]) }
    }
    try engine.write { transaction in
      _ = try transaction.deleteRange(.prefix(Array("temporary/".utf8)))
      try transaction.put("last", Array("the last transaction".utf8))
    }
  }

  /// Copies the files of a store while it is open.
  private static func unclosed(_ path: String, _ seed: String) throws {
    let engine = try open(path + ".open", seed)
    try write(to: engine)
    try FileManager.default.copyItem(atPath: path + ".open", toPath: path)
    try engine.close()
    try FileManager.default.removeItem(atPath: path + ".open")
  }

  /// Reclamation keeps the first segment, and moves the live data of the second one to the third.
  @Sendable private static func reclaimed(_ path: String) throws {
    var options = options("reclaimed")
    options.durability = .deferred
    let engine = try Engine(at: path, options: options)
    try engine.write { transaction in
      for number in 0..<220 { try transaction.put("short/\(1000 + number)", Array("\(number)".utf8)) }
    }
    for number in 0..<25 as Range<UInt8> {
      try engine.write { try $0.put("kept/\(10 + number)", [UInt8](repeating: 0x61 + number, count: 2500)) }
    }
    for number in 0..<28 as Range<UInt8> {
      try engine.write {
        try $0.put("changing/\(number % 4)", [UInt8](repeating: 0x41 + number, count: 2500))
      }
    }
    try engine.write { transaction in
      for number in 0..<220 where number % 10 == 3 { try transaction.delete("short/\(1000 + number)") }
      _ = try transaction.deleteRange(KeyRange(from: Array("kept/12".utf8), through: Array("kept/13".utf8)))
    }
    try engine.reclaim()
    try engine.write { try $0.put("after", Array("space was given back".utf8)) }  // words: ok
    try engine.close()
  }

  /// Puts a value that needs slots into one leaf without slots, and into another one, from which it is deleted again.
  @Sendable private static func keysOfOneLength(_ path: String) throws {
    let engine = try open(path, "keys-of-one-length")
    try engine.write { transaction in
      for number in 0..<700 {
        try transaction.put("key \(1000 + number)", Array("the value \(number)".utf8) + [0, 0, 0, 0])
      }
    }
    try engine.write { transaction in
      try transaction.put("key 1100", [1, 2, 3])
      try transaction.put("key 1600 and more", [UInt8](repeating: 7, count: 30))
      for number in 200..<400 where number % 3 != 0 { try transaction.delete("key \(1000 + number)") }
    }
    try engine.write { transaction in
      try transaction.delete("key 1600 and more")
      for number in 500..<690 { try transaction.delete("key \(1000 + number)") }
      for number in 500..<690 where number % 2 == 0 {
        try transaction.put("key \(1000 + number)", [UInt8](repeating: 9, count: 17))
      }
    }
    try engine.close()
  }

  private static func change(_ name: String, at path: String, _ body: (inout [UInt8]) -> Void) throws {
    let url = URL(filePath: path).appending(path: name)
    var bytes = Array(try Data(contentsOf: url))
    body(&bytes)
    try Data(bytes).write(to: url)
  }
}
