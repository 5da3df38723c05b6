import HeartwoodFiles

/// Copies the part of a page segment that a backup lacks, and verifies it.
struct PageSegmentCopy {
  let backup: Backup
  let part: CheckpointRecord.Segment
  /// The existing part of the copy; nil if there is none.
  let earlier: CheckpointRecord.Segment?

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
    let pages = Int(earlier?.extent ?? 0)..<Int(part.extent)
    try backup.target.write(name, earlier == nil ? .createNew : .readWrite) { (file) throws(EngineError) in
      chain = try source.readPages(pages, chain: chain) { (bytes, index) throws(EngineError) in
        try file.write(bytes, at: index * Format.pageBytes)
        backup.target.noteCopied(bytes.count)
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
    try segment.readPages(0..<Int(part.extent), chain: segment.header.seed) == part.chain
  }

  private func requireSound(_ source: PageSegment) throws(EngineError) {
    guard try hasPages(source) else {
      throw EngineError.damaged(
        "a page of the tree is damaged, and damage is not copied; run verify, and salvage what can be read",
        file: source.path)
    }
  }
}
