/// Changing a page in place. Only the page's own generation does this, and only the writer.
extension Page {
  /// What an entry of a page consists of, apart from its key.
  struct Payload {
    /// A leaf's reference (see `inlineMark`) or a branch's child.
    var reference: UInt64
    /// The value, where it lies in the page.
    var inline = UnsafeRawBufferPointer(start: nil, count: 0)
    /// In a branch: the keys below, and the child's checksum.
    var keyCount: UInt64 = 0
    var checksum: UInt64 = 0

    /// A leaf's entry.
    init(_ entry: TreeEntry) {
      switch entry {
      case .position(let position): reference = position.rawValue
      case .inline(let bytes):
        reference = Page.inlineMark | UInt64(bytes.count)
        inline = bytes
      }
    }

    /// A branch's entry.
    init(child: PageReference, checksum: UInt64, keyCount: UInt64) {
      reference = child.rawValue
      self.checksum = checksum
      self.keyCount = keyCount
    }
  }

  /// Puts an entry at `index` if the key shares the page's prefix and there is room.
  ///
  /// - Returns: False where there is not; the page is unchanged then.
  func insert(_ key: SearchKey, _ payload: Payload, at index: Int) -> Bool {
    let prefixCount = prefixBytes
    let suffix = key.count &- prefixCount
    guard count < capacity, suffix >= 0, SearchKey.compare(key.base, prefix, prefixCount) == 0 else {
      return false
    }
    guard holdsEntries(suffix, payload) else { return false }
    let restCount = max(0, suffix &- 8)
    let heapCount = restCount &+ payload.inline.count
    let place = heapStart &- heapCount
    guard place >= arraysEnd else { return false }

    if restCount > 0 {
      (base + place).copyMemory(from: key.base + (prefixCount &+ 8), byteCount: restCount)
    }
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

  /// Whether entries with suffixes of so many bytes, and such a payload, can be added: not to a leaf without slots, where they
  /// need one.
  @inline(__always)
  func holdsEntries(_ suffix: Int, _ payload: Payload) -> Bool {
    return hasSlots || (suffix == Int(uniform) && payload.inline.count == 0)
  }

  @inline(__always)
  func copyInline(_ payload: Payload, to offset: Int) {
    guard let source = payload.inline.baseAddress, payload.inline.count > 0 else { return }
    (base + offset).copyMemory(from: source, byteCount: payload.inline.count)
  }

  /// The first entry that searches look at.
  private var firstSearched: Int { isLeaf ? 0 : 1 }

  @inline(__always)
  func noteLength(_ suffix: Int, isFirst: Bool) {
    if isFirst {
      uniform = UInt16(suffix)
    } else if Int(uniform) != suffix {
      uniform = Page.mixedLengths
    }
  }

  /// Keeps what interpolation starts from; not to the last digit, as the search corrects it.
  private func noteHeads(changedAt index: Int) {
    if index <= firstSearched || count & 7 == 0 || index == count &- 1 { setInterpolation() }
  }

  /// Where to look first: as if heads were spread evenly.
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
    let source = base + (array &+ index &* width)
    (source + distance &* width).copyMemory(from: source, byteCount: count &* width)
  }

  /// Takes an entry out. In a branch the entry that becomes the first loses its separator.
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

  /// Gives a leaf's entry another value, if that needs no more of the heap than the old one.
  func replace(_ index: Int, _ payload: Payload) -> Bool {
    let old = Page.inlineBytes(reference(index))
    guard payload.inline.count <= old else { return false }
    copyInline(payload, to: heapOffset(index) &+ restBytes(index))
    heapDead &+= old &- payload.inline.count
    setReference(index, payload.reference)
    return true
  }
}
