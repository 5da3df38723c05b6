/// Changes the tree, one generation at a time.
///
/// A page is changed in place if the generation under construction created it. Any other page is copied
/// first, and so are the branches above it. Readers of older generations therefore never see a change.
///
/// After a method throws, the caller must roll back the generation under construction.
///
/// Not `Sendable`, and of an open store reached only through `WriterState`: so its members run with the writer lock held.
final class TreeWriter {
  let space: PageSpace
  private let retired: RetiredPages
  let pageBuilder = PageBuilder()

  /// The newest generation that was written, and its root: the next one begins from it. It may not be published yet.
  @exclusivity(unchecked) private(set) var tip: (generation: UInt64, root: TreeRoot)

  /// The tree under construction.
  @exclusivity(unchecked) var root = TreeRoot.empty
  @exclusivity(unchecked) private(set) var generation: UInt64 = 0
  // The writer touches these lists once per copied page, one method at a time: checks for overlapping access
  // would find nothing.

  /// Pages that this generation created.
  @exclusivity(unchecked) private var born = PlainList<UInt32>()
  /// Pages that this generation created and does not need any more.
  @exclusivity(unchecked) private var dropped = PlainList<UInt32>()
  /// Pages of older generations that this one has replaced.
  @exclusivity(unchecked) private var replaced = PlainList<RetiredPage>()

  /// One level of the path from the root to a leaf (level 0): the page, its reference, and the chosen entry.
  struct Step {
    var page: Page
    var reference: PageReference
    var index: Int
  }

  let path = FixedArray<Step>(count: TreeRoot.levelLimit + 2)
  /// Whether `path` is valid and leads to the leaf of the last change.
  @exclusivity(unchecked) var pathHolds = false
  /// Whether `path` leads to the last entry of the tree, in pages of this generation; see `append`.
  @exclusivity(unchecked) var isAtEnd = false
  /// Number of keys in the last leaf that the branches above do not count yet. Nonzero only while `isAtEnd`.
  @exclusivity(unchecked) var uncounted: UInt64 = 0
  /// Detects keys that are inserted in order.
  @exclusivity(unchecked) var run = InsertionRun()
  /// Holds a separator while it is inserted into a parent.
  let separatorBuffer = OwnedBytes(count: Format.keyLimit)

  /// - Parameter generations: Their newest generation is the one to begin from.
  init(space: PageSpace, generations: Generations) {
    self.space = space
    retired = RetiredPages(space: space, generations: generations)
    let newest = generations.pin()
    tip = (newest.generation, newest.root)
    newest.release()
  }

  // MARK: Generations

  /// Begins a generation with the tree of the newest one, and frees the pages that no reader needs any more.
  func begin(generation: UInt64) {
    root = tip.root
    self.generation = generation
    leavePath()
    retired.reclaim()
  }

  /// The tree with the changes made so far. Valid until the next change.
  var view: TreeView {
    flushCounts()
    return TreeView(space: space, root: root)
  }

  /// Ends the generation. Its pages do not change any more; the caller publishes the result.
  @discardableResult
  func commit() -> TreeRoot {
    assert(generation > tip.generation, "A generation is written after a later one.")
    flushCounts()
    for place in 0..<replaced.count { retired.add(replaced[place]) }
    for place in 0..<dropped.count { space.free(dropped[place]) }
    forget()
    tip = (generation, root)
    return root
  }

  /// Whether the generation differs from the one that it began from.
  var hasChanges: Bool { !born.isEmpty || !replaced.isEmpty }

  /// Rolls the generation back: frees its pages. The tree is as it was at `begin`.
  func rollback() {
    for place in 0..<born.count { space.free(born[place]) }
    forget()
  }

  private func forget() {
    born.removeAll()
    dropped.removeAll()
    replaced.removeAll()
    leavePath()
  }

  /// Invalidates the path.
  func leavePath() {
    pathHolds = false
    isAtEnd = false
    uncounted = 0
  }

  // MARK: Putting

  /// Inserts a key, or replaces its value.
  ///
  /// - Complexity: O(log n); amortized O(1) for keys in order at the
  ///   end.
  ///
  /// - Returns: Whether the key existed before.
  func put(_ bytes: UnsafeRawBufferPointer, _ entry: TreeEntry) throws(EngineError) -> Bool {
    let key = SearchKey(bytes)
    let payload = Page.Payload(entry)
    if isAtEnd, try append(key, payload) { return false }
    return try putAnywhere(key, payload)
  }

  private func putAnywhere(_ key: SearchKey, _ payload: Page.Payload) throws(EngineError) -> Bool {
    guard root.reference != .none else {
      try makeFirstLeaf(key, payload)
      return false
    }
    let isFound = try locate(key)
    try ownPath()
    if isFound {
      if !path[0].page.replace(path[0].index, payload) { try rebuild(0, key, payload, replacing: true) }
      return true
    }
    addToCounts(above: 0, 1)
    run.note(path[0].page, at: path[0].index)
    if path[0].page.insert(key, payload, at: path[0].index) {
      noteEnd()
    } else {
      try rebuild(0, key, payload, replacing: false)
    }
    return false
  }

