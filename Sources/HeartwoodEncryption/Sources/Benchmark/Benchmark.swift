import Foundation
import HeartwoodEncryption
import HeartwoodFaults
import HeartwoodFiles

/// Measures the costs of encryption: `encryption-benchmark [FOLDER]`. Rounds alternate between the subjects, and the medians
/// are shown.
@main
struct Benchmark {
  private static let rowCount = 200_000
  private static let rounds = 5

  static func main() throws {
    let root = CommandLine.arguments.dropFirst().first ?? NSTemporaryDirectory() + "encryption-benchmark"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: root) }
    let names = subjects().map(\.name)
    var results: [String: [[Double]]] = [:]
    func note(_ row: String, _ subject: Int, _ rate: Double) {
      results[row, default: Array(repeating: [], count: names.count)][subject].append(rate)
    }
    for round in 0..<rounds {
      for (index, subject) in subjects().enumerated() {
        for (row, rate) in try run(subject, "\(root)/\(round)-\(index)") { note(row, index, rate) }
      }
    }
    try commit("\(root)/commits", note)
    print((["operations a second"] + names).joined(separator: " | "))
    for row in rowNames + commitNames {
      let medians = (results[row] ?? []).map { $0.sorted()[$0.count / 2] }
      print(([row] + medians.map { String(Int($0)) }).joined(separator: " | "))
    }
  }

  /// Durable commits, a few of each subject in turn, so that what else the disk does meets all of them.
  private static func commit(_ root: String, _ note: (String, Int, Double) -> Void) throws {
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    var open = subjects()
    for index in open.indices { try open[index].open("\(root)/\(index)") }
    for turn in 0..<60 {
      for (index, subject) in open.enumerated() {
        for (row, count) in zip(commitNames, [1, 100]) {
          for commit in 0..<(count == 1 ? 40 : 5) {
            let first = (turn * 40 + commit) * count
            let time = try seconds { try subject.put(first..<first + count, isDurable: true) }
            note(row, index, 1 / time)
          }
        }
      }
    }
    for index in open.indices { try open[index].close() }
  }

  private static func seconds(_ body: () throws -> Void) rethrows -> Double {
    let time = try ContinuousClock().measure(body).components
    return Double(time.seconds) + Double(time.attoseconds) / 1e18
  }

  private static func subjects() -> [any Subject] {
    let key = MasterKey(bytes: [UInt8](repeating: 7, count: 32))
    var all: [any Subject] = [
      EngineSubject("plain, mapped", .mapped, PosixFileSystem()),
      EngineSubject("plain, buffered", .buffered, PosixFileSystem()),
      EngineSubject("AES-256-GCM", .buffered, EncryptedFileSystem(key: key)),
      EngineSubject(
        "ChaCha20-Poly1305", .buffered, EncryptedFileSystem(key: key, algorithm: .chaCha20Poly1305)),
    ]
    if let peer = SQLCipherSubject() { all.append(peer) }
    return all
  }

  private static let rowNames = [
    "puts, 1,000 a commit, not synced", "random reads after opening", "random reads", "scanned rows",
  ]
  private static let commitNames = ["durable commits of one put", "durable commits of 100 puts"]

  private static func run(_ subject: any Subject, _ path: String) throws -> [(String, Double)] {
    var subject = subject
    var rates: [(String, Double)] = []
    func measure(_ count: Int, _ body: () throws -> Void) rethrows {
      rates.append((rowNames[rates.count], Double(count) / (try seconds(body))))
    }
    defer { try? FileManager.default.removeItem(atPath: path) }
    try subject.open(path)
    try measure(rowCount) {
      for first in stride(from: 0, to: rowCount, by: 1000) {
        try subject.put(first..<first + 1000, isDurable: false)
      }
    }
    try subject.close()
    try subject.open(path)
    let random = SeededEntropy(seed: 5)
    func readRandom(_ count: Int) throws {
      for _ in 0..<count {
        guard try subject.get(Int(random.next() % UInt64(rowCount))) == 100 else { throw Missing() }
      }
    }
    try measure(20_000) { try readRandom(20_000) }
    try readRandom(200_000)
    try measure(400_000) { try readRandom(400_000) }
    try measure(rowCount) { guard try subject.scan() == rowCount * 100 else { throw Missing() } }
    try subject.close()
    return rates
  }

  private struct Missing: Error {}
}
