import HeartwoodEncryption
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// One store of keys of 16 and values of 100 bytes.
protocol Subject {
  var name: String { get }
  /// Opens the store at a path, which it makes.
  mutating func open(_ path: String) throws
  /// Puts values in one transaction.
  func put(_ keys: Range<Int>, isDurable: Bool) throws
  /// Reads one value.
  func get(_ key: Int) throws -> Int
  /// Reads all values.
  func scan() throws -> Int
  mutating func close() throws
}

/// Keys and values, the same for all subjects.
enum Rows {
  static func key(_ number: Int) -> [UInt8] {
    // Spread over all keys, so that neighbours are not put one after the other.
    let spread = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
    let digits = String(spread, radix: 16)
    return Array((String(repeating: "0", count: 16 - digits.count) + digits).utf8)
  }

  static func value(_ number: Int) -> [UInt8] {
    var value = [UInt8](repeating: 0, count: 100)
    var state = UInt64(number) &+ 1
    for index in value.indices {
      state = state &* 6_364_136_223_846_793_005 &+ 1
      value[index] = UInt8(truncatingIfNeeded: state >> 33)
    }
    return value
  }
}

/// A store of the engine over a file system.
struct EngineSubject: Subject {
  let name: String
  let reading: EngineOptions.Reading
  let files: any FileSystem
  private var engine: Engine?

  init(_ name: String, _ reading: EngineOptions.Reading, _ files: any FileSystem) {
    self.name = name
    self.reading = reading
    self.files = files
  }

  mutating func open(_ path: String) throws {
    var options = EngineOptions()
    options.reading = reading
    engine = try Engine(at: path, options: options, fileSystem: files)
  }

  func put(_ keys: Range<Int>, isDurable: Bool) throws {
    try engine?.write(durability: isDurable ? .full : .deferred) { transaction in
      for key in keys { try transaction.put(Rows.key(key), Rows.value(key)) }
    }
  }

  func get(_ key: Int) throws -> Int {
    try Rows.key(key).withUnsafeBytes { try engine?.withValue(of: $0) { $0.count } ?? 0 }
  }

  func scan() throws -> Int {
    var bytes = 0
    try engine?.read { snapshot in
      try snapshot.scan { _, value in
        bytes += value.count
        return true
      }
    }
    return bytes
  }

  mutating func close() throws {
    try engine?.close()
    engine = nil
  }
}
