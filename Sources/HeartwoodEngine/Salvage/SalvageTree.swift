import HeartwoodFiles

/// Walks the tree of a checkpoint page by page from the files, skipping what can't be read. Holds one page
/// per level in memory.
final class SalvageTree {
  /// A part below a branch that could not be read.
  struct Hole {
    let validationError: String
    let file: String
    let offset: Int
    let keys: KeyRange
    let count: UInt64
  }

  private let source: SalvageSource
  private let root: TreeRoot
  private let visit: (UnsafeRawBufferPointer, TreeEntry) throws(EngineError) -> Void
  private let miss: (Hole) throws(EngineError) -> Void
  private let buffer = OwnedBytes(count: (TreeRoot.levelLimit + 1) * Format.pageBytes)
  private let key = OwnedBytes(count: Format.keyLimit)
  private var files: [UInt32: TolerantFile] = [:]
  /// Bounds the walk: a tree contains no page twice, but a damaged one may say so.
  private var pagesLeft: Int

  /// - Parameters:
  ///   - visit: Called with each key, in order, and its entry.
  ///   - miss: Called with each part that could not be read.
  init(
    _ source: SalvageSource, _ root: TreeRoot,
    visit: @escaping (UnsafeRawBufferPointer, TreeEntry) throws(EngineError) -> Void,
    miss: @escaping (Hole) throws(EngineError) -> Void
  ) {
    self.source = source
    self.root = root
    self.visit = visit
    self.miss = miss
    pagesLeft = source.pages.values.reduce(0) { $0 + $1.size / Format.pageBytes }
  }

  deinit {
    for file in files.values { try? file.close() }
  }

  /// Whether the root can be read; an empty tree has none.
  var isUsable: Bool {
    root.reference == .none
      || validationError(of: root.reference, level: root.level, checksum: root.checksum) == nil
  }

  func walk() throws(EngineError) {
    guard root.reference != .none else { return }
    try walk(
      root.reference, level: root.level, checksum: root.checksum, count: root.count, from: nil, to: nil)
  }

  private func walk(
    _ reference: PageReference, level: Int, checksum: UInt64, count: UInt64, from: [UInt8]?, to: [UInt8]?
  ) throws(EngineError) {
    pagesLeft -= 1
    let validationError =
      pagesLeft < 0 ? "it is reached twice" : validationError(of: reference, level: level, checksum: checksum)
    if let validationError {
      return try miss(
        Hole(
          validationError: validationError,
          file: source.folder.path(of: SegmentName.pages(reference.segment)),
          offset: Int(reference.index) * Format.pageBytes, keys: KeyRange(from: from, to: to), count: count))
    }
    let page = page(level)
    if level == 0 { return try visitLeaf(page) }
    for index in 0..<page.count {
      try walk(
        page.child(index), level: level - 1, checksum: page.childChecksum(index), count: page.keyCount(index),
        from: index == 0 ? from : page.key(index),
        to: index == page.count - 1 ? to : page.key(index + 1))
    }
  }

  private func visitLeaf(_ page: Page) throws(EngineError) {
    for index in 0..<page.count {
      page.copyKey(index, to: key.writable)
      try visit(key.bytes.bytes(0, page.keyBytes(index)).buffer, page.entry(index))
    }
  }

  // MARK: Pages

  private func page(_ level: Int) -> Page {
    Page(PageBytes(buffer.writable, at: level * Format.pageBytes))
  }

  /// Reads a page into the buffer of its level; returns what is wrong with it, or nil.
  private func validationError(of reference: PageReference, level: Int, checksum: UInt64) -> String? {
    guard level >= 0, level <= TreeRoot.levelLimit else {
      return "a page of the tree has an impossible level"
    }
    guard let segment = source.pages[reference.segment], let file = file(segment) else {
      return "a file with pages of the tree is missing"
    }
    let page = page(level)
    let offset = Int64(reference.index) * Int64(Format.pageBytes)
    guard (try? file.readFully(into: page.memory.writable, at: offset)) == Format.pageBytes else {
      return "the file ends before a page of the tree"
    }
    let found = PageSpace.checksum(
      page.bytes, segmentSeed: segment.header.seed, index: Int(reference.index))
    guard found == checksum else { return "a page of the tree is damaged" }
    return page.validationError(level: level).map { "a page of the tree is invalid: \($0)" }
  }

  private func file(_ segment: SalvageSource.Segment) -> TolerantFile? {
    if let known = files[segment.header.number] { return known }
    let opened = source.open(segment.name)
    files[segment.header.number] = opened
    return opened
  }
}
