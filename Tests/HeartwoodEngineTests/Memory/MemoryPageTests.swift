import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Systems have memory pages of 4, 16 and 64 KiB. Maps of files begin at their multiples.
@Suite struct `Larger memory pages` {
  @Test func `stores work with memory pages of 16 KiB`() async {
    await #expect(processExitsWith: .success) { try Self.run(pageBytes: 16 << 10) }
  }

  @Test func `stores work with memory pages of 64 KiB`() async {
    await #expect(processExitsWith: .success) { try Self.run(pageBytes: 64 << 10) }
  }

  /// A store with small and large unsynced commits, which are written through maps, reopened again and again.
  private static func run(pageBytes: Int) throws {
    MemoryPages.assume(pageBytes)
    #expect(AnonymousMemory.pageSize == pageBytes)
    var random = SplitMix64(seed: 3)
    try StoreKind.posixMapped.withPlace { fileSystem, path in
      var model: Model = [:]
      for _ in 0..<6 {
        let engine = try Engine(at: path, options: StoreKind.posixMapped.options, fileSystem: fileSystem)
        for _ in 0..<80 {
          let (key, value) = (random.bytes(1 + random.below(3)), random.bytes(random.below(6000)))
          try engine.write(durability: .deferred) { try $0.put(key, value) }
          model[key] = value
        }
        try engine.checkpoint()
        try engine.reclaim()
        let (snapshot, report) = (try engine.snapshot(), try engine.verify())
        guard try snapshot.model() == model, report.isSound else { throw Difference() }
        try engine.close()
      }
    }
  }

  private struct Difference: Error {}
}
