import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite("A store that several processes make together")
struct StoreCreationTests {
  @Test func `an engine uses a store folder that another process has just created`() throws {
    let disk = SimulatedFileSystem()
    let racing = FaultInjectingFileSystem(
      base: disk,
      onMutation: { mutation in
        if mutation.operation == .createDirectory { try? disk.createDirectory("/store") }
      })
    let options = StoreKind.simulated.processOptions
    let engine = try Engine(at: "/store", options: options, fileSystem: racing)
    try engine.write { try $0.put("a", [1]) }
    #expect(try engine.snapshot().get("a") == [1])
    try engine.close()
  }

  @Test func `processes that create a store together open the same store and commit to it`() throws {
    for round in 0..<5 {
      try TemporaryFolder.with { folder in
        let path = folder + "/store"
        let failures = Guarded<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
          do {
            let engine = try Engine(at: path, options: StoreKind.posixMapped.processOptions)
            try engine.write { try $0.put("\(number)", [UInt8(number)]) }
            try engine.close()
          } catch {
            failures.withLock { $0.append("\(number): \(error)") }
          }
        }
        #expect(failures.withLock { $0 } == [], "round \(round)")
        let engine = try Engine(at: path, options: StoreKind.posixMapped.processOptions)
        #expect(try engine.snapshot().count(in: .all) == 8, "round \(round)")
        #expect(try engine.verify().isSound)
        try engine.close()
      }
    }
  }
}
