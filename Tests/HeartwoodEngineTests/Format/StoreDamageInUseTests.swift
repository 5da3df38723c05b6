import HeartwoodBytes
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Damage to a store that was not closed. It must not be mistaken for a torn tail, which is expected there.
@Suite struct StoreDamageInUseTests {
  @Test(arguments: [EngineOptions.Reading.mapped, .buffered])
  func `a changed byte removes at most the newest transaction, and only if it belongs to that`(
    reading: EngineOptions.Reading
  ) throws {
    let store = try StoreInUse()
    var random = SplitMix64(seed: 11)
    var tails = 0
    var refusals = 0
    for name in store.files.files.keys.sorted() {
      for offset in StoreFiles.offsets(in: store.files.files[name] ?? [], &random)
      where reading == .buffered || LongRun.isWanted || offset % 8 == 0 {
        var damaged = store.files
        damaged.files[name]?[offset] ^= UInt8(1 << (offset % 8))
        let place = "\(name), byte \(offset)"
        guard let found = try contents(of: damaged, reading, place, isThorough: offset % 16 == 0) else {
          refusals += 1
          continue
        }
        #expect(store.possible.contains(found), "\(place): wrong data")
        guard found != store.states.last else { continue }
        tails += 1
        #expect(name == store.logName && offset >= store.ends[5], "\(place): lost data")
      }
    }
    #expect(refusals > 50)
    #expect(tails > 10)
  }

