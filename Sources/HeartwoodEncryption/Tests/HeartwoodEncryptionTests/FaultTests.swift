import HeartwoodEncryption
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

/// Calls below the encryption fail: what was acknowledged is there afterwards, and nothing else than was put.
@Suite struct FaultTests {
  private static let path = "/store"

  /// Puts values until the end, past errors; returns those whose commits were acknowledged, and all that were tried.
  private func work(_ files: any FileSystem) -> (acknowledged: [Int], tried: Int) {
    var acknowledged: [Int] = []
    var engine: Engine?
    for number in 0..<30 {
      do {
        if engine == nil { engine = try Engine(at: Self.path, options: smallOptions(), fileSystem: files) }
        try engine?.write { try $0.put("key \(number)", Self.value(number)) }
        acknowledged.append(number)
        if number == 12 { try engine?.checkpoint() }
        if number == 20 { _ = try engine?.reclaim() }
      } catch {
        // As a program does that opens the store again.
        try? engine?.close()
        engine = nil
      }
    }
    try? engine?.close()
    return (acknowledged, 30)
  }

  private static func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(number + 1), count: [5, 700, 3000, 9000][number % 4])
  }

  private func check(_ disk: any FileSystem, _ acknowledged: [Int], _ what: String) throws {
    let engine = try Engine(
      at: Self.path, options: smallOptions(), fileSystem: EncryptedFileSystem(over: disk, key: .test))
    let rows = try contents(engine)
    for number in acknowledged {
      #expect(rows[Array("key \(number)".utf8)] == Self.value(number), "\(what): key \(number)")
    }
    for (key, value) in rows {
      let number = Int(String(decoding: key.dropFirst(4), as: UTF8.self)) ?? -1
      #expect((0..<30).contains(number) && value == Self.value(number), "\(what)")
    }
    #expect(try engine.verify().findings.isEmpty, "\(what)")
    try engine.close()
  }

  @Test func `each call that fails once loses no acknowledged commit`() throws {
    let notes = SealNotes()
    var number = 1
    while true {
      let disk = SimulatedFileSystem(seed: UInt64(number))
      let fault = FaultPlan.Fault.fail(.mutations, .nth(number)).unlessUnused
      let faulty = FaultInjectingFileSystem(base: disk, plan: [fault])
      let (acknowledged, _) = work(notes.fileSystem(over: faulty))
      guard faulty.injectedErrorCount > 0 else { break }
      try check(disk, acknowledged, "call \(number)")
      number += 1
    }
    #expect(number > 150)
    #expect(notes.repeatedCount == 0)
  }

  @Test(arguments: [1, 7, 511, 4159])
  func `transfers may be short`(bytes: Int) throws {
    let disk = SimulatedFileSystem()
    var plan = FaultPlan(largestRead: bytes, largestWrite: bytes)
    plan.limitsMayStayUnused = true
    let faulty = FaultInjectingFileSystem(base: disk, plan: plan)
    let (acknowledged, tried) = work(EncryptedFileSystem(over: faulty, key: .test))
    #expect(acknowledged.count == tried)
    try check(disk, acknowledged, "\(bytes)")
  }

  @Test(arguments: Array(stride(from: 1000, to: 300_000, by: 11_117)))
  func `a full disk loses no acknowledged commit`(room: Int) throws {
    let disk = SimulatedFileSystem()
    disk.spaceLimit = Int64(room)
    let (acknowledged, _) = work(EncryptedFileSystem(over: disk, key: .test))
    disk.spaceLimit = nil
    try check(disk, acknowledged, "\(room) bytes")
  }

  @Test func `a bit that a read flips is an error, and read again it is not`() throws {
    let disk = SimulatedFileSystem()
    let (acknowledged, _) = work(EncryptedFileSystem(over: disk, key: .test))
    for number in 1...120 {
      let fault = FaultPlan.Fault.flipBits(3, .nth(number), seed: UInt64(number)).unlessUnused
      let faulty = FaultInjectingFileSystem(base: disk, plan: [fault])
      do {
        var options = smallOptions()
        options.access = .readOnly
        let engine = try Engine(
          at: Self.path, options: options, fileSystem: EncryptedFileSystem(over: faulty, key: .test))
        defer { try? engine.close() }
        let rows = try contents(engine)
        for number in acknowledged { #expect(rows[Array("key \(number)".utf8)] == Self.value(number)) }
      } catch {
        #expect(error is EngineError)
      }
    }
    try check(disk, acknowledged, "afterwards")
  }
}
