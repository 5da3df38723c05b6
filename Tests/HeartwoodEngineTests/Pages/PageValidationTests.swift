import HeartwoodFaults
import Testing

@testable import HeartwoodEngine

/// The fast check of a page's entries beside the one that says what is wrong.
@Suite struct PageValidationTests {
  @Test(arguments: KeyShape.allCases)
  func `both checks find the same pages valid, whatever bytes are changed`(shape: KeyShape) throws {
    let memory = OwnedBytes(count: Page.byteCount, alignment: 4096)
    let seed: UInt64 = 0x7061_6765
    var random = SplitMix64(seed: seed)
    let harness = try TreeHarness()
    try harness.commit {
      for _ in 0..<3_000 {
        try harness.put(shape.key(&random), random.bytes(random.below(5) == 0 ? random.below(16) : 20))
      }
    }
    let pages = TreeCheckpointTests.Pages()
    var checkpoint = TreeCheckpoint(space: harness.space)
    let root = try checkpoint.write(harness.writer.tip.root) { page throws(EngineError) in pages.add(page) }
    try #require(root.level > 0)
    var (sound, unsound) = (0, 0)
    for index in 1..<pages.count {
      for change in 0..<60 {
        memory.writable.copy(pages.memory.bytes.bytes(index * Page.byteCount, Page.byteCount), to: 0)
        let page = Page(PageBytes(memory.writable))
        if change > 0 { Self.change(page, &random) }
        // Otherwise the entries must not be read.
        guard page.headerError(level: page.level) == nil else { continue }
        let isSound = page.hasSoundEntries
        #expect(isSound == (page.entriesError() == nil), "\(shape), seed \(seed), page \(index), \(change)")
        #expect(isSound || change > 0)
        if isSound { sound += 1 } else { unsound += 1 }
      }
    }
    #expect(sound > pages.count && unsound > pages.count)
  }

  /// Changes one or two bytes, most often in the arrays.
  private static func change(_ page: Page, _ random: inout SplitMix64) {
    for _ in 0...random.below(2) {
      let place =
        switch random.below(5) {
        case 0: 4 + random.below(36)
        case 1: page.arraysOffset + random.below(page.capacity * 8)
        case 2: page.slotsOffset + random.below(max(1, page.arraysEnd - page.slotsOffset))
        case 3: page.arraysOffset + random.below(page.count * 8) / 8 * 8
        default: random.below(Page.byteCount)
        }
      guard place < Page.byteCount else { continue }
      let byte = page.memory.bytes.field8(place)
      page.memory.setField(
        place, random.below(2) == 0 ? byte ^ UInt8(1 << random.below(8)) : UInt8(random.below(256)))
    }
  }
}
