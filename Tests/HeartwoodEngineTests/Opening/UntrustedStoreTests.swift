import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `An untrusted store` {
  private var options: EngineOptions {
    var options = StoreKind.memoryMapped.options
    options.untrusted = EngineOptions.UntrustedLimits()
    return options
  }

  @Test func `an untrusted store is opened read-only, whatever access is requested`() throws {
    let (store, model) = try StoreFiles.small()
    let fileSystem = try store.mounted()
    let engine = try Engine(at: StoreFiles.path, options: options, fileSystem: fileSystem)
    try engine.snapshot().expect(model, "untrusted")
    #expect(code { try engine.write { try $0.put("a", [1]) } } == .readOnly)
    try engine.close()
    #expect(try StoreFiles(fileSystem).files == store.files)
    #expect(
      code { _ = try Engine(at: "/none", options: options, fileSystem: fileSystem) } == .notFound)
    #expect(code { _ = try Engine(at: "/dev/null", options: options, fileSystem: fileSystem) } == .notFound)
  }

  @Test func `an untrusted store that exceeds a limit is refused before it is read`() throws {
    let store = try DamagedStore().files
    func refusal(_ change: (inout EngineOptions.UntrustedLimits) -> Void) throws -> EngineError.Code? {
      var limits = EngineOptions.UntrustedLimits()
      change(&limits)
      var options = options
      options.untrusted = limits
      let fileSystem = try store.mounted()
      return code { try Engine(at: StoreFiles.path, options: options, fileSystem: fileSystem).close() }
    }
    #expect(try refusal { _ in } == nil)
    #expect(try refusal { $0.fileBytes = 10_000 } == .tooLarge)
    #expect(try refusal { $0.files = 3 } == .tooLarge)
    #expect(try refusal { $0.treeLevels = 0 } == .tooLarge)
  }

  @Test func `an untrusted store with any damage is refused, also where no read would reach it`() throws {
    let (store, _) = try StoreFiles.small()
    var random = SplitMix64(seed: 31)
    for round in 0..<60 {
      let name = random.pick(
        store.files.keys.filter { $0.hasSuffix("log") || $0.hasSuffix("pages") }.sorted())
      var damaged = store
      let used = (damaged.files[name] ?? []).lastIndex { $0 != 0 } ?? 0
      let place = random.below(used + 1)
      damaged.files[name]?[place] ^= 1
      let mounted = try damaged.mounted()
      let found = code { try Engine(at: StoreFiles.path, options: options, fileSystem: mounted).close() }
      // The rest of a page segment's first page is unused.
      let isUnused = name.hasSuffix("pages") && (128..<4096).contains(place)
      #expect(found == .damaged || isUnused, "seed 31, round \(round): \(name) at \(place)")
    }
  }

  @Test func `a checkpoint that names more of a file than a file can hold is refused`() {
    let first = LogPoint(
      position: LogPosition(segment: 1, offset: Format.segmentHeaderBytes), sequence: 1, chain: 0,
      generation: 0)
    for (extent, isBorne) in [(UInt64(1), true), (4 << 30, true), ((4 << 30) + 1, false), (.max, false)] {
      let record = CheckpointRecord(
        generation: 0, root: CheckpointRecord.Root(reference: 0, checksum: 0, level: 0, count: 0),
        replay: first, previous: nil, previousChecksum: 0, previousGeneration: 0, nextSegment: 3,
        segments: [CheckpointRecord.Segment(number: 2, isLog: false, extent: extent, chain: 0)])
      let found = record.encoded().withUnsafeBytes { CheckpointRecord.decode($0) }
      #expect((found != nil) == isBorne, "\(extent)")
    }
  }

  @Test func `an untrusted store whose maker knew the format is refused or read, and never causes a trap`()
    throws
  {
    let store = try HostileStore()
    var random = SplitMix64(seed: 32)
    var opened = 0
    for round in 0..<(LongRun.isWanted ? 20_000 : 200) {
      var hostile = store
      _ = hostile.change(&random)
      hostile.seal()
      do {
        let engine = try Engine(
          at: StoreFiles.path, options: options, fileSystem: try hostile.files.mounted())
        // Verified data is read without errors.
        _ = try engine.snapshot().contents()
        try engine.close()
        opened += 1
      } catch { #expect(error is EngineError, "seed 32, round \(round): \(error)") }
    }
    #expect(opened > 5)
  }
}

@Suite struct NumberTableTests {
  @Test func `a number table takes no more memory for high numbers than for low ones`() {
    let table = NumberTable<Int>()
    let numbers: [UInt32] = [1, 1 << 20, (1 << 31) - 1, .max]
    let values = numbers.indices.map { StableReference($0) }
    defer { for value in values { value.free() } }
    for (number, value) in zip(numbers, values) { table.add(number, value) }
    for (number, value) in zip(numbers, values) { #expect(table[number]?.address == value.address) }
    for number in [0, 2, (1 << 31) - 2] as [UInt32] { #expect(table[number]?.address == nil) }
  }

  @Test func `a number table equals a dictionary`() {
    var random = SplitMix64(seed: 41)
    let table = NumberTable<Int>()
    let values = (0..<(1 << 12)).map { StableReference($0) }
    defer { for value in values { value.free() } }
    var known: [UInt32: Int] = [:]
    for step in 0..<(1 << 12) {
      let number = UInt32(random.below(3) == 0 ? 1 + random.below(1 << 31) : step + 1)
      if random.below(3) == 0, let gone = known.keys.min() {
        table.remove(gone)
        known[gone] = nil
      }
      guard known[number] == nil else { continue }
      table.add(number, values[step])
      known[number] = step
    }
    for (number, value) in known { #expect(table[number]?.value == value) }
    for number in UInt32(1)...5000 where known[number] == nil { #expect(table[number]?.value == nil) }
  }
}
