/// Appends keys after the last one, as ordered loads do.
///
/// After an insert at the end of the tree, the path stays there, and a greater key is added to the last leaf
/// without a search. Leaves are filled, and so are the branches above them. Until `flushCounts`, the branches
/// do not count the keys appended to the last leaf, and its interpolation is not updated.
extension TreeWriter {
  /// Appends a key.
  ///
  /// - Precondition: `isAtEnd`.
  /// - Returns: False if the key is not after the last one; nothing is changed then.
  @inline(__always)
  func append(_ key: SearchKey, _ payload: Page.Payload) throws(EngineError) -> Bool {
    switch path[0].page.append(key, payload) {
    case .done: break
    case .noRoom: try appendToNext(key, payload)
    case .notLast: return false
    }
    uncounted &+= 1
    return true
  }

  /// Sets `isAtEnd` if the path leads to the last entry of the tree.
  @inline(__always)
  func noteEnd() {
    if pathHolds, path[0].index == path[0].page.count &- 1, isRightmost { isAtEnd = true }
  }

  /// Adds the appended keys to the counts of the branches.
  @inline(__always)
  func flushCounts() {
    if uncounted > 0 { countAppended() }
  }

  @inline(never)
  private func countAppended() {
    path[0].page.setInterpolation()
    addToCounts(above: 0, uncounted)
    uncounted = 0
  }

  // MARK: Full leaves

  /// Appends a key to a last leaf that has no room in its current layout.
  @inline(never)
  private func appendToNext(_ key: SearchKey, _ payload: Page.Payload) throws(EngineError) {
    flushCounts()
    let leaf = path[0].page
    if leaf.usedBytes <= Self.nearlyFull || leaf.couldShareMore(with: key) {
      pageBuilder.begin(level: 0)
      pageBuilder.append(leaf)
      pageBuilder.put(key, payload, at: leaf.count, replacing: false)
      if pageBuilder.fits(0..<pageBuilder.count) {
        return pageBuilder.build(0..<pageBuilder.count, into: leaf, birth: generation)
      }
    }
    try appendLeaf(key, payload)
  }

  /// Begins a new last leaf with a key.
  private func appendLeaf(_ key: SearchKey, _ payload: Page.Payload) throws(EngineError) {
    let left = path[0].page
    let common = SearchKey.commonBytes(separator(of: left.count - 1, in: left), key)
    let (reference, leaf) = try makePage()
    // The prefix of later keys is unknown: use what these two keys share, but no more than the last leaf's
    // prefix.
    leaf.begin(sharing: min(common, left.prefixBytes), of: key, payload, birth: generation)
    let child = Page.Payload(child: reference, checksum: 0, keyCount: 0)
    try appendChild(1, key.prefix(min(key.count, common + 1)), child)
    path[0] = Step(page: leaf, reference: reference, index: 0)
  }

  /// Appends a child, without counting its keys, to the path's branch at `level`, which may be above the
  /// root.
  private func appendChild(
    _ level: Int, _ separator: SearchKey, _ payload: Page.Payload
  ) throws(EngineError) {
    guard level <= root.level else { return try appendRoot(separator, payload) }
    let branch = path[level].page
    path[level].index = branch.count
    // The prefix of a branch with one child is unknown until its second separator arrives.
    if branch.count > 1, branch.insert(separator, payload, at: branch.count) { return }
    if branch.usedBytes <= Self.nearlyFull {
      pageBuilder.begin(level: level)
      pageBuilder.append(branch)
      pageBuilder.put(separator, payload, at: branch.count, replacing: false)
      if pageBuilder.fits(0..<pageBuilder.count) {
        return pageBuilder.build(0..<pageBuilder.count, into: branch, birth: generation)
      }
    }
    try appendBranch(level, separator, payload)
  }

  /// Begins a branch with a child that is after all others.
  private func appendBranch(
    _ level: Int, _ separator: SearchKey, _ payload: Page.Payload
  ) throws(EngineError) {
    let (reference, branch) = try makePage()
    pageBuilder.begin(level: level)
    pageBuilder.put(separator.prefix(0), payload, at: 0, replacing: false)
    pageBuilder.build(0..<1, into: branch, birth: generation)
    try appendChild(level + 1, separator, Page.Payload(child: reference, checksum: 0, keyCount: 0))
    path[level] = Step(page: branch, reference: reference, index: 0)
  }

