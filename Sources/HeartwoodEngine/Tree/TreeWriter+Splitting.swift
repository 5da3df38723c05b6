/// What happens where a page has no room.
extension TreeWriter {
  /// Puts an entry at the path's place in a page that has no room for it as it is: compacted or with another
  /// prefix the page may have; else a leaf shares with those beside it, or the page is split. The page may be changed.
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

  /// Makes the path's page what is in the scratch, and splits it where that is too much for one.
  func buildOrSplit(_ level: Int) throws(EngineError) {
    if pageBuilder.fits(0..<pageBuilder.count) {
      pageBuilder.build(0..<pageBuilder.count, into: path[level].page, birth: generation)
    } else {
      try split(level)
    }
  }

  /// Fills the scratch with what the path's page is to have, between what its neighbours have.
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

  /// Begins a page for an entry that comes behind a full one: keys that come in order leave full pages.
  private func append(_ level: Int, _ key: SearchKey, _ payload: Page.Payload) throws(EngineError) {
    let left = path[level].page
    pageBuilder.begin(level: level)
    pageBuilder.append(left, from: left.count - 1)
    pageBuilder.put(key, payload, at: 1, replacing: false)
    let all = level == root.level ? root.count : path[level + 1].page.keyCount(path[level + 1].index)
    let right = try addRight(level, from: 1, leftCount: all &- pageBuilder.keyCount(1..<2))
    if level == 0 { run.move(to: right, at: 0) }
  }

  /// Builds two pages of what is in the scratch: the path's, and a new one to the right of it.
  ///
  /// Where a run of keys is on its way into the middle of a leaf, the leaf is cut behind it: what follows the run
  /// goes to the right, and the run goes on filling the left one.
  private func split(_ level: Int) throws(EngineError) {
    let (left, index) = (path[level].page, path[level].index)
    let cut = (level == 0 && run.isLong ? pageBuilder.cut(behind: index) : nil) ?? pageBuilder.cut()
    pageBuilder.build(0..<cut, into: left, birth: generation)
    let right = try addRight(level, from: cut, leftCount: pageBuilder.keyCount(0..<cut))
    if level == 0 && index >= cut { run.move(to: right, at: index - cut) }
  }

  /// Builds a page of the scratch's entries from `cut` on, and adds it behind the path's.
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

  /// Copies a separator to where the next use of the scratch does not overwrite it.
  func keepSeparator(_ separator: SearchKey) -> SearchKey {
    separatorBuffer.copyMemory(from: separator.base, byteCount: separator.count)
    return SearchKey(UnsafeRawPointer(separatorBuffer), separator.count)
  }

  /// Adds the right half of a split page behind the left one, in the branch above.
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

  /// Puts a new root above the two halves of the old one.
  func growRoot(
    leftCount: UInt64, _ separator: SearchKey, _ right: Page.Payload
  ) throws(EngineError) {
    let (reference, page) = try makePage()
    let left = Page.Payload(child: root.reference, checksum: 0, keyCount: leftCount)
    pageBuilder.begin(level: root.level + 1)
    pageBuilder.put(SearchKey(separator.base, 0), left, at: 0, replacing: false)
    pageBuilder.put(separator, right, at: 1, replacing: false)
    pageBuilder.build(0..<2, into: page, birth: generation)
    root.reference = reference
    root.checksum = 0
    root.level += 1
  }
}

/// Keys that were put into one leaf one behind the other.
struct InsertionRun {
  private var leaf: UnsafeMutableRawPointer?
  private var index = 0
  private var length = 0

  /// Whether chance would hardly have made it.
  var isLong: Bool { length >= 8 }

  @inline(__always)
  mutating func note(_ page: Page, at index: Int) {
    length = page.base == leaf && index == self.index &+ 1 ? length &+ 1 : 1
    leaf = page.base
    self.index = index
  }

  /// Says where the last key of the run is now.
  mutating func move(to page: Page, at index: Int) {
    leaf = page.base
    self.index = index
  }
}
