import HeartwoodBytes
import HeartwoodFiles
import Synchronization

/// Where pages are: the arena, which holds pages in memory, and the page segments on disk. With it goes all else that a
/// reader needs, so that a snapshot keeps one object: keeping several is what readers would get in each other's way with.
///
/// Readers follow references here without a lock. Pages of the arena are given out and taken back by
/// the writer alone. A page from disk is filled and checked when it is first touched, and never again.
final class PageSpace: @unchecked Sendable {
  /// A page segment as readers need it.
  struct Segment: ~Copyable {
    let base: UnsafeRawPointer
    let seed: UInt64
    /// Pages at or behind this are not there.
    let pageCount: Atomic<Int>
    /// By page: 0 where it was not yet checked, else its level and one.
    let checked: UnsafeMutablePointer<Atomic<UInt8>>
    let capacity: Int
    let fill: Fill?
    let owner: AnyObject

    deinit { checked.deallocate() }
  }

  /// Reads a page to its place, where there is no map.
  typealias Fill = @Sendable (Int, UnsafeMutableRawBufferPointer) throws(EngineError) -> Void

  /// Where on disk a page of the arena lies too, once a checkpoint has written it.
  struct DiskAddress {
    var reference: UInt64
    var checksum: UInt64
  }

  let arena: UnsafeMutableRawPointer
  private let arenaMemory: AnonymousMemory
  private let placesMemory: AnonymousMemory
  private let places: UnsafeMutablePointer<DiskAddress>
  private let pageLimit: Int
  /// The first page of the arena that was never given out.
  @exclusivity(unchecked) private var nextPage: UInt32 = 1
  @exclusivity(unchecked) private var freePages = PlainList<UInt32>()
  private let pagesInUse = Atomic(0)
  private let segments = SlotTable<Segment>()
  /// Where the values are that the pages refer to.
  let values: SegmentTable
  /// Where readers say which generation they hold.
  let readers = ReaderSlots()
  /// Held while a page is filled and checked.
  private let checking = Lock()

  /// Address space for the arena; halved until the system grants it.
  private static let reservation = 64 << 30
  private static let smallestReservation = 32 << 20
  /// Where less than this is granted, a quarter of it is taken.
  private static let politeReservation = 4 << 30
  /// Pages of the arena lie a line further apart than they are long: else their headers, which every descent
  /// reads, would all fall into the same places of the processor's cache.
  private static let stride = Page.byteCount + 64

  /// So much of the arena is in small pages: a small store is to take little memory. A larger tree is in large
  /// ones, as a search touches another place on each level.
  private static let smallPagesBytes = 4 << 20

  /// Reserves addresses for the arena; memory is taken as pages are used.
  init(values: SegmentTable = SegmentTable()) throws(EngineError) {
    self.values = values
    (arenaMemory, placesMemory) = try Self.reserve()
    pageLimit = arenaMemory.byteCount / Self.stride
    arena = arenaMemory.base
    arenaMemory.preferLargePages(from: Self.smallPagesBytes)
    places = placesMemory.base.bindMemory(to: DiskAddress.self, capacity: pageLimit)
  }

  private static func reserve() throws(EngineError) -> (AnonymousMemory, AnonymousMemory) {
    var bytes = reservation
    while bytes > smallestReservation, (try? reserve(bytes)) == nil { bytes /= 2 }
    // A process with a limit needs most of what it has left for the store's files, and for other stores.
    if bytes < politeReservation { bytes = max(bytes / 4, smallestReservation) }
    do {
      return try reserve(bytes)
    } catch {
      throw EngineError(
        .inputOutput, "there is no room for the tree's pages: \(EngineError.tooFewAddresses)",
        underlying: error)
    }
  }

  private static func reserve(_ bytes: Int) throws(FileSystemError) -> (AnonymousMemory, AnonymousMemory) {
    let placesBytes = bytes / stride * MemoryLayout<DiskAddress>.stride
    return (try AnonymousMemory(byteCount: bytes), try AnonymousMemory(byteCount: placesBytes))
  }

  // MARK: Following references

  /// The root of a tree that is not empty.
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

  /// The same on the way to a key.
  ///
  /// - Parameter guess: Where in the child the key may be, if that is a leaf; its lines are on their way then.
  @inline(__always)
  func child(
    _ index: Int, of branch: Page, toward key: SearchKey, foreseeing guess: inout Int?
  ) throws(EngineError) -> Page {
    let child = try child(index, of: branch)
    if branch.level == 1 { guess = branch.predictIndex(child, below: index, for: key) }
    return child
  }

  @inline(__always)
  func arenaPage(_ reference: PageReference) -> Page { Page(arena + Int(reference.index) &* Self.stride) }

  /// The page that a reference leads to, where it can be read as it is: it is in memory, or was checked before.
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

  /// A page that was checked before; nil where it has to be looked at.
  @inline(__always)
  private func checkedPage(_ reference: PageReference, level: Int) -> Page? {
    let index = Int(reference.index)
    guard let segment = segments[reference.segment],
      index < segment.pointee.pageCount.load(ordering: .acquiring),
      segment.pointee.checked[index].load(ordering: .acquiring) == UInt8(truncatingIfNeeded: level &+ 1)
    else { return nil }
    return Page(segment.pointee.base + index &* Page.byteCount)
  }

