import HeartwoodEncryption
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

/// A change to the files of a closed store is an error, or changes nothing that is read.
@Suite struct TamperingTests {
  private static let path = "/store"
  private let disk = SimulatedFileSystem()
  private var files: EncryptedFileSystem { EncryptedFileSystem(over: disk, key: .test) }

  /// Fills and closes a store.
  ///
  /// - Returns: Its contents.
  @discardableResult
  private func fill(_ path: String = path, _ numbers: Range<Int> = 0..<60, byte: UInt8 = 1) throws
    -> [[UInt8]: [UInt8]]
  {
    let engine = try Engine(at: path, options: smallOptions(), fileSystem: files)
    for number in numbers {
      try engine.write {
        try $0.put("key \(number)", [UInt8](repeating: byte, count: 1 + number * 97 % 3000))
      }
      if number % 25 == 24 { try engine.checkpoint() }
    }
    let rows = try contents(engine)
    try engine.close()
    return rows
  }

  /// Whether all of a store is read as it was, or something is an error. Other contents are neither.
  private func isReadOrRefused(_ rows: [[UInt8]: [UInt8]], mustBeRefused: Bool, _ what: String) throws {
    do {
      var options = smallOptions()
      options.access = .readOnly
      let engine = try Engine(at: Self.path, options: options, fileSystem: files)
      defer { try? engine.close() }
      let found = try contents(engine)
      #expect(found == rows, "\(what)")
      let hasFindings = try !engine.verify().findings.isEmpty
      #expect(hasFindings || !mustBeRefused, "\(what)")
    } catch let error as EngineError {
      #expect([.damaged, .notAStore, .inputOutput, .wrongKey].contains(error.code), "\(what): \(error)")
    }
  }

  private var names: [String] {
    get throws {
      try disk.openDirectory(Self.path).entries().filter {
        $0.hasSuffix(".log") || $0.hasSuffix(".pages") || $0 == "anchor"
      }
    }
  }

  @Test func `a changed byte is an error, or of no use`() throws {
    let rows = try fill()
    let directory = try disk.openDirectory(Self.path)
    var refused = 0
    for name in try names {
      let bytes = try directory.bytes(of: name)
      for offset in stride(from: 0, to: bytes.count, by: 389) where bytes[offset] != 0 {
        try directory.overwrite(name, at: offset, [bytes[offset] ^ 0x40])
        try isReadOrRefused(rows, mustBeRefused: false, "\(name) at \(offset)")
        refused += 1
        try directory.overwrite(name, at: offset, [bytes[offset]])
      }
    }
    #expect(refused > 300)
    try isReadOrRefused(rows, mustBeRefused: false, "as it was")
  }

  @Test func `a block in the place of another one is an error`() throws {
    let rows = try fill()
    let directory = try disk.openDirectory(Self.path)
    for name in try names where name != "anchor" {
      let bytes = try directory.bytes(of: name)
      let first = name.hasSuffix(".log") ? 256 + 4 * 4160 : 256
      let blocks = (0..<(bytes.count - first) / 4160).map { first + $0 * 4160 }
      for (place, other) in zip(blocks, blocks.dropFirst()) where bytes[place] != 0 && bytes[other] != 0 {
        try directory.overwrite(name, at: place, Array(bytes[other..<other + 4160]))
        try isReadOrRefused(rows, mustBeRefused: false, "\(name) at \(place)")
        try directory.put(name, bytes)
      }
    }
    let segments = try names.filter { $0.hasSuffix(".log") }
    #expect(segments.count > 1)
    let (first, second) = (segments[0], segments[1])
    let bytes = try (directory.bytes(of: first), directory.bytes(of: second))
    try directory.put(first, bytes.1)
    try directory.put(second, bytes.0)
    try isReadOrRefused(rows, mustBeRefused: true, "two files were exchanged")
  }

  @Test func `a file of another store is an error, also of one with the same master key`() throws {
    let rows = try fill()
    try fill("/other", byte: 2)
    let directory = try disk.openDirectory(Self.path)
    let other = try disk.openDirectory("/other")
    for name in try names where try other.entries().contains(name) {
      let bytes = try directory.bytes(of: name)
      try directory.put(name, try other.bytes(of: name))
      try isReadOrRefused(rows, mustBeRefused: true, name)
      try directory.put(name, bytes)
    }
    try directory.put("keys", try other.bytes(of: "keys"))
    try isReadOrRefused(rows, mustBeRefused: true, "keys")
  }

  @Test func `a file that is cut, or as it was before, is an error, or changes nothing that is read`() throws
  {
    try fill(Self.path, 0..<30)
    let directory = try disk.openDirectory(Self.path)
    var former: [String: [UInt8]] = [:]
    for name in try names { former[name] = try directory.bytes(of: name) }
    let rows = try fill(Self.path, 30..<60)
    for name in try names {
      let bytes = try directory.bytes(of: name)
      for length in stride(from: 0, to: bytes.count - 1, by: 4160) {
        guard bytes[length...].contains(where: { $0 != 0 }) else { break }
        try directory.put(name, Array(bytes.prefix(length)))
        try isReadOrRefused(rows, mustBeRefused: false, "\(name) cut at \(length)")
      }
      if let earlier = former[name], earlier != bytes {
        try directory.put(name, earlier)
        // An earlier anchor says from where the log is read, and all of it is there.
        try isReadOrRefused(rows, mustBeRefused: name != "anchor", "\(name) as before")
      }
      try directory.put(name, bytes)
    }
    try isReadOrRefused(rows, mustBeRefused: false, "as it was")
  }
}
