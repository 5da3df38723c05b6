import HeartwoodBytes
import HeartwoodFiles
import Synchronization

/// The memory and files that pages are in: the arena holds pages in memory, page segments hold pages on disk.
/// It also holds everything else that a reader needs, so that a snapshot retains one object: with several,
/// readers would contend for more reference counts.
///
/// Readers follow references without a lock. Only the writer allocates and frees arena pages. A page from
/// disk is read and verified on first access only.
final class PageSpace: @unchecked Sendable {
  /// A page segment, as readers use it.
  struct Segment: ~Copyable {
    let bytes: Bytes
    let seed: UInt64
    /// Number of pages; higher indexes do not exist.
    let pageCount: Atomic<Int>
    /// Per page: 0 if it was not verified yet, otherwise its level plus one.
    let checked: FixedArray<Atomic<UInt8>>
    let fill: Fill?
    /// The first generation that can refer to a page in it.
    let firstGeneration: UInt64
    /// Nil in tests.
    let file: (any File)?
    let owner: AnyObject
  }

  /// Reads a page into its address if the file is not mapped.
  typealias Fill = @Sendable (Int, WritableBytes) throws(EngineError) -> Void

  /// The address on disk of an arena page's copy, once a checkpoint has written it.
  struct DiskAddress {
    var reference: UInt64
    var checksum: UInt64
  }

  private let arena: WritableBytes
  private let arenaMemory: AnonymousMemory
  private let places: FixedArray<DiskAddress>
  private let pageLimit: Int
  /// The first arena page that was never allocated.
  @exclusivity(unchecked) private var nextPage: UInt32 = 1
  @exclusivity(unchecked) private var freePages = PlainList<UInt32>()
  private let pagesInUse = Atomic(0)
  private let segments = SlotTable<Segment>()
  /// The log segments that contain the values.
  let values: SegmentTable
  /// The slots in which readers announce their generations.
  let readers = ReaderSlots()
  /// Held while a page is read and verified.
  private let checking = Lock()
  /// How many pages this space has verified.
  @exclusivity(unchecked) private(set) var verifiedPages = 0

  /// Address space to reserve for the arena; halved until the system grants it.
  private static let reservation = 64 << 30
  private static let smallestReservation = 32 << 20
  /// If less than this is granted, only a quarter of it is reserved.
  private static let politeReservation = 4 << 30
  /// Distance of arena pages. One cache line more than a page: otherwise all page headers, which every
  /// descent reads, would map to the same cache sets.
  private static let stride = Page.byteCount + 64

  /// This many bytes of the arena use small memory pages, so that a small store takes little memory. The
  /// remainder uses large ones, because a search touches another memory page on each level.
  private static let smallPagesBytes = 4 << 20

  /// Reserves address space for the arena; memory is allocated as pages are used.
  init(values: SegmentTable = SegmentTable()) throws(EngineError) {
    self.values = values
    let placesMemory: AnonymousMemory
    (arenaMemory, placesMemory) = try Self.reserve()
    pageLimit = arenaMemory.byteCount / Self.stride
    arena = arenaMemory.writable
    arenaMemory.preferLargePages(from: Self.smallPagesBytes)
    places = FixedArray(count: pageLimit, in: placesMemory)
  }

  private static func reserve() throws(EngineError) -> (AnonymousMemory, AnonymousMemory) {
    var bytes = reservation
    while bytes > smallestReservation, (try? reserve(bytes)) == nil { bytes /= 2 }
    // A process with an address limit needs most of the remainder for the store's files and for other stores.
    if bytes < politeReservation { bytes = max(bytes / 4, smallestReservation) }
    do {
      return try reserve(bytes)
    } catch {
      throw EngineError(
        .inputOutput, "no addresses could be reserved for the tree's pages: \(EngineError.tooFewAddresses)",
        underlying: error)
    }
  }

  private static func reserve(_ bytes: Int) throws(FileSystemError) -> (AnonymousMemory, AnonymousMemory) {
    let placesBytes = bytes / stride * MemoryLayout<DiskAddress>.stride
    return (try AnonymousMemory(byteCount: bytes), try AnonymousMemory(byteCount: placesBytes))
  }

  // MARK: Following references

