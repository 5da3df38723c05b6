import HeartwoodEngine

/// A value at a time.
package struct Reading: Hashable, Sendable {
  /// Milliseconds since 1970.
  package var time: UInt64
  package var value: Double

  package init(time: UInt64, value: Double) {
    self.time = time
    self.value = value
  }
}

/// The readings of sensors.
///
/// | key | value |
/// |---|---|
/// | `r`, the sensor, 0, the time | the value |
/// | `l`, the sensor | the time and the value of the latest reading |
package final class ReadingStore: Sendable {
  private let engine: Engine

  /// - Parameters:
  ///   - path: A folder; `/dev/null` for a store in memory.
  ///   - options: Those of the engine.
  package init(at path: String, options: EngineOptions = EngineOptions()) throws {
    var options = options
    options.content = StoreContent("readings")
    engine = try Engine(at: path, options: options)
  }

  package func close() throws { try engine.close() }

  /// Adds readings of a sensor: all of them or none.
  package func add(_ readings: [Reading], of sensor: String) throws {
    try engine.write { transaction in
      var latest = try transaction.get(Key.latest(sensor)).flatMap(Reading.init(bytes:))
      for reading in readings {
        try transaction.put(Key.reading(sensor, reading.time), reading.valueBytes)
        if reading.time >= latest?.time ?? 0 { latest = reading }
      }
      if let latest { try transaction.put(Key.latest(sensor), latest.bytes) }
    }
  }

  /// Deletes what is older than a time. The latest reading stays known.
  ///
  /// - Returns: How many readings were deleted.
  @discardableResult
  package func forget(before time: UInt64, of sensor: String) throws -> UInt64 {
    try engine.write { try $0.deleteRange(Key.readings(sensor, 0..<time)) }
  }

  /// Calls `body` with the state of now, which does not change while others write.
  package func read<Result>(_ body: (State) throws -> Result) throws -> Result {
    try body(State(snapshot: engine.snapshot()))
  }

  /// The readings at one moment.
  package struct State {
    let snapshot: Snapshot

    /// The latest reading of a sensor; nil if it has none.
    package func latest(of sensor: String) throws -> Reading? {
      try snapshot.get(Key.latest(sensor)).flatMap(Reading.init(bytes:))
    }

    /// How many readings a sensor has. Reads none of them.
    package func count(of sensor: String, in times: Range<UInt64> = 0..<UInt64.max) throws -> UInt64 {
      try snapshot.count(in: Key.readings(sensor, times))
    }

    /// Calls `body` with each reading, oldest first, until it returns false.
    package func forEach(
      of sensor: String, in times: Range<UInt64> = 0..<UInt64.max, _ body: (Reading) -> Bool
    ) throws {
      try snapshot.scan(Key.readings(sensor, times)) { key, value in
        guard let time = UInt64(bytes: key.suffix(8)), let bits = UInt64(bytes: value) else {
          return true
        }
        return body(Reading(time: time, value: Double(bitPattern: bits)))
      }
    }
  }
}

/// Keys in the order of times.
enum Key {
  static func latest(_ sensor: String) -> [UInt8] { Array("l".utf8) + Array(sensor.utf8) }

  static func reading(_ sensor: String, _ time: UInt64) -> [UInt8] {
    Array("r".utf8) + Array(sensor.utf8) + [0] + time.bytes
  }

  static func readings(_ sensor: String, _ times: Range<UInt64>) -> KeyRange {
    KeyRange(from: reading(sensor, times.lowerBound), to: reading(sensor, times.upperBound))
  }
}

extension Reading {
  fileprivate var valueBytes: [UInt8] { value.bitPattern.bytes }
  fileprivate var bytes: [UInt8] { time.bytes + valueBytes }

  fileprivate init?(bytes: [UInt8]) {
    guard let time = UInt64(bytes: bytes.prefix(8)), let bits = UInt64(bytes: bytes.dropFirst(8)) else {
      return nil
    }
    self.init(time: time, value: Double(bitPattern: bits))
  }
}

extension UInt64 {
  /// Eight bytes, the most significant first.
  fileprivate var bytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

  fileprivate init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 8 else { return nil }
    self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
