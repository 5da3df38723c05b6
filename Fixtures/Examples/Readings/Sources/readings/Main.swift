import Foundation
import ReadingStore

/// The commands.
@main
struct Main {
  static let usage = "readings add SENSOR VALUE\nreadings show SENSOR"

  static func main() throws {
    let store = try ReadingStore(at: "readings.heartwood")
    defer { try? store.close() }
    if let text = try run(Array(CommandLine.arguments.dropFirst()), store) { print(text) }
  }

  /// - Returns: The text to print.
  static func run(_ words: [String], _ store: ReadingStore) throws -> String? {
    switch (words.first, words.count, words.last.flatMap(Double.init)) {
    case ("add", 3, let value?) where value.isFinite:
      let now = UInt64(Date().timeIntervalSince1970 * 1000)
      try store.add([Reading(time: now, value: value)], of: words[1])
      return nil
    case ("show", 2, _): return try store.read { try summary(of: words[1], $0) }
    default: return usage
    }
  }

  static func summary(of sensor: String, _ state: ReadingStore.State) throws -> String {
    guard let latest = try state.latest(of: sensor) else { return "no readings" }
    var (least, greatest) = (Double.infinity, -Double.infinity)
    try state.forEach(of: sensor) { reading in
      (least, greatest) = (min(least, reading.value), max(greatest, reading.value))
      return true
    }
    return "\(try state.count(of: sensor)) readings, \(least) to \(greatest), latest \(latest.value)"
  }
}
