import Foundation
import HeartwoodFiles

/// A process of this program that is killed when it has acknowledged a given number of transactions.
struct KilledProcess {
  /// The executable of the victim. This program includes the victim as its first argument.
  let program: URL

  /// The output of a victim before it was killed, line by line.
  struct Words {
    /// The last transaction that was durable.
    var acknowledged = 0
    /// The last transaction whose commit returned, durable or not.
    var returned = 0
    fileprivate var rest = Data()

    init(after number: Int) { (acknowledged, returned) = (number, number) }

    fileprivate mutating func add(_ data: Data) {
      rest += data
      // Ignores a line that the kill has truncated.
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
        rest = Data(rest[(end + 1)...])
        guard let number = words.last.flatMap({ Int($0) }) else { continue }
        returned = max(returned, number)
        if words.count == 1 { acknowledged = max(acknowledged, number) }
      }
    }
  }

  /// Starts a victim and kills it shortly after it has committed up to `wanted`.
  func run(
    _ arguments: [String], from committed: Int, until wanted: Int, microseconds: Int
  ) throws -> Words {
    let process = Process()
    process.executableURL = program
    process.arguments = ["victim"] + arguments
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try Self.inheritance.withLock { try process.run() }
    var words = Words(after: committed)
    while words.returned < wanted {
      let more = pipe.fileHandleForReading.availableData
      try require(!more.isEmpty, "the victim ended by itself after transaction \(words.returned)")
      words.add(more)
    }
    usleep(UInt32(microseconds))
    let hasEnded = !process.isRunning
    kill(process.processIdentifier, SIGKILL)
    // Output that was written before the kill counts as acknowledged.
    words.add(pipe.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    try require(!hasEnded, "the victim ended by itself with \(process.terminationStatus)")
    return words
  }

  /// Held while a process is started and while this process has a store open, because the new process briefly
  /// inherits all open files, and with them the locks.
  static let inheritance = Lock()
}
