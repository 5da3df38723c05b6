import Foundation
import ReadingStore

/// `readings add SENSOR VALUE`, `readings show SENSOR`.
@main
struct Main {
  static func main() throws {
    let store = try ReadingStore(at: "readings.heartwood")
    defer { try? store.close() }
    let words = CommandLine.arguments.dropFirst()
    switch (words.first, words.dropFirst().first, words.last.flatMap(Double.init)) {
    case ("add", let sensor?, let value?):
      let now = UInt64(Date().timeIntervalSince1970 * 1000)
      try store.add([Reading(time: now, value: value)], of: sensor)
    case ("show", let sensor?, _): print(try store.read { try summary(of: sensor, $0) })
    default: print("readings add SENSOR VALUE\nreadings show SENSOR")
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
