import HeartwoodFaults
import Testing

@testable import HeartwoodEngine

/// The entries of a page builder and of the pages that it builds beside a plain list.
@Suite struct PageBuilderTests {
  private struct Entry {
    let key: [UInt8]
    let value: [UInt8]
    /// Of a branch's child.
    let number: UInt32

    var child: PageReference { PageReference(segment: 1, index: number) }
  }

  private final class Work {
    let level: Int
    let builder = PageBuilder()
    var plain: [Entry] = []
    private let memory = OwnedBytes(count: 2 * Page.byteCount, alignment: 4096)
    private var lastNumber: UInt32 = 0

    init(level: Int) {
      self.level = level
      builder.begin(level: level)
    }

    /// One of the two pages that the builder fills.
    func page(_ place: Int) -> Page { Page(PageBytes(memory.writable, at: place * Page.byteCount)) }

    func put(_ key: [UInt8], _ value: [UInt8]) {
      lastNumber += 1
      let entry = Entry(key: key, value: value, number: lastNumber)
      let place = plain.firstIndex { !$0.key.lexicographicallyPrecedes(key) } ?? plain.count
      let isThere = place < plain.count && plain[place].key == key
      key.withBytes { key in
        value.withBytes { value in
          let payload =
            level == 0
            ? Page.Payload(TreeHarness.entry(value))
            : Page.Payload(child: entry.child, checksum: UInt64(lastNumber) * 3, keyCount: UInt64(lastNumber))
          builder.put(SearchKey(key), payload, at: place, replacing: isThere)
        }
      }
      if isThere { plain[place] = entry } else { plain.insert(entry, at: place) }
    }

    func remove(_ range: Range<Int>) {
      builder.remove(range)
      plain.removeSubrange(range)
    }

    /// Builds a page of some entries and checks it against them.
    func build(_ range: Range<Int>, into place: Int, _ note: String) throws {
      try #require(builder.fits(range) && builder.pageBytes(range) <= Page.byteCount, "\(note)")
      let page = page(place)
      builder.build(range, into: page, birth: 0)
      try #require(page.validationError(level: level) == nil && page.count == range.count, "\(note)")
      for (index, entry) in plain[range].enumerated() {
        let hasKey = level == 0 || index > 0
        try #require(!hasKey || page.key(index) == entry.key, "\(note)")
        if level == 0 {
          let found = entry.key.withBytes { page.search(SearchKey($0)) }
          try #require(found.index == index && found.isFound, "\(note)")
          try #require(TreeHarness.same(page.entry(index), entry.value), "\(note)")
        } else {
          try #require(page.child(index) == entry.child, "\(note)")
          try #require(page.keyCount(index) == UInt64(entry.number), "\(note)")
          try #require(page.childChecksum(index) == UInt64(entry.number) * 3, "\(note)")
        }
      }
    }

    /// Begins again with the entries of a page.
    func begin(with place: Int, _ range: Range<Int>) {
      plain = Array(plain[range])
      builder.begin(level: level)
      guard let first = plain.first else { return }
      first.key.withBytes { builder.append(page(place), separator: SearchKey($0)) }
    }
  }

  @Test(arguments: KeyShape.allCases, [0, 1])
  func `pages that are built of random entries have these entries`(shape: KeyShape, level: Int) throws {
    let seed: UInt64 = 0x7061_6765
    print("page builder with seed \(seed)")
    var random = SplitMix64(seed: seed)
    let work = Work(level: level)
    for step in 0..<1500 {
      let note = "\(shape), level \(level), step \(step)"
      if random.below(5) == 0, work.plain.count > 1 {
        let start = random.below(work.plain.count - 1)
        work.remove(start..<min(work.plain.count, start + 1 + random.below(3)))
      } else {
        work.put(
          shape.key(&random), random.bytes(random.below(4) == 0 ? 17 + random.below(9) : random.below(17)))
      }
      try #require(work.builder.count == work.plain.count, "\(note)")
      guard !work.plain.isEmpty else { continue }
      let all = 0..<work.plain.count
      if !work.builder.fits(all) {
        let cut = work.builder.cut()
        try work.build(0..<cut, into: 0, note)
        try work.build(cut..<all.upperBound, into: 1, note)
        let kept = random.below(2)
        work.begin(with: kept, kept == 0 ? 0..<cut : cut..<all.upperBound)
      } else if random.below(10) == 0 {
        try work.build(all, into: 0, note)
        work.begin(with: 0, all)
      }
    }
  }
}
