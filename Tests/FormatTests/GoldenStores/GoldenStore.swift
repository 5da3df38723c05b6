import Foundation
import HeartwoodFiles
import TestSupport
import Testing

/// A store that was written once and is kept in `Fixtures/Stores`, with its expected content.
struct GoldenStore: Sendable, CustomTestStringConvertible {
  /// The format's folder and the store's, such as "format-1/transactions".
  let name: String

  var testDescription: String { name }

  static let folder: URL = {
    var package = URL(filePath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    return package.appending(path: "Fixtures").appending(path: "Stores")
  }()

  var url: URL { Self.folder.appending(path: name) }
  /// The file with the expected content, next to the store.
  var descriptionURL: URL { url.appendingPathExtension("txt") }

  /// All golden stores, of all formats.
  static func all() throws -> [GoldenStore] {
    let formats = try names(in: folder).filter { $0.hasPrefix("format-") }
    return try formats.flatMap { format in
      try names(in: folder.appending(path: format)).filter { $0.hasSuffix(".txt") }
        .map { GoldenStore(name: format + "/" + $0.dropLast(4)) }
    }
  }

  /// The expected description of the store, without the comment lines.
  func expected() throws -> String {
    let text = try String(contentsOf: descriptionURL, encoding: .utf8)
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: "\n")
  }

  /// Runs `body` with the path of a copy.
  func withCopy<Result>(_ body: (String) throws -> Result) throws -> Result {
    try TemporaryFolder.with { folder in
      let path = folder + "/store"
      try FileManager.default.copyItem(atPath: url.path, toPath: path)
      return try body(path)
    }
  }

  static func files(at path: String) throws -> [String: Data] {
    let folder = URL(filePath: path)
    return try Dictionary(
      uniqueKeysWithValues: names(in: folder).filter { $0 != "processes" }.map {
        ($0, try Data(contentsOf: folder.appending(path: $0)))
      })
  }

  private static func names(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }
}

/// A clock that advances one second per call, so that a recipe always gets the same times.
final class GoldenClock: WallClock, @unchecked Sendable {
  private let lock = NSLock()
  private var seconds: Int64 = 1_800_000_000

  var nanosecondsSince1970: Int64 {
    lock.withLock {
      seconds += 1
      return seconds * 1_000_000_000
    }
  }
}

/// Pseudorandom numbers that depend only on the recipe's name.
final class GoldenEntropy: Entropy, @unchecked Sendable {
  private let lock = NSLock()
  private var state: UInt64

  init(_ name: String) {
    state = name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  func next() -> UInt64 {
    lock.withLock {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }
}
