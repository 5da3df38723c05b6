import HeartwoodBytes

extension Snapshot {
  /// Calls `body` with each key whose value differs from that of another generation of the same store, in order, until it returns false.
  ///
  /// - Parameters:
  ///   - former: The other generation, earlier or later.
  ///   - body: Gets the key, the value that `former` has and the value of this snapshot; nil for a key that one of them does not have. The values
  ///     are valid while both snapshots are held.
  /// - Returns: How many pages of the two trees were read. Pages that both have on disk, or that two snapshots of one open store have in
  ///   memory, are not.
  /// - Throws: `.damaged`, errors of the file system, and what `body` throws.
  /// - Complexity: Linear in the pages that differ.
  @discardableResult
  public func differences(
    from former: Snapshot,
    _ body: (
      _ key: UnsafeRawBufferPointer, _ former: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer?
    ) throws -> Bool
  ) throws -> Int {
    var difference = TreeDifference(from: former.tree, to: tree)
    while let (old, new) = try difference.next() {
      let key = old?.key ?? new?.key ?? []
      let isWanted = try key.withUnsafeBytes { key in
        let before = try old.map { try former.value(of: $0.entry, key) }
        let after = try new.map { try value(of: $0.entry, key) }
        if let before, let after, before.elementsEqual(after) { return true }
        return try body(key, before, after)
      }
      if !isWanted { break }
    }
    return difference.pageCount
  }

  private func value(of entry: TreeEntry, _ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
    switch entry {
    case .inline(let bytes): bytes
    case .position(let reference): try value(at: reference, of: key)
    }
  }
}