  private func makeFirstLeaf(_ key: SearchKey, _ payload: Page.Payload) throws(EngineError) {
    let (reference, page) = try makePage()
    pageBuilder.begin(level: 0)
    pageBuilder.put(key, payload, at: 0, replacing: false)
    pageBuilder.build(0..<1, into: page, birth: generation)
    root = TreeRoot(reference: reference, checksum: 0, level: 0, count: 1)
  }

  // MARK: The path

  /// Makes `path` lead to a key's entry, or to the position where the key would be inserted.
  ///
  /// - Returns: Whether the key exists.
  @inline(__always)
  func locate(_ key: SearchKey) throws(EngineError) -> Bool {
    flushCounts()
    isAtEnd = false
    if pathHolds, staysInLeaf(key) {
      let (index, isFound) = path[0].page.search(key)
      path[0].index = index
      return isFound
    }
    return try descend(to: key)
  }

  /// Whether a key certainly belongs to the leaf that `path` leads to. Comparisons of heads decide, so that ordered
  /// inserts need no descent.
  @inline(__always)
  private func staysInLeaf(_ key: SearchKey) -> Bool {
    let page = path[0].page
    let prefixBytes = page.prefixBytes
    guard page.count > 0, key.count >= prefixBytes, Bytes.compare(key.bytes, page.prefix, prefixBytes) == 0
    else { return false }
    let head = key.head(from: prefixBytes)
    guard head > page.head(0) else { return false }
    return head < page.head(page.count &- 1) || isBeforeNextLeaf(key)
  }

  /// Whether a key that is not before the leaf that `path` leads to is before the next leaf: if not even the lowest branch
  /// with a further entry can tell, false.
  private func isBeforeNextLeaf(_ key: SearchKey) -> Bool {
    var level = 1
    while level <= root.level {
      let (branch, next) = (path[level].page, path[level].index &+ 1)
      if next < branch.count {
        let prefixBytes = branch.prefixBytes
        guard key.count >= prefixBytes, Bytes.compare(key.bytes, branch.prefix, prefixBytes) == 0 else {
          return false
        }
        return key.head(from: prefixBytes) < branch.head(next)
      }
      level &+= 1
    }
    return true
  }

  var isRightmost: Bool {
    var level = 1
    while level <= root.level {
      if path[level].index != path[level].page.count &- 1 { return false }
      level &+= 1
    }
    return true
  }

  private func descend(to key: SearchKey) throws(EngineError) -> Bool {
    pathHolds = false
    var page = try space.page(root)
    var reference = root.reference
    var level = root.level
    var guess: Int?
    while level > 0 {
      let index = page.childIndex(key)
      path[level] = Step(page: page, reference: reference, index: index)
      reference = page.child(index)
      page = try space.child(index, of: page, toward: key, foreseeing: &guess)
      level &-= 1
    }
    if page.birth != generation { page.prefetchAll() }
    let (index, isFound) = page.search(key, near: guess)
    path[0] = Step(page: page, reference: reference, index: index)
    pathHolds = true
    return isFound
  }

  /// Ensures that the path's pages from `level` up may be changed.
  @inline(__always)
  func ownPath(from level: Int = 0) throws(EngineError) {
    if path[level].page.birth != generation { try copyPath(from: level) }
    assert(ownsPath(from: level), "A page of this generation is below a page of an older one.")
  }

  /// Whether the path's pages from `level` up are of the generation under construction.
  private func ownsPath(from level: Int) -> Bool {
    (level...max(level, root.level)).allSatisfy { path[$0].page.birth == generation }
  }

  private func copyPath(from lowest: Int) throws(EngineError) {
    var level = root.level
    while level >= lowest {
      let step = path[level]
      if step.page.birth != generation {
        let (reference, copy) = try makePage()
        copy.copyAll(of: step.page)
        copy.birth = generation
        discard(step.reference, step.page)
        path[level].page = copy
        path[level].reference = reference
        link(level, to: reference)
      }
      level -= 1
    }
  }

  /// Makes the parent of the path's page at `level`, or the root, refer to its copy.
  private func link(_ level: Int, to reference: PageReference) {
    if level == root.level {
      root.reference = reference
      root.checksum = 0
    } else {
      let parent = path[level + 1]
      parent.page.setReference(parent.index, reference.rawValue)
      parent.page.setChildChecksum(parent.index, 0)
    }
  }

  /// Adds to the key counts above the path's page at `level`; a wrapping negative number subtracts.
  @inline(__always)
  func addToCounts(above level: Int, _ keys: UInt64) {
    root.count &+= keys
    var level = level &+ 1
    while level <= root.level {
      let step = path[level]
      step.page.setKeyCount(step.index, step.page.keyCount(step.index) &+ keys)
      level &+= 1
    }
  }

  // MARK: Pages

  func makePage() throws(EngineError) -> (PageReference, Page) {
    let reference = try space.allocate()
    born.append(reference.index)
    return (reference, space.arenaPage(reference))
  }

  /// Marks a page that the generation under construction does not need any more.
  func discard(_ reference: PageReference, _ page: Page) {
    guard reference.isInArena else { return }
    if page.birth == generation {
      dropped.append(reference.index)
    } else {
      replaced.append(
        RetiredPage(index: reference.index, born: page.birth, retired: generation))
    }
  }
}
