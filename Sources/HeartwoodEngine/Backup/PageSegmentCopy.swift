import HeartwoodFiles

/// Copies the part of a page segment that a backup lacks, and verifies it.
struct PageSegmentCopy {
  let backup: Backup
  let part: CheckpointRecord.Segment
  /// The existing part of the copy; nil if there is none.
  let earlier: CheckpointRecord.Segment?

  /// Pages in one write.
  private static let stepPages = 64

  private var name: String { SegmentName.pages(part.number) }

  init(_ backup: Backup, _ part: CheckpointRecord.Segment, earlier: CheckpointRecord.Segment?) {
    self.backup = backup
    self.part = part
    self.earlier = earlier
  }

  private var sourceFiles: PageSegmentFiles {
    var options = backup.store.options
    options.access = .readOnly
    options.reading = .buffered
    return PageSegmentFiles(
      folder: backup.store.folder, identifier: backup.contents.identifier, options: options)
  }

  /// Returns the bytes that were already in the folder.
  func run() throws(EngineError) -> Int64 {
    let source = try backup.source(name, held: backup.contents.files.pages[part.number]) {
      () throws(EngineError) in try sourceFiles.open(part).segment
    }
    if let earlier {
      let mine = try backup.target.pageFiles(of: backup.contents.identifier).open(earlier).segment
      guard mine.header == source.header else { throw EarlierBackup.wentItsOwnWay(backup.target.folder) }
      if earlier.extent > part.extent { try requirePages(of: mine) }
      if earlier.extent >= part.extent { return Int64(part.extent) * Int64(Format.pageBytes) }
    }
    try copy(source)
    return Int64(earlier?.extent ?? 0) * Int64(Format.pageBytes)
  }

  private func copy(_ source: PageSegment) throws(EngineError) {
    var chain = earlier?.chain ?? source.header.seed
    try backup.target.write(name, earlier == nil ? .createNew : .readWrite) { (file) throws(EngineError) in
      try read(source, from: Int(earlier?.extent ?? 0), &chain) { (pages, index) throws(EngineError) in
        try file.write(pages, at: index * Format.pageBytes)
        backup.target.noteCopied(pages.count)
      }
    }
    guard chain != part.chain else { return }
    try requireSound(source)
    // The store's pages are intact, but do not continue those of the backup.
    throw EarlierBackup.wentItsOwnWay(backup.target.folder)
  }

  /// Checks that the backup's file begins with these pages. It has more, from a checkpoint that the store no
  /// longer knows.
  private func requirePages(of mine: PageSegment) throws(EngineError) {
    guard try hasPages(mine) else { throw EarlierBackup.wentItsOwnWay(backup.target.folder) }
  }

  private func hasPages(_ segment: PageSegment) throws(EngineError) -> Bool {
    var chain = segment.header.seed
    try read(segment, from: 0, &chain) { (_, _) throws(EngineError) in }
    return chain == part.chain
  }

  private func requireSound(_ source: PageSegment) throws(EngineError) {
    guard try hasPages(source) else {
      throw EngineError.damaged(
        "a page of the tree is damaged, and damage is not copied; run verify, and salvage what can be read",
        file: source.path)
    }
  }

  /// Reads pages in steps, and updates the running checksum.
  private func read(
    _ source: PageSegment, from first: Int, _ chain: inout UInt64,
    _ body: (UnsafeRawBufferPointer, Int) throws(EngineError) -> Void
  ) throws(EngineError) {
    let buffer = OwnedBytes(count: Self.stepPages * Format.pageBytes)
    let end = Int(part.extent)
    for index in stride(from: first, to: end, by: Self.stepPages) {
      let count = min(Self.stepPages, end - index) * Format.pageBytes
      let pages = buffer.writable.bytes(0, count)
      try source.read(page: index, into: pages)
      addChecksums(pages.bytes, from: index, source.header.seed, &chain)
      try body(pages.bytes.buffer, index)
    }
  }

  /// Adds the checksums of pages to the running checksum. Page 0 of a segment is its header, which is
  /// skipped.
  private func addChecksums(
    _ pages: Bytes, from index: Int, _ seed: UInt64, _ chain: inout UInt64
  ) {
    for page in 0..<pages.count / Format.pageBytes where index + page > 0 {
      let place = pages.bytes(page * Format.pageBytes, Format.pageBytes)
      chain = Checksums.mix(chain, PageSpace.checksum(place, segmentSeed: seed, index: index + page))
    }
  }
}