  /// The root page of a tree that is not empty.
  @inline(__always)
  func page(_ root: TreeRoot) throws(EngineError) -> Page {
    if root.reference.isInArena { return arenaPage(root.reference) }
    return try diskPage(root.reference, level: root.level, checksum: root.checksum)
  }

  /// The child of a branch's entry.
  @inline(__always)
  func child(_ index: Int, of branch: Page) throws(EngineError) -> Page {
    let reference = branch.child(index)
    if reference.isInArena { return arenaPage(reference) }
    return try diskChild(reference, index, of: branch)
  }

  /// The child of a branch's entry, on the way to a key.
  ///
  /// - Parameter guess: Set to the predicted index of the key if the child is a leaf, whose cache lines are
  ///   then prefetched.
  @inline(__always)
  func child(
    _ index: Int, of branch: Page, toward key: SearchKey, foreseeing guess: inout Int?
  ) throws(EngineError) -> Page {
    let child = try child(index, of: branch)
    if branch.level == 1 { guess = branch.predictIndex(child, below: index, for: key) }
    return child
  }

  @inline(__always)
  func arenaPage(_ reference: PageReference) -> Page {
    Page(PageBytes(arena, at: Int(reference.index) &* Self.stride))
  }

  /// A page that can be read immediately: in the arena, or verified before. Otherwise nil.
  @inline(__always)
  func readyPage(_ reference: PageReference, level: Int) -> Page? {
    reference.isInArena ? arenaPage(reference) : checkedPage(reference, level: level)
  }

  @inline(__always)
  private func diskChild(_ reference: PageReference, _ index: Int, of branch: Page) throws(EngineError)
    -> Page
  {
    if let page = checkedPage(reference, level: branch.level &- 1) { return page }
    return try diskPage(reference, level: branch.level - 1, checksum: branch.childChecksum(index))
  }

  /// A page on disk that was verified before; otherwise nil.
  @inline(__always)
  private func checkedPage(_ reference: PageReference, level: Int) -> Page? {
    let index = Int(reference.index)
    guard let segment = segments[reference.segment],
      index < segment.value.pageCount.load(ordering: .acquiring),
      segment.value.checked[index].load(ordering: .acquiring) == UInt8(truncatingIfNeeded: level &+ 1)
    else { return nil }
    return Page(PageBytes(segment.value.bytes, at: index &* Page.byteCount))
  }

  @inline(never)
  private func diskPage(_ reference: PageReference, level: Int, checksum: UInt64) throws(EngineError) -> Page
  {
    if let page = checkedPage(reference, level: level) { return page }
    guard level >= 0, level <= TreeRoot.levelLimit, let segment = segments[reference.segment],
      Int(reference.index) < segment.value.pageCount.load(ordering: .acquiring)
    else { throw Self.damaged(reference, "it does not exist") }
    checking.lock()
    defer { checking.unlock() }
    return try check(reference, in: segment, level: level, checksum: checksum)
  }

  private func check(
    _ reference: PageReference, in segment: StableReference<Segment>, level: Int, checksum: UInt64
  ) throws(EngineError) -> Page {
    let index = Int(reference.index)
    let page = Page(PageBytes(segment.value.bytes, at: index * Page.byteCount))
    let mark = segment.value.checked[index].load(ordering: .acquiring)
    if mark == 0 {
      if let fill = segment.value.fill {
        try fill(index, page.memory.writable)
      }
      let found = Self.checksum(page.bytes, segmentSeed: segment.value.seed, index: index)
      let isIntact = found == checksum
      guard isIntact else {
        throw Self.damaged(reference, "its checksum is wrong")
      }
    }
    if let validationError = page.validationError(level: level) {
      throw Self.damaged(reference, validationError)
    }
    segment.value.checked[index].store(UInt8(level + 1), ordering: .releasing)
    verifiedPages += 1
    return page
  }

  private static func damaged(_ reference: PageReference, _ validationError: String) -> EngineError {
    .damaged(
      "a page of the tree is damaged: \(validationError); run verify, and restore the file from a backup",
      file: SegmentName.pages(reference.segment), offset: Int(reference.index) * Page.byteCount)
  }