  private func appendRoot(_ separator: SearchKey, _ payload: Page.Payload) throws(EngineError) {
    try growRoot(leftCount: root.count, separator, payload)
    path[root.level] = Step(
      page: space.arenaPage(root.reference), reference: root.reference, index: 1)
  }
}

/// Appending to a leaf.
extension Page {
  fileprivate enum Appended {
    case done, noRoom, notLast
  }

  /// Appends an entry to a leaf if its key is the greatest and has the page's prefix, and there is room. Does
  /// not update the interpolation.
  @inline(__always)
  fileprivate func append(_ key: SearchKey, _ payload: Payload) -> Appended {
    let (prefixCount, count) = (prefixBytes, count)
    let suffix = key.count &- prefixCount
    guard suffix >= 0, key.bytes.begins(with: prefix) else {
      return Bytes.compare(key.bytes, prefix, min(prefixCount, key.count)) > 0 ? .noRoom : .notLast
    }
    let head = key.head(from: prefixCount)
    let last = self.head(count &- 1)
    guard head > last || (head == last && compareTail(count &- 1, key) < 0) else { return .notLast }
    return write(key, head: head, suffix, payload, at: count) ? .done : .noRoom
  }

  /// Writes an entry at the end of a leaf; returns false if there is no room.
  @inline(__always)
  private func write(_ key: SearchKey, head: UInt64, _ suffix: Int, _ payload: Payload, at index: Int) -> Bool
  {
    let (capacity, arrays) = (capacity, arraysOffset)
    let restCount = max(0, suffix &- 8)
    let heapCount = restCount &+ payload.inline.count
    let place = heapStart &- heapCount
    guard index < capacity, heapCount == 0 || place >= arraysEnd, holdsEntries(suffix, payload) else {
      return false
    }
    if heapCount > 0 {
      heapStart = place
      memory.writable.copy(key.bytes.bytes(from: key.count &- restCount), to: place)
      copyInline(payload, to: place &+ restCount)
    }
    memory.setField(arrays &+ 8 &* index, head)
    memory.setField(arrays &+ 8 &* (capacity &+ index), payload.reference)
    if hasSlots { setSlot(index, heapOffset: place, suffixBytes: suffix) }
    count = index &+ 1
    noteLength(suffix, isFirst: index == 0)
    return true
  }

  /// Initializes a leaf with one entry, laid out for similar keys after it.
  fileprivate func begin(sharing prefixBytes: Int, of key: SearchKey, _ payload: Payload, birth: UInt64) {
    memory.writable.setZero(0, Page.headerBytes)
    let arrays = Page.arraysOffset(prefixBytes: prefixBytes)
    let suffix = key.count - prefixBytes
    let heap = max(0, suffix - 8) + payload.inline.count
    hasSlots = heap > 0
    capacity = (Page.byteCount - arrays) / (Page.entryBytes(level: 0, hasSlots: hasSlots) + heap)
    self.prefixBytes = prefixBytes
    heapStart = Page.byteCount
    arraysOffset = arrays
    self.birth = birth
    uniform = UInt16(suffix)
    memory.writable.copy(key.bytes.bytes(0, prefixBytes), to: Page.headerBytes)
    _ = write(key, head: key.head(from: prefixBytes), suffix, payload, at: 0)
    setInterpolation()
  }

  /// Whether a rebuilt page might store a longer prefix: a cheap test, by one byte of the first key and
  /// `key`.
  fileprivate func couldShareMore(with key: SearchKey) -> Bool {
    guard heapStart < Page.byteCount, restBytes(0) > 0 else { return false }
    let prefixCount = prefixBytes
    guard key.count > prefixCount, Bytes.compare(key.bytes, prefix, prefixCount) == 0 else { return false }
    return key.head(from: prefixCount) >> 56 == head(0) >> 56
  }
}
