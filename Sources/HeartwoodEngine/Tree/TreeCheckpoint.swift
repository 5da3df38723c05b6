/// Writes the pages of one generation that are only in memory, children before parents.
///
/// - Precondition: The generation is pinned from before `write` until after `confirm`, or until the
///   checkpoint is abandoned.
struct TreeCheckpoint {
  private let space: PageSpace
  private var written: [(index: UInt32, place: PageSpace.DiskAddress)] = []
  /// One page per level: a branch stays in its page while its children are written.
  private let copies = PageCopies()

  private final class PageCopies {
    let pages = OwnedBytes(count: (TreeRoot.levelLimit + 1) * Page.byteCount, alignment: 4096)
  }

  init(space: PageSpace) { self.space = space }

  /// Number of pages written.
  var pageCount: Int { written.count }

  /// Writes the tree.
  ///
  /// - Parameter place: Writes the bytes of a page; returns its address and checksum.
  /// - Returns: The root of the same tree on disk.
  mutating func write(
    _ root: TreeRoot, place: (UnsafeRawBufferPointer) throws(EngineError) -> (PageReference, UInt64)
  ) throws(EngineError) -> TreeRoot {
    guard root.reference.isInArena, root.reference != .none else { return root }
    let found = try write(root.reference, level: root.level, place)
    return TreeRoot(
      reference: PageReference(rawValue: found.reference), checksum: found.checksum, level: root.level,
      count: root.count)
  }

  private mutating func write(
    _ reference: PageReference, level: Int,
    _ place: (UnsafeRawBufferPointer) throws(EngineError) -> (PageReference, UInt64)
  ) throws(EngineError) -> PageSpace.DiskAddress {
    if let known = space.diskAddress(reference.index) { return known }
    let page = space.arenaPage(reference)
    let copy = Page(PageBytes(copies.pages.writable, at: level * Page.byteCount))
    copy.copyAll(of: page)
    copy.birth = 0
    // Clears the unused bytes: memory that was used before must not leave traces on disk.
    copy.memory.writable.setZero(copy.arraysEnd, copy.heapStart - copy.arraysEnd)
    if level > 0 {
      for index in 0..<copy.count where copy.child(index).isInArena {
        let child = try write(copy.child(index), level: level - 1, place)
        copy.setReference(index, child.reference)
        copy.setChildChecksum(index, child.checksum)
      }
    }
    let (disk, checksum) = try place(copy.bytes.buffer)
    let found = PageSpace.DiskAddress(reference: disk.rawValue, checksum: checksum)
    written.append((reference.index, found))
    return found
  }

  /// Records the addresses on disk, so that later checkpoints do not write these pages again.
  ///
  /// - Precondition: The pages are synced.
  /// - Parameter tree: The writer of the tree, which copies or evicts pages by these addresses.
  func confirm(in tree: TreeWriter) {
    for (index, place) in written { tree.space.setDiskAddress(index, place) }
  }
}