  @Test(arguments: [EngineOptions.Reading.mapped, .buffered])
  func `a file cut at any length keeps the data before the cut, or is refused`(
    reading: EngineOptions.Reading
  ) throws {
    let store = try StoreInUse()
    var random = SplitMix64(seed: 12)
    for name in store.files.files.keys.sorted() {
      let bytes = store.files.files[name] ?? []
      for length in StoreFiles.offsets(in: bytes, &random) where reading == .buffered || length % 8 == 0 {
        var damaged = store.files
        damaged.files[name] = Array(bytes[..<length])
        let place = "\(name), cut at \(length)"
        let isLog = name == store.logName
        let whole = isLog ? store.ends.dropFirst().count { $0 <= length } : store.states.count - 1
        let found = try contents(of: damaged, reading, place, isThorough: length % 16 == 0)
        #expect(found == nil || found == store.states[whole], "\(place): wrong data")
        #expect(found == nil || whole >= store.durableCount, "\(place): lost data")
        if isLog, whole > store.durableCount { #expect(found != nil, "\(place): refused") }
      }
    }
  }

  @Test func `a read-only engine shows every whole transaction, and no damage after it`() throws {
    let store = try StoreInUse()
    for offset in [nil] + (store.ends[5]..<store.ends[6]).map(Optional.some) {
      var damaged = store.files
      if let offset { damaged.files[store.logName]?[offset] ^= 0x40 }
      var options = StoreKind.memoryBuffered.options
      options.access = .readOnly
      let engine = try Engine(at: StoreFiles.path, options: options, fileSystem: try damaged.mounted())
      // The last one, if it is damaged, is taken for a torn one.
      let whole = store.states[offset == nil ? 6 : 5]
      try engine.read { try $0.expect(whole, "byte \(offset ?? 0)") }
    }
  }

  @Test func `every byte of a frame is covered by its checksums`() throws {
    let store = try StoreInUse()
    for number in [5, 6] {
      for offset in store.ends[number - 1]..<store.ends[number] {
        var damaged = store.files
        damaged.files[store.logName]?[offset] ^= 0x10
        let found = try contents(of: damaged, .mapped, "byte \(offset)", isThorough: false)
        // The sixth transaction proves the fifth, and might be a torn tail itself.
        #expect(found == (number == 5 ? nil : store.states[5]), "transaction \(number), byte \(offset)")
      }
    }
  }

  @Test(arguments: [16, 24, 32])
  func `a frame that does not follow the one before it is not part of the log`(field: Int) throws {
    let store = try StoreInUse()
    var damaged = store.files
    var log = try #require(damaged.files[store.logName])
    // Sequence, transaction and chain have eight bytes each. Every checksum is valid afterwards.
    log[store.ends[5] + field] ^= 1
    try log.withWritableBytes { try Self.sign(frameAt: store.ends[5], in: $0) }
    damaged.files[store.logName] = log
    let found = try contents(of: damaged, .mapped, "field \(field)", isThorough: false)
    #expect(found == (field == 24 ? nil : store.states[5]))
  }

  private static func sign(frameAt offset: Int, in log: WritableBytes) throws {
    let identifier = StoreIdentifier(
      low: log.bytes.field64(16), high: log.bytes.field64(24))
    let header = try #require(
      SegmentHeader.decode(
        log.bytes.buffer, magic: Format.logSegmentMagic, number: 1, identifier: identifier))
    let frameBytes = log.bytes(from: offset)
    let sum = XXH64.hash(frameBytes.bytes.bytes(0, 72).buffer, seed: Checksums.seed(header.seed, at: offset))
    frameBytes.setField(72, sum)
    let frame = try #require(
      FrameHeader.decode(frameBytes.bytes.bytes(0, 80).buffer, seed: Checksums.seed(header.seed, at: offset)))
    var records = RecordIterator(
      frameBytes.bytes.bytes(Format.frameHeaderBytes, frame.header.payloadBytes), firstOffset: 0)
    var joined: UInt64 = 0
    while let (record, _) = records.next() { joined = Checksums.mix(joined, record.checksum) }
    frameBytes.setField(
      frame.header.totalBytes - Format.frameTrailerBytes, Checksums.mix(sum, joined))
  }

  @Test func `damage in several places at once yields an earlier state or an error`() throws {
    let store = try StoreInUse()
    var random = SplitMix64(seed: 13)
    // Most of a file is zeros. Only the other bytes matter.
    let places = store.files.files.flatMap { name, bytes in
      bytes.indices.filter { bytes[$0] != 0 }.map { (name: name, offset: $0) }
    }.sorted { ($0.name, $0.offset) < ($1.name, $1.offset) }
    var opened = 0
    for round in 0..<(LongRun.isWanted ? 50_000 : 1000) {
      var damaged = store.files
      for _ in 0..<(2 + random.below(4)) {
        let place = places[random.below(places.count)]
        Self.damage(&damaged.files[place.name, default: []], at: place.offset, &random)
      }
      let found = try contents(of: damaged, .buffered, "seed 13, round \(round)", isThorough: round % 4 == 0)
      guard let found else { continue }
      opened += 1
      #expect(store.states.contains(found), "seed 13, round \(round): wrong data")
    }
    #expect(opened > 20)
  }

  @Test func `bytes after the end of a file, and files of other names, do no harm`() throws {
    let (store, model) = try StoreFiles.small()
    var random = SplitMix64(seed: 14)
    for name in store.files.keys.sorted() {
      for count in [1, 7, 512, 5000] {
        for garbage in [random.bytes(count), [UInt8](repeating: 0, count: count)] {
          var longer = store
          longer.files[name]? += garbage
          #expect(try contents(of: longer, .mapped, name) == model, "\(name) with \(count) bytes more")
        }
      }
    }
    var crowded = store
    let strangers = ["notes.txt", "0000000000000063.log", "0000000000000064.pages", "1.log", ".hidden"]
    for name in strangers { crowded.files[name] = random.bytes(700) }
    #expect(try contents(of: crowded, .mapped, "with strangers") == model)
  }

  /// One kind of damage to bytes.
  private static func damage(_ bytes: inout [UInt8], at offset: Int, _ random: inout SplitMix64) {
    guard offset < bytes.count else { return }
    switch random.below(4) {
    case 0: bytes[offset] = UInt8(truncatingIfNeeded: random.next())
    case 1: for index in offset..<min(bytes.count, offset + 64) { bytes[index] = 0 }
    case 2:
      let source = random.below(bytes.count)
      for index in 0..<min(256, bytes.count - max(source, offset)) {
        bytes[offset + index] = bytes[source + index]
      }
    default: bytes.removeLast(random.below(bytes.count))
    }
  }

  /// The contents of a store, or nil if it is refused.
  ///
  /// - Parameter isThorough: Whether the store is also verified, written to and opened again.
  private func contents(
    of store: StoreFiles, _ reading: EngineOptions.Reading, _ comment: String, isThorough: Bool = true
  ) throws -> Model? {
    var options = StoreKind.memoryMapped.options
    options.reading = reading
    do {
      let fileSystem = try store.mounted()
      let engine = try Engine(at: StoreFiles.path, options: options, fileSystem: fileSystem)
      let found = Model(
        uniqueKeysWithValues: try engine.read { try $0.contents() }.map { ($0.key, $0.value) })
      guard isThorough else { return found }
      _ = try engine.verify()
      try engine.write { try $0.put("more", [1]) }
      try engine.close()
      let again = try Engine(at: StoreFiles.path, options: options, fileSystem: fileSystem)
      let count = try again.read { $0.count }
      #expect(count == UInt64(found.count + 1), "\(comment): written to and opened again")
      try again.close()
      return found
    } catch let error as EngineError {
      #expect(!error.message.isEmpty && (error.file != nil || error.code != .damaged), "\(comment): \(error)")
      return nil
    }
  }
}
