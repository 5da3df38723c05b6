import HeartwoodFaults
import Testing

@testable import HeartwoodEngine

@Suite struct TreeCheckpointTests {
  /// A page segment in an array.
  final class Pages: @unchecked Sendable {
    let memory = OwnedBytes(count: 4096 * 512, alignment: 4096)
    var count = 1

    func add(_ page: UnsafeRawBufferPointer) -> (PageReference, UInt64) {
      let index = count
      count += 1
      memory.writable.copy(page, to: index * 4096)
      return (PageReference(segment: 3, index: UInt32(index)), checksum(index))
    }

    func checksum(_ index: Int) -> UInt64 {
      PageSpace.checksum(memory.bytes.bytes(index * 4096, 4096), segmentSeed: 99, index: index)
    }

    func reopened(_ root: TreeRoot) throws -> TreeView {
      let space = try PageSpace()
      space.addSegment(
        3, seed: 99, bytes: memory.bytes, pageCount: count, owner: self, fill: nil)
      return TreeView(space: space, root: root)
    }
  }

  private func checkpoint(_ harness: TreeHarness, _ pages: Pages) throws -> TreeRoot {
    var checkpoint = TreeCheckpoint(space: harness.space)
    let root = try checkpoint.write(harness.writer.tip.root) { page throws(EngineError) in
      pages.add(page)
    }
    checkpoint.confirm(in: harness.writer)
    return root
  }

  @Test func `a tree read from its checkpoint is the same, and keeps growing`() throws {
    var random = SplitMix64(seed: 11)
    let harness = try TreeHarness()
    let pages = Pages()
    try harness.commit { for _ in 0..<4000 { try harness.put(KeyShape.text.key(&random), [9]) } }
    let first = try checkpoint(harness, pages)
    try TreeHarness.expectEqual(try pages.reopened(first), harness.model, &random, "first checkpoint")
    let written = pages.count
    try harness.commit { try harness.put([1, 2, 3], []) }
    let second = try checkpoint(harness, pages)
    #expect(pages.count - written == second.level + 1)
    try TreeHarness.expectEqual(try pages.reopened(second), harness.model, &random, "second checkpoint")
    #expect(try checkpoint(harness, pages) == second)
  }

  @Test func `pages on disk are reclaimed, and are changed in copies`() throws {
    var random = SplitMix64(seed: 12)
    let harness = try TreeHarness()
    let pages = Pages()
    harness.space.addSegment(
      3, seed: 99, bytes: pages.memory.bytes, pageCount: 512, owner: pages, fill: nil)
    try harness.commit { for _ in 0..<4000 { try harness.put(KeyShape.paddedNumbers.key(&random), [9]) } }
    _ = try checkpoint(harness, pages)
    try harness.commit { try harness.put([1], [1]) }
    try harness.commit { try harness.writer.evictCleanPages() }
    try TreeHarness.expectEqual(harness.view, harness.model, &random, "adopted")
    try harness.commit {}
    #expect(harness.space.arenaBytesInUse <= 3 * 4096)
    for _ in 0..<20 {
      try harness.commit {
        for _ in 0..<30 { try harness.put(KeyShape.paddedNumbers.key(&random), [1, 2]) }
        for _ in 0..<30 { try harness.delete(harness.model.keys.randomElement(using: &random) ?? []) }
      }
    }
    try TreeHarness.expectEqual(harness.view, harness.model, &random, "changed")
  }

  @Test func `a change of any byte of a page is detected, and the pages beside it are read`()
    throws
  {
    var random = SplitMix64(seed: 13)
    let harness = try TreeHarness()
    let pages = Pages()
    try harness.commit { for _ in 0..<900 { try harness.put(KeyShape.text.key(&random), [9, 8]) } }
    let root = try checkpoint(harness, pages)
    for byte in stride(from: 4096, to: pages.count * 4096, by: 37) {
      let old = pages.memory.bytes.field8(byte)
      pages.memory.writable.setField(byte, old ^ UInt8(1 << random.below(8)))
      let view = try pages.reopened(root)
      var (findings, visited) = ([String](), UInt64(0))
      do {
        _ = try TreeInspector.inspect(view, report: { findings.append($0) }) { _, _ in visited += 1 }
      } catch { findings.append("\(error)") }
      let isRoot = byte / 4096 == Int(root.reference.index)
      #expect(findings.count == 1 && (isRoot ? visited == 0 : visited > root.count / 2), "\(findings)")
      pages.memory.writable.setField(byte, old)
    }
  }

  @Test func `a page whose level differs from its parent's record is refused`() throws {
    var random = SplitMix64(seed: 15)
    let harness = try TreeHarness()
    let pages = Pages()
    try harness.commit { for _ in 0..<900 { try harness.put(KeyShape.text.key(&random), [9, 8]) } }
    var root = try checkpoint(harness, pages)
    let level = root.level
    #expect(level > 0)
    for other in 0...TreeRoot.levelLimit where other != level {
      root.level = other
      let view = try pages.reopened(root)
      #expect(throws: EngineError.self) { _ = try view.space.page(root) }
    }
  }

  @Test func `a page with a forged checksum is read without leaving its bounds`() throws {
    var random = SplitMix64(seed: 14)
    let harness = try TreeHarness()
    let pages = Pages()
    try harness.commit { for _ in 0..<60 { try harness.put(KeyShape.text.key(&random), [9, 8]) } }
    var root = try checkpoint(harness, pages)
    for _ in 0..<6000 {
      let offset = random.below(3) == 0 ? random.below(48) : random.below(4096)
      let place = Int(root.reference.index) * 4096 + offset
      let old = pages.memory.bytes.field8(place)
      pages.memory.writable.setField(place, UInt8(truncatingIfNeeded: random.next()))
      root.checksum = pages.checksum(Int(root.reference.index))
      let view = try pages.reopened(root)
      _ = try? TreeInspector.inspect(view, report: { _ in }) { _, _ in }
      _ = try? KeyShape.text.key(&random).withBytes { try view.find($0) }
      pages.memory.writable.setField(place, old)
    }
  }
}
