/// Full leaves share with those beside them before there is one more, as in a B*-tree (D. Knuth, The Art of
/// Computer Programming, volume 3, 6.2.4): keys in random order leave leaves 85 % full, where halves would be 69 %.
extension TreeWriter {
  /// A leaf with more than this has too little room for a full one to share it.
  private static let hardlyRoomier = Page.byteCount * 29 / 32

  /// The leaves beside a full one, under the same branch, that take part in sharing, and what comes of it.
  struct Neighbours {
    var left: Page?
    var right: Page?
    /// How many leaves their entries and those of the full one are to fill.
    var leaves: Int
  }

  /// With whom the path's full leaf is to share: one neighbour with room, else those that there are, and a new leaf.
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

  /// Fills leaves evenly with what is in the scratch, which is what the path's leaf and its neighbours are to have.
  ///
  /// - Returns: False where so many leaves can't hold it; nothing is changed then.
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
      let separator = number == 0 ? [] : [UInt8](pageBuilder.separator(before: part.lowerBound).bytes)
      children.append((separator, Page.Payload(child: reference, checksum: 0, keyCount: UInt64(part.count))))
    }
    try replaceChildren(first..<end, with: children)
    return true
  }

  /// A page of this generation for what was in a child of a branch: the child itself where it is one.
  private func leafToFill(replacing index: Int?, of parent: Page) throws(EngineError) -> (PageReference, Page)
  {
    guard let index else { return try makePage() }
    let (reference, leaf) = (parent.child(index), try space.child(index, of: parent))
    if leaf.birth == generation { return (reference, leaf) }
    discard(reference, leaf)
    return try makePage()
  }

  /// Puts children in the place of others in the branch above the path's leaf, and splits it where it has no room.
  private func replaceChildren(
    _ range: Range<Int>, with children: [(separator: [UInt8], payload: Page.Payload)]
  ) throws(EngineError) {
    pageBuilder.begin(level: 1)
    pageBuilder.append(path[1].page)
    pageBuilder.remove(range.lowerBound + 1..<range.upperBound)
    pageBuilder.setChild(range.lowerBound, children[0].payload)
    for (number, child) in children.enumerated().dropFirst() {
      child.separator.withUnsafeBytes {
        pageBuilder.put(SearchKey($0), child.payload, at: range.lowerBound + number, replacing: false)
      }
    }
    try buildOrSplit(1)
  }
}
