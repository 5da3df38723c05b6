import HeartwoodBytes

@testable import HeartwoodEngine

/// One page of the tree with a valid checksum. The first byte is its level.
enum PageTarget {
  private final class Memory: @unchecked Sendable {
    let pages = OwnedBytes(count: 2 * Page.byteCount, alignment: 4096)
  }

  static func finding(_ bytes: [UInt8]) -> String? {
    guard let first = bytes.first else { return nil }
    let memory = Memory()
    memory.pages.writable.setZero(0, 2 * Page.byteCount)
    for (offset, byte) in bytes.dropFirst().prefix(Page.byteCount).enumerated() {
      memory.pages.writable.setField(Page.byteCount + offset, byte)
    }
    do {
      let space = try PageSpace()
      space.addSegment(
        1, seed: 99, bytes: memory.pages.bytes, pageCount: 2, owner: memory, fill: nil)
      return try use(space, level: Int(first % 3), memory.pages.bytes.bytes(from: Page.byteCount))
    } catch let error as EngineError {
      return error.code == .damaged ? nil : "\(error)"
    } catch {
      return "\(error)"
    }
  }

  private static func use(_ space: PageSpace, level: Int, _ bytes: Bytes) throws -> String? {
    var root = TreeRoot(
      reference: PageReference(segment: 1, index: 1),
      checksum: PageSpace.checksum(bytes, segmentSeed: 99, index: 1), level: level, count: 0)
    let page = try space.page(root)
    // An accepted page is searched and decoded.
    var keys: [[UInt8]] = []
    for index in 0..<page.count {
      keys.append(page.key(index))
    }
    guard level == 0 else {
      for key in keys { _ = key.withUnsafeBytes { page.childIndex(SearchKey($0)) } }
      root.count = UInt64(page.count)
      _ = try? TreeInspector.inspect(TreeView(space: space, root: root), report: { _ in }) { _, _ in }
      return nil
    }
    root.count = UInt64(page.count)
    if let finding = try inspect(space, root) { return "accepted, but " + finding }
    return try change(space, root, keys)
  }

  private static func inspect(_ space: PageSpace, _ root: TreeRoot) throws -> String? {
    let findings = Findings()
    _ = try TreeInspector.inspect(TreeView(space: space, root: root), report: { findings.all.append($0) }) {
      _, entry in
      if case .inline(let bytes) = entry { _ = bytes.reduce(0, &+) }
    }
    return findings.all.first
  }

  private final class Findings { var all: [String] = [] }

  /// Changes an accepted leaf in every way.
  private static func change(_ space: PageSpace, _ root: TreeRoot, _ keys: [[UInt8]]) throws -> String? {
    let generations = Generations(space: space, generation: 1, root: root)
    let writer = TreeWriter(space: space, generations: generations)
    writer.begin(generation: 2)
    var expected = Set(keys)
    for (number, key) in keys.enumerated() where !key.isEmpty {
      var other = key
      other[other.count - 1] &+= 1
      try other.withBytes { (other) throws(EngineError) in
        try [UInt8(truncatingIfNeeded: number), 7].withBytes { (value) throws(EngineError) in
          _ = try writer.put(other, .inline(value))
        }
      }
      expected.insert(other)
      if number % 3 == 1 {
        let isThere = try key.withBytes { (key) throws(EngineError) in try writer.delete(key) }
        guard isThere == (expected.remove(key) != nil) else { return "a key that was there is not deleted" }
      }
    }
    let changed = writer.commit()
    generations.publish(2, changed)
    guard changed.count == UInt64(expected.count) else {
      return "after changes there are \(changed.count) keys and not \(expected.count)"
    }
    return try inspect(space, changed).map { "after changes: " + $0 }
  }

  static var seeds: [[UInt8]] {
    guard let store = try? SmallStore() else { return [] }
    let pages = store.files[store.pages] ?? []
    return (1..<max(1, pages.count / Page.byteCount)).prefix(6).map { index in
      let page = pages[(index * Page.byteCount)...].prefix(Page.byteCount)
      return [page.first ?? 0] + page
    }
  }
}