  @inline(never)
  private func diskPage(_ reference: PageReference, level: Int, checksum: UInt64) throws(EngineError) -> Page
  {
    if let page = checkedPage(reference, level: level) { return page }
    guard level >= 0, level <= TreeRoot.levelLimit, let segment = segments[reference.segment],
      Int(reference.index) < segment.pointee.pageCount.load(ordering: .acquiring)
    else { throw Self.damaged(reference, "it is not there") }
    checking.lock()
    defer { checking.unlock() }
    return try check(reference, in: segment, level: level, checksum: checksum)
  }

  private func check(
    _ reference: PageReference, in segment: UnsafeMutablePointer<Segment>, level: Int, checksum: UInt64
  ) throws(EngineError) -> Page {
    let index = Int(reference.index)
    let base = segment.pointee.base + index * Page.byteCount
    let page = Page(base)
    let mark = segment.pointee.checked[index].load(ordering: .acquiring)
    if mark == 0 {
      if let fill = segment.pointee.fill {
        try fill(index, UnsafeMutableRawBufferPointer(start: page.base, count: Page.byteCount))
      }
      let found = Self.checksum(base, segmentSeed: segment.pointee.seed, index: index)
      let isIntact = found == checksum
      guard isIntact else {
        throw Self.damaged(reference, "its checksum does not hold")
      }
    }
    if let validationError = page.validationError(level: level) {
      throw Self.damaged(reference, validationError)
    }
    segment.pointee.checked[index].store(UInt8(level + 1), ordering: .releasing)
    return page
  }

  private static func damaged(_ reference: PageReference, _ validationError: String) -> EngineError {
    .damaged(
      "a page of the tree is damaged: \(validationError); run verify, and restore the file from a backup",
      file: SegmentName.pages(reference.segment), offset: Int(reference.index) * Page.byteCount)
  }

  /// What a parent holds of a page on disk. The seed says where the page belongs.
  static func checksum(_ page: UnsafeRawPointer, segmentSeed: UInt64, index: Int) -> UInt64 {
    XXH64.hash(page.bytes(Page.byteCount), seed: Checksums.seed(segmentSeed, at: index * Page.byteCount))
  }

  // MARK: Segments

  /// Makes the pages of a segment reachable.
  ///
  /// - Parameters:
  ///   - base: Where the segment's first page is in memory, or will be when `fill` has read it.
  ///   - pageCapacity: How many pages the segment may come to have.
  ///   - pageCount: How many it has.
  ///   - owner: Keeps the memory at `base`.
  ///   - fill: Reads a page; nil where `base` is a map of the file.
  func addSegment(
    _ number: UInt32, seed: UInt64, base: UnsafeRawPointer, pageCapacity: Int, pageCount: Int,
    owner: AnyObject,
    fill: Fill?
  ) {
    let marks = UnsafeMutableRawPointer.allocate(byteCount: max(1, pageCapacity), alignment: 8)
    marks.initializeMemory(as: UInt8.self, repeating: 0, count: pageCapacity)
    let checked = marks.bindMemory(to: Atomic<UInt8>.self, capacity: pageCapacity)
    segments.add(
      number,
      Segment(
        base: base, seed: seed, pageCount: Atomic(min(pageCount, pageCapacity)), checked: checked,
        capacity: pageCapacity, fill: fill, owner: owner))
  }

  /// Says how many pages a segment has, after more were written. One caller at a time.
  func raisePageCount(_ segment: UInt32, _ count: Int) {
    guard let slot = segments[segment], count > slot.pointee.pageCount.load(ordering: .relaxed) else {
      return
    }
    slot.pointee.pageCount.store(min(count, slot.pointee.capacity), ordering: .releasing)
  }

  /// What keeps the bytes of a segment; nil where there is no such segment.
  func owner(of number: UInt32) -> AnyObject? { segments[number]?.pointee.owner }

  /// Forgets a segment whose pages nobody can reach any more.
  ///
  /// - Returns: what keeps their bytes.
  func removeSegment(_ number: UInt32) -> AnyObject? {
    let owner = owner(of: number)
    segments.remove(number)
    return owner
  }

  // MARK: The arena; the writer's

  /// Bytes of pages that are in use.
  var arenaBytesInUse: Int { pagesInUse.load(ordering: .relaxed) * Page.byteCount }

  /// Bytes of pages that the arena can have.
  var arenaByteLimit: Int { pageLimit * Page.byteCount }

  /// A page of the arena with undefined content.
  func allocate() throws(EngineError) -> PageReference {
    let index: UInt32
    if let free = freePages.popLast() {
      index = free
    } else {
      guard Int(nextPage) < pageLimit else {
        throw EngineError(.tooLarge, "the tree's pages need more memory than there are addresses for")
      }
      index = nextPage
      nextPage += 1
    }
    pagesInUse.add(1, ordering: .relaxed)
    places[Int(index)] = DiskAddress(reference: 0, checksum: 0)
    return PageReference(segment: 0, index: index)
  }

  /// Takes a page back that nobody can reach any more.
  func free(_ index: UInt32) {
    freePages.append(index)
    pagesInUse.subtract(1, ordering: .relaxed)
  }

  /// Where on disk an arena page lies too. The checkpointer's: it asks only for pages of the
  /// generation that it has pinned, and the writer clears a place only when nobody can reach the page.
  func diskAddress(_ index: UInt32) -> DiskAddress? {
    let place = places[Int(index)]
    return place.reference == 0 ? nil : place
  }

  func setDiskAddress(_ index: UInt32, _ place: DiskAddress) { places[Int(index)] = place }
}
