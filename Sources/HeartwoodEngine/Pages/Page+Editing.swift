/// Changes a page in place. Only the writer does this, and only to pages of the generation under
/// construction.
extension Page {
  /// The content of an entry apart from its key.
  struct Payload {
    /// In a leaf: the value's reference (see `inlineMark`). In a branch: the child.
    var reference: UInt64
    /// The value if it is inline.
    var inline = UnsafeRawBufferPointer(start: nil, count: 0)
    /// In a branch: the number of keys below, and the child's checksum.
    var keyCount: UInt64 = 0
    var checksum: UInt64 = 0

    /// The payload of a leaf's entry.
    init(_ entry: TreeEntry) {
      switch entry {
      case .position(let position): reference = position.rawValue
      case .inline(let bytes):
        reference = Page.inlineMark | UInt64(bytes.count)
        inline = bytes
      }
    }

    /// The payload of a branch's entry.
    init(child: PageReference, checksum: UInt64, keyCount: UInt64) {
      reference = child.rawValue
      self.checksum = checksum
      self.keyCount = keyCount
    }
  }

  /// Inserts an entry at `index` if the key has the page's prefix and there is room.
  ///
  /// - Returns: False if not; the page is unchanged then.
  func insert(_ key: SearchKey, _ payload: Payload, at index: Int) -> Bool {
    let prefixCount = prefixBytes
    let suffix = key.count &- prefixCount
    guard count < capacity, suffix >= 0, Bytes.compare(key.bytes, prefix, prefixCount) == 0 else {
      return false
    }
    guard holdsEntries(suffix, payload) else { return false }
    let restCount = max(0, suffix &- 8)
    let heapCount = restCount &+ payload.inline.count
    let place = heapStart &- heapCount
    guard place >= arraysEnd else { return false }

    if restCount > 0 { memory.writable.copy(key.bytes.bytes(from: prefixCount &+ 8), to: place) }
    copyInline(payload, to: place &+ restCount)
    heapStart = place
    makeRoom(at: index)
    setHead(index, key.head(from: prefixCount))
    setReference(index, payload.reference)
    if !isLeaf {
      setKeyCount(index, payload.keyCount)
      setChildChecksum(index, payload.checksum)
    }
    if hasSlots { setSlot(index, heapOffset: place, suffixBytes: suffix) }
    count &+= 1
    noteLength(suffix, isFirst: count == firstSearched &+ 1)
    noteHeads(changedAt: index)
    return true
  }

  /// Whether the layout can store an entry with a suffix of this length and this payload. A leaf without
  /// slots can only store suffixes of its uniform length, without inline values.
  @inline(__always)
  func holdsEntries(_ suffix: Int, _ payload: Payload) -> Bool {
    return hasSlots || (suffix == Int(uniform) && payload.inline.count == 0)
  }

  @inline(__always)
  func copyInline(_ payload: Payload, to offset: Int) {
    if payload.inline.count > 0 { memory.writable.copy(payload.inline, to: offset) }
  }

  /// The index of the first entry that has a key.
  private var firstSearched: Int { isLeaf ? 0 : 1 }

  @inline(__always)
  func noteLength(_ suffix: Int, isFirst: Bool) {
    if isFirst {
      uniform = UInt16(suffix)
    } else if Int(uniform) != suffix {
      uniform = Page.mixedLengths
    }
  }

  /// Updates the interpolation now and then: it need not be exact, because the search corrects it.
  private func noteHeads(changedAt index: Int) {
    if index <= firstSearched || count & 7 == 0 || index == count &- 1 { setInterpolation() }
  }

  /// Sets the parameters of the interpolation search, which assumes evenly distributed heads.
  func setInterpolation() {
    let first = firstSearched
    let last = count &- 1
    guard last >= first else {
      firstHead = 0
      scale = 0
      return
    }
    firstHead = head(first)
    let distance = (head(last) &- head(first)) >> 1
    scale = distance == 0 ? 0 : Double(last &- first) / Double(distance)
  }

  private func makeRoom(at index: Int) {
    let behind = count &- index
    guard behind > 0 else { return }
    move(arraysOffset, index, behind, by: 1, width: 8)
    move(arraysOffset &+ 8 &* capacity, index, behind, by: 1, width: 8)
    if !isLeaf {
      move(arraysOffset &+ 16 &* capacity, index, behind, by: 1, width: 8)
      move(arraysOffset &+ 24 &* capacity, index, behind, by: 1, width: 8)
    }
    if hasSlots { move(arraysOffset &+ (isLeaf ? 16 : 32) &* capacity, index, behind, by: 1, width: 4) }
  }

  private func closeRoom(at index: Int) {
    let behind = count &- index &- 1
    guard behind > 0 else { return }
    move(arraysOffset, index &+ 1, behind, by: -1, width: 8)
    move(arraysOffset &+ 8 &* capacity, index &+ 1, behind, by: -1, width: 8)
    if !isLeaf {
      move(arraysOffset &+ 16 &* capacity, index &+ 1, behind, by: -1, width: 8)
      move(arraysOffset &+ 24 &* capacity, index &+ 1, behind, by: -1, width: 8)
    }
    if hasSlots { move(arraysOffset &+ (isLeaf ? 16 : 32) &* capacity, index &+ 1, behind, by: -1, width: 4) }
  }

  private func move(_ array: Int, _ index: Int, _ count: Int, by distance: Int, width: Int) {
    let first = array &+ index &* width
    memory.move(first, count &* width, to: first &+ distance &* width)
  }

  /// Removes an entry. In a branch, the entry that becomes the first loses its separator.
  func remove(_ index: Int) {
    heapDead &+= heapBytes(index)
    closeRoom(at: index)
    count &-= 1
    if !isLeaf, index == 0, count > 0 {
      heapDead &+= restBytes(0)
      setSlot(0, heapOffset: Page.byteCount, suffixBytes: 0)
      setHead(0, 0)
    }
    if index <= firstSearched { setInterpolation() }
  }

  /// Replaces the payload of a leaf's entry if the new inline value is not longer than the old one.
  ///
  /// - Returns: False if it is longer; the page is unchanged then.
  func replace(_ index: Int, _ payload: Payload) -> Bool {
    let old = Page.inlineBytes(reference(index))
    guard payload.inline.count <= old else { return false }
    copyInline(payload, to: heapOffset(index) &+ restBytes(index))
    heapDead &+= old &- payload.inline.count
    setReference(index, payload.reference)
    return true
  }
}
