import Foundation

/// Runs programs in Python, whose `zlib` and `plistlib` are what the readers are compared with.
enum Python {
  static let path: String? = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"].first
  {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// The lines that a program prints.
  static func lines(_ program: String, _ arguments: String...) throws -> [Substring] {
    let process = Process()
    process.executableURL = URL(filePath: path ?? "/usr/bin/python3")
    process.arguments = ["-c", program] + arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
    return String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast()
  }

  struct Failure: Error {
    let status: Int32
  }
}

/// Reproducible random numbers.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
    return z ^ z >> 31
  }
}

/// Bytes with each byte changed in turn, in three ways, and cut off at each place.
func damaged(_ bytes: [UInt8], _ body: ([UInt8]) throws -> Void) rethrows {
  for place in bytes.indices {
    for change: UInt8 in [0x01, 0x80, 0xff] {
      var changed = bytes
      changed[place] ^= change
      try body(changed)
    }
    try body(Array(bytes[..<place]))
  }
}