  /// The checksum that a parent stores for a page on disk. The seed depends on the page's address.
  static func checksum(_ page: Bytes, segmentSeed: UInt64, index: Int) -> UInt64 {
    XXH64.hash(page.buffer, seed: Checksums.seed(segmentSeed, at: index * Page.byteCount))
  }

  // MARK: Segments

  /// Adds a page segment.
  ///
  /// - Parameters:
  ///   - bytes: The pages that the segment can come to have, now or when `fill` has read them.
  ///   - pageCount: Number of its pages.
  ///   - owner: Keeps the memory of `bytes` alive.
  ///   - firstGeneration: The first generation that can refer to one of its pages.
  ///   - file: The file that has the pages.
  ///   - checked: A byte for each page, 0 at first, for all spaces with these bytes; nil if this is the only one.
  ///   - fill: Reads a page; nil if `bytes` are a map of the file.
  func addSegment(
    _ number: UInt32, seed: UInt64, bytes: Bytes, pageCount: Int, owner: AnyObject,
    firstGeneration: UInt64 = 0, file: (any File)? = nil, checked: AnonymousMemory? = nil, fill: Fill?
  ) {
    let pages = bytes.count / Page.byteCount
    let checked =
      checked.map { FixedArray<Atomic<UInt8>>(count: pages, in: $0) }
      ?? FixedArray(count: pages) { _ in Atomic<UInt8>(0) }
    segments.add(
      number,
      Segment(
        bytes: bytes, seed: seed, pageCount: Atomic(min(pageCount, checked.count)), checked: checked,
        fill: fill, firstGeneration: firstGeneration, file: file, owner: owner))
  }

  /// Raises a segment's page count after pages were written. One caller at a time.
  func raisePageCount(_ segment: UInt32, _ count: Int) {
    guard let slot = segments[segment], count > slot.value.pageCount.load(ordering: .relaxed) else {
      return
    }
    slot.value.pageCount.store(min(count, slot.value.checked.count), ordering: .releasing)
  }

  /// The object that keeps a segment's memory alive; nil if there is no such segment.
  func owner(of number: UInt32) -> AnyObject? { segments[number]?.value.owner }

  /// The first generation that can refer to a page of a segment.
  func firstGeneration(of number: UInt32) -> UInt64 { segments[number]?.value.firstGeneration ?? 0 }

  /// The file of a segment; nil if there is no such segment.
  func fileOfSegment(_ number: UInt32) -> (any File)? { segments[number]?.value.file }

  /// Removes a segment whose pages no reader can reach any more.
  ///
  /// - Returns: The object that keeps its memory alive.
  func removeSegment(_ number: UInt32) -> AnyObject? {
    let owner = owner(of: number)
    segments.remove(number)
    return owner
  }

  // MARK: The arena; the writer only

  /// Bytes of allocated pages.
  var arenaBytesInUse: Int { pagesInUse.load(ordering: .relaxed) * Page.byteCount }

  /// Greatest number of bytes of pages that the arena can hold.
  var arenaByteLimit: Int { pageLimit * Page.byteCount }

  /// Allocates an arena page with undefined content.
  ///
  /// - Throws: `.tooLarge` if the reserved address space is used up.
  func allocate() throws(EngineError) -> PageReference {
    let index: UInt32
    if let free = freePages.popLast() {
      index = free
    } else {
      guard Int(nextPage) < pageLimit else {
        throw EngineError(.tooLarge, "the tree's pages need more memory than could be reserved")
      }
      index = nextPage
      nextPage += 1
    }
    pagesInUse.add(1, ordering: .relaxed)
    places[Int(index)] = DiskAddress(reference: 0, checksum: 0)
    return PageReference(segment: 0, index: index)
  }

  /// Frees a page that no reader can reach any more.
  func free(_ index: UInt32) {
    freePages.append(index)
    pagesInUse.subtract(1, ordering: .relaxed)
  }

  /// The address on disk of an arena page's copy. Only the checkpoint asks, and only for pages of the
  /// generation that it has pinned; the writer clears an address only when no reader can reach the page.
  func diskAddress(_ index: UInt32) -> DiskAddress? {
    let place = places[Int(index)]
    return place.reference == 0 ? nil : place
  }

  func setDiskAddress(_ index: UInt32, _ place: DiskAddress) { places[Int(index)] = place }
}
