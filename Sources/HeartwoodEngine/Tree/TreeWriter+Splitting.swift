/// Inserts into pages that have no room.
extension TreeWriter {
  /// Inserts an entry at the path's position in a page that has no room for it in its current layout. The
  /// page is rebuilt if that makes room; otherwise a leaf redistributes entries over its siblings, or the
  /// page is split.
  func rebuild(_ level: Int, _ key: SearchKey, _ payload: Page.Payload, replacing: Bool) throws(EngineError) {
    let step = path[level]
    pathHolds = false
    if !replacing, step.index == step.page.count, step.page.usedBytes > Self.nearlyFull {
      return try append(level, key, payload)
    }
    let shares = level == 0 && !run.isLong && step.page.isTooFull(for: key, payload)
    let neighbours = shares ? try neighbours() : nil
    gather(level, key, payload, replacing: replacing, with: neighbours)
    if let neighbours {
      if try redistribute(neighbours) { return }
      gather(level, key, payload, replacing: replacing)
    }
    try buildOrSplit(level)
  }

  /// Builds the path's page from the builder's entries, and splits it if they do not fit into one page.
  func buildOrSplit(_ level: Int) throws(EngineError) {
    if pageBuilder.fits(0..<pageBuilder.count) {
      pageBuilder.build(0..<pageBuilder.count, into: path[level].page, birth: generation)
    } else {
      try split(level)
    }
  }

  /// Fills the builder with the entries of the path's page, and of its siblings if it has any.
  private func gather(
    _ level: Int, _ key: SearchKey, _ payload: Page.Payload, replacing: Bool,
    with neighbours: Neighbours? = nil
  ) {
    pageBuilder.begin(level: level)
    if let left = neighbours?.left { pageBuilder.append(left) }
    let place = pageBuilder.count + path[level].index
    pageBuilder.append(path[level].page)
    pageBuilder.put(key, payload, at: place, replacing: replacing)
    if let right = neighbours?.right { pageBuilder.append(right) }
  }

  static let nearlyFull = Page.byteCount * 15 / 16

  /// Begins a new page for an entry after the last one of a full page: ordered inserts leave full pages.
  private func append(_ level: Int, _ key: SearchKey, _ payload: Page.Payload) throws(EngineError) {
    let left = path[level].page
    pageBuilder.begin(level: level)
    pageBuilder.append(left, from: left.count - 1)
    pageBuilder.put(key, payload, at: 1, replacing: false)
    let all = level == root.level ? root.count : path[level + 1].page.keyCount(path[level + 1].index)
    let right = try addRight(level, from: 1, leftCount: all &- pageBuilder.keyCount(1..<2))
    if level == 0 { run.move(to: right, at: 0) }
  }

  /// Builds two pages from the builder's entries: the path's page, and a new one to the right of it.
  ///
  /// If a run of ordered keys is being inserted into the middle of a leaf, the leaf is split after the run:
  /// the entries after the run move to the right, and the run continues to fill the left page.
  private func split(_ level: Int) throws(EngineError) {
    let (left, index) = (path[level].page, path[level].index)
    let cut = (level == 0 && run.isLong ? pageBuilder.cut(behind: index) : nil) ?? pageBuilder.cut()
    pageBuilder.build(0..<cut, into: left, birth: generation)
    let right = try addRight(level, from: cut, leftCount: pageBuilder.keyCount(0..<cut))
    if level == 0 && index >= cut { run.move(to: right, at: index - cut) }
  }

  /// Builds a page from the builder's entries from `cut` on, and inserts it after the path's page.
  @discardableResult
  func addRight(_ level: Int, from cut: Int, leftCount: UInt64) throws(EngineError) -> Page {
    let (reference, right) = try makePage()
    pageBuilder.build(cut..<pageBuilder.count, into: right, birth: generation)
    let payload = Page.Payload(
      child: reference, checksum: 0, keyCount: pageBuilder.keyCount(cut..<pageBuilder.count))
    let separator = keepSeparator(pageBuilder.separator(before: cut))
    if level == root.level {
      try growRoot(leftCount: leftCount, separator, payload)
    } else {
      try insertChild(level + 1, leftCount: leftCount, separator, payload)
    }
    return right
  }

  /// Copies a separator to memory that the next use of the builder does not overwrite.
  func keepSeparator(_ separator: SearchKey) -> SearchKey {
    separatorBuffer.writable.copy(separator.bytes, to: 0)
    return SearchKey(separatorBuffer.bytes.bytes(0, separator.count))
  }

  /// Inserts the right half of a split page after the left one, in the branch above.
  private func insertChild(
    _ level: Int, leftCount: UInt64, _ separator: SearchKey, _ payload: Page.Payload
  ) throws(EngineError) {
    let parent = path[level]
    parent.page.setKeyCount(parent.index, leftCount)
    path[level].index += 1
    if !parent.page.insert(separator, payload, at: parent.index + 1) {
      try rebuild(level, separator, payload, replacing: false)
    }
  }

  /// Adds a new root above the two halves of the old one.
  func growRoot(
    leftCount: UInt64, _ separator: SearchKey, _ right: Page.Payload
  ) throws(EngineError) {
    let (reference, page) = try makePage()
    let left = Page.Payload(child: root.reference, checksum: 0, keyCount: leftCount)
    pageBuilder.begin(level: root.level + 1)
    pageBuilder.put(separator.prefix(0), left, at: 0, replacing: false)
    pageBuilder.put(separator, right, at: 1, replacing: false)
    pageBuilder.build(0..<2, into: page, birth: generation)
    root.reference = reference
    root.checksum = 0
    root.level += 1
  }
}

/// Keys that were inserted into one leaf one after the other, in order.
struct InsertionRun {
  private var leaf: PageBytes?
  private var index = 0
  private var length = 0

  /// Whether the run is too long to be chance.
  var isLong: Bool { length >= 8 }

  @inline(__always)
  private func isLeaf(_ page: Page) -> Bool { leaf.map { $0 == page.memory } ?? false }

  @inline(__always)
  mutating func note(_ page: Page, at index: Int) {
    length = isLeaf(page) && index == self.index &+ 1 ? length &+ 1 : 1
    leaf = page.memory
    self.index = index
  }

  /// Sets the position of the run's last key after its page was split.
  mutating func move(to page: Page, at index: Int) {
    leaf = page.memory
    self.index = index
  }
}
