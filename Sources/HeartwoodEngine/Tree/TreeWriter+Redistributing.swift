/// Redistributes the entries of a full leaf over its siblings before a leaf is added, as in a B*-tree (D.
/// Knuth, The Art of Computer Programming, volume 3, 6.2.4). Leaves filled by keys in random order are 85 %
/// full, against 69 % with plain splits.
extension TreeWriter {
  /// A sibling with more used bytes than this has too little room to take entries of a full leaf.
  private static let hardlyRoomier = Page.byteCount * 29 / 32

  /// The siblings of a full leaf, under the same branch, that take part in a redistribution.
  struct Neighbours {
    var left: Page?
    var right: Page?
    /// The number of leaves that all the entries are distributed over.
    var leaves: Int
  }

  /// Chooses the siblings for the path's full leaf: the emptier one if it has room, otherwise both and one
  /// new leaf. Nil if the leaf has no sibling.
  func neighbours() throws(EngineError) -> Neighbours? {
    guard root.level > 0 else { return nil }
    let (parent, index) = (path[1].page, path[1].index)
    let left = index > 0 ? try space.child(index - 1, of: parent) : nil
    let right = index + 1 < parent.count ? try space.child(index + 1, of: parent) : nil
    let (leftBytes, rightBytes) = (left?.usedBytes ?? .max, right?.usedBytes ?? .max)
    if min(leftBytes, rightBytes) <= Self.hardlyRoomier {
      return leftBytes < rightBytes
        ? Neighbours(left: left, right: nil, leaves: 2) : Neighbours(left: nil, right: right, leaves: 2)
    }
    if left == nil, right == nil { return nil }
    return Neighbours(left: left, right: right, leaves: left == nil || right == nil ? 3 : 4)
  }

  /// Distributes the builder's entries, those of the path's leaf and its siblings, evenly over leaves.
  ///
  /// - Returns: False if they do not fit into that many leaves; nothing is changed then.
  func redistribute(_ neighbours: Neighbours) throws(EngineError) -> Bool {
    guard let parts = pageBuilder.parts(neighbours.leaves) else { return false }
    let parent = path[1]
    let first = neighbours.left == nil ? parent.index : parent.index - 1
    let end = neighbours.right == nil ? parent.index + 1 : parent.index + 2

    var children: [(separator: [UInt8], payload: Page.Payload)] = []
    for (number, part) in parts.enumerated() {
      let old = first + number < end ? first + number : nil
      let (reference, leaf) = try leafToFill(replacing: old, of: parent.page)
      pageBuilder.build(part, into: leaf, birth: generation)
      let separator = number == 0 ? [] : [UInt8](pageBuilder.separator(before: part.lowerBound).bytes.buffer)
      children.append((separator, Page.Payload(child: reference, checksum: 0, keyCount: UInt64(part.count))))
    }
    try replaceChildren(first..<end, with: children)
    return true
  }

  /// A page of this generation to replace a child of a branch: the child itself if it is of this generation,
  /// otherwise a new page.
  private func leafToFill(replacing index: Int?, of parent: Page) throws(EngineError) -> (PageReference, Page)
  {
    guard let index else { return try makePage() }
    let (reference, leaf) = (parent.child(index), try space.child(index, of: parent))
    if leaf.birth == generation { return (reference, leaf) }
    discard(reference, leaf)
    return try makePage()
  }

  /// Replaces children of the branch above the path's leaf, and splits the branch if it has no room.
  private func replaceChildren(
    _ range: Range<Int>, with children: [(separator: [UInt8], payload: Page.Payload)]
  ) throws(EngineError) {
    pageBuilder.begin(level: 1)
    pageBuilder.append(path[1].page)
    pageBuilder.remove(range.lowerBound + 1..<range.upperBound)
    pageBuilder.setChild(range.lowerBound, children[0].payload)
    for (number, child) in children.enumerated().dropFirst() {
      child.separator.withBytes {
        pageBuilder.put(SearchKey($0), child.payload, at: range.lowerBound + number, replacing: false)
      }
    }
    try buildOrSplit(1)
  }
}
