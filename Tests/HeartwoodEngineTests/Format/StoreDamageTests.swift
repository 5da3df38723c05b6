import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Damaged bytes yield the right data or an error, never wrong data.
@Suite struct StoreDamageTests {
  @Test(arguments: [EngineOptions.Reading.mapped, .buffered])
  func `any byte changed in a closed store is an error or does no harm`(reading: EngineOptions.Reading) throws
  {
    let (store, model) = try StoreFiles.small()
    var random = SplitMix64(seed: 1)
    var errors = 0
    for name in store.files.keys.sorted() {
      for offset in StoreFiles.offsets(in: store.files[name] ?? [], &random)
      where reading == .buffered || offset % 8 == 0 {
        var damaged = store
        damaged.files[name]?[offset] ^= UInt8(1 << (offset % 8))
        errors += try outcome(
          damaged, model, reading, "\(name), byte \(offset)", isThorough: offset % 16 == 0)
      }
    }
    #expect(errors > 100)
  }

  @Test(arguments: [EngineOptions.Reading.mapped, .buffered])
  func `a closed store cut at any length is an error or does no harm`(reading: EngineOptions.Reading) throws {
    let (store, model) = try StoreFiles.small()
    var random = SplitMix64(seed: 2)
    for name in store.files.keys.sorted() {
      let bytes = store.files[name] ?? []
      for length in StoreFiles.offsets(in: bytes, &random) where reading == .buffered || length % 8 == 0 {
        var damaged = store
        damaged.files[name] = Array(bytes[..<length])
        _ = try outcome(damaged, model, reading, "\(name), cut at \(length)", isThorough: length % 16 == 0)
      }
    }
  }

  @Test func `a store with a file missing, empty, doubled or from another store is refused or does no harm`()
    throws
  {
    let (store, model) = try StoreFiles.small()
    let other = try StoreFiles.small().files
    for name in store.files.keys.sorted() {
      var missing = store
      missing.files[name] = nil
      if name == StoreFolder.anchorName {
        #expect(code { try open(missing, .mapped).close() } == .notAStore)
      } else {
        _ = try outcome(missing, model, .mapped, "without \(name)")
      }
      var foreign = store
      foreign.files[name] = other.files[name]
      _ = try outcome(foreign, model, .mapped, "\(name) from another store")
      var swapped = store
      for another in store.files.keys.sorted() where another != name {
        swapped.files[name] = store.files[another]
        _ = try outcome(swapped, model, .mapped, "\(name) as \(another)")
      }
    }
  }

  @Test(arguments: [20, 70_000])
  func `an anchor from an earlier close removes no later commit`(bytes: Int) throws {
    let memory = MemoryFileSystem()
    let options = Self.options(.buffered)
    let first = try Engine(at: StoreFiles.path, options: options, fileSystem: memory)
    try first.write { try $0.put("first", [UInt8](repeating: 1, count: bytes)) }
    try first.close()
    let anchor = try StoreFiles(memory).files[StoreFolder.anchorName]
    // With the longer value, the log continues in another segment.
    let second = try Engine(at: StoreFiles.path, options: options, fileSystem: memory)
    try second.write { try $0.put("second", [2]) }
    try second.close()
    var files = try StoreFiles(memory)
    files.files[StoreFolder.anchorName] = anchor
    let engine = try open(files, .buffered)
    #expect(try engine.snapshot().get("second") == [2])
    #expect(try engine.verify().isSound)
    try engine.close()
  }

  @Test func `garbage in whole blocks is an error or does no harm`() throws {
    let (store, model) = try StoreFiles.small()
    var random = SplitMix64(seed: 3)
    for name in store.files.keys.sorted() {
      let count = store.files[name]?.count ?? 0
      for start in stride(from: 0, to: count, by: 512) {
        for kind in 0..<3 {
          var damaged = store
          for offset in start..<min(count, start + 512) {
            let old = store.files[name]?[(offset + 512) % count] ?? 0
            damaged.files[name]?[offset] = [0, UInt8(truncatingIfNeeded: random.next()), old][kind]
          }
          _ = try outcome(damaged, model, .buffered, "\(name), block at \(start), kind \(kind)")
        }
      }
    }
  }

  @Test func `verification names the damage in an open store`() throws {
    let (store, _) = try StoreFiles.small()
    for name in store.files.keys.sorted() where !ProcessAttachment.isFile(name) {
      let fileSystem = try store.mounted()
      let engine = try Engine(at: StoreFiles.path, options: Self.options(.mapped), fileSystem: fileSystem)
      #expect(try engine.verify().isSound)
      let file = try fileSystem.openDirectory(StoreFiles.path).open(name, .readWrite)
      let offset = name == StoreFolder.anchorName ? 20 : name.hasSuffix(".log") ? 230 : 4096 + 70
      let changed = [(store.files[name]?[offset] ?? 0) ^ 4]
      try changed.withUnsafeBytes { try file.writeFully($0, at: Int64(offset)) }
      let report = try engine.verify()
      #expect(!report.isSound, "\(name)")
      try file.close()
    }
  }

  private static func options(_ reading: EngineOptions.Reading) -> EngineOptions {
    var options = StoreKind.memoryMapped.options
    options.reading = reading
    return options
  }

  private func open(_ store: StoreFiles, _ reading: EngineOptions.Reading) throws -> Engine {
    try Engine(at: StoreFiles.path, options: Self.options(reading), fileSystem: try store.mounted())
  }

  /// Opens and reads. Returns 1 if that is refused.
  private func outcome(
    _ store: StoreFiles, _ model: Model, _ reading: EngineOptions.Reading, _ comment: String,
    isThorough: Bool = true
  ) throws -> Int {
    do {
      let engine = try open(store, reading)
      let isRight = try engine.read { try $0.model() } == model
      #expect(isRight, "\(comment): wrong data")
      if isThorough {
        _ = try engine.generations()
        _ = try engine.verify()
        try engine.close()
      }
      return 0
    } catch is EngineError {
      return 1
    }
  }
}
