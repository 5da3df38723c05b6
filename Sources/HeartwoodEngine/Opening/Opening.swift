import HeartwoodFiles

/// Opens a store: finds the end of the log, recovers the log after an unclean end, and brings the tree up to
/// date.
struct Opening {
  let path: String
  let options: EngineOptions
  let fileSystem: any FileSystem
  /// Path of the folder in `fileSystem` if it differs from `path`.
  let folderPath: String
  private let watch = Stopwatch()

  init(_ path: String, _ options: EngineOptions, _ fileSystem: any FileSystem, folderPath: String? = nil) {
    self.path = path
    self.options = options
    self.fileSystem = fileSystem
    self.folderPath = folderPath ?? path
  }

  /// Opens the store without sharing it in this process.
  func run() throws(EngineError) -> OpenStore {
    guard folderPath == path else {
      let folder = try StoreFolder.inMemory(folderPath, fileSystem)
      return try closingOnFailure(folder) { () throws(EngineError) in try create(folder) }
    }
    return try inPlace { (directory) throws(EngineError) in try open(directory) }
  }

  /// Calls `body` with the directory, again if another one has taken its place meanwhile.
  func inPlace<Result>(
    _ body: (any Directory) throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    var backoff = Backoff(seconds: options.busyTimeout, guaranteedPauses: 1)
    while true {
      let directory = try StoreFolder.directory(path, options, fileSystem)
      do throws(EngineError) { return try body(directory) } catch {
        guard (try? directory.isInPlace()) == false, backoff.wait() else { throw error }
      }
    }
  }

  /// Opens the store of a directory.
  ///
  /// A process that fails to attach detaches before it tries again: those that had the store open may have ended meanwhile, and several that
  /// wait attached would keep each other from opening it alone.
  func open(_ directory: any Directory) throws(EngineError) -> OpenStore {
    var backoff = Backoff(
      seconds: options.busyTimeout, guaranteedPauses: StoreFolder.guaranteedRepetitions)
    while true {
      switch try StoreFolder.open(directory, path, options) {
      case .store(let folder) where options.access == .readOnly:
        do throws(EngineError) {
          return try closingOnFailure(folder) { () throws(EngineError) in try openReadOnly(folder) }
        } catch {
          // Another process has removed the store since: there is none, or another one.
          guard error.isStale, !StoreFolder.hasAnchor(directory), backoff.wait() else { throw error }
        }
      case .store(let folder):
        return try closingOnFailure(folder) { () throws(EngineError) in
          let store = try admittingOthers(try openMakingRoom(folder))
          Compaction(store).joinSmallFiles()
          return store
        }
      case .empty(let folder):
        return try closingOnFailure(folder) { () throws(EngineError) in
          try admittingOthers(try create(folder))
        }
      case .shared(let folder):
        do throws(EngineError) {
          return try closingOnFailure(folder) { () throws(EngineError) in try attach(folder) }
        } catch {
          guard error.isStale || error.code == .locked, (try? directory.isInPlace()) != false,
            backoff.wait()
          else { throw error }
        }
      }
    }
  }

  /// Opens a store, also on a full disk. Recovery copies the end of the log. If there is no room, it rewrites
  /// that end in place, and uses the store's reserve only if that also needs room.
  private func openMakingRoom(_ folder: StoreFolder) throws(EngineError) -> OpenStore {
    let refusal: EngineError
    do throws(EngineError) {
      return try open(folder)
    } catch {
      guard error.code == .noSpace else { throw error }
      refusal = error
    }
    do throws(EngineError) {
      return try open(folder, recovery: .inPlace)
    } catch {
      guard error.code == .noSpace else { throw error }
    }
    guard folder.spendReserve() else { throw refusal }
    return try open(folder)
  }

  private func admittingOthers(_ store: OpenStore) throws(EngineError) -> OpenStore {
    try Coordinator(store).admitOtherProcesses()
    return store
  }

  /// Opens the store for reading only, while other processes may write it.
  private func openReadOnly(_ folder: StoreFolder) throws(EngineError) -> OpenStore {
    try folder.retryingIfChanged(
      seconds: options.busyTimeout, version: { () throws(EngineError) in try folder.version() },
      { () throws(EngineError) in try open(folder) })
  }

  /// Opens a store that other processes have open, at the state they have published.
  private func attach(_ folder: StoreFolder) throws(EngineError) -> OpenStore {
    var backoff = Backoff(seconds: 0, guaranteedPauses: StoreFolder.guaranteedRepetitions)
    while true {
      do throws(EngineError) {
        guard let record = try folder.newestRecord() else {
          throw ProcessAttachment.busy(path, "the store is being opened elsewhere; try again")
        }
        return try attach(folder, record)
      } catch {
        // A file may have been reclaimed before it was opened.
        guard error.isStale || error.code == .locked, backoff.wait() else { throw error }
      }
    }
  }

  private func attach(_ folder: StoreFolder, _ record: WriterRecord) throws(EngineError) -> OpenStore {
    let (anchor, contents) = try AnchorFile.open(
      folder, access: options.access, syncs: options.durability != .none)
    do throws(EngineError) {
      try checkMayWrite(contents)
      let finder = LogFinder(folder: folder, identifier: record.identifier, options: options)
      let image = try StoreImage(finder, contents.slot, upTo: (record.end, record.durable))
      guard let last = image.segments.last, contents.slot.identifier == record.identifier else {
        throw EngineError.stale(
          "the store is not the one that other processes have open; close it there first", file: path)
      }
      let log = Log(
        folder: folder, identifier: record.identifier, options: options, path: image.segments, last: last,
        end: image.end, filled: last.limit, ends: image.ends, durable: image.durable)
      let found = FoundLog(
        folder: folder, anchor: anchor, log: log, checkpoint: image.checkpoint, next: record.nextSegment,
        seenRecord: record.counter)
      let store = try assemble(found, holdsLease: false)
      try Settlement(store).beforeFirstAnswer()
      return store
    } catch {
      anchor.close()
      throw error
    }
  }

  private func checkMayWrite(_ contents: AnchorFile.Contents) throws(EngineError) {
    guard contents.forbidsWriting, options.access == .readWrite else { return }
    throw EngineError(
      .newerFormat,
      "a newer version that wrote the store forbids older versions to write it; open it for reading only",
      file: path)
  }

  private func closingOnFailure(
    _ folder: StoreFolder, _ body: () throws(EngineError) -> OpenStore
  ) throws(EngineError) -> OpenStore {
    do {
      return try body()
    } catch {
      folder.close()
      throw error
    }
  }

  // MARK: A new store

  private func create(_ folder: StoreFolder) throws(EngineError) -> OpenStore {
    try folder.clearUnfinishedCreation()
    let syncs = options.durability != .none
    let identifier =
      options.newIdentifier ?? StoreIdentifier(low: options.entropy.next(), high: options.entropy.next())
    let factory = LogSegmentFactory(folder: folder, identifier: identifier, options: options)
    let segment = try factory.make(number: 1, predecessor: nil, durableThrough: 0)
    try factory.makeDurable(segment)
    let slot = AnchorSlot(
      identifier: identifier, sequence: AnchorSlot.firstSequence, created: options.clock.nanosecondsSince1970,
      checkpoint: nil,
      checkpointChecksum: 0, lastLogSegment: 1, knownDurable: segment.header.firstPoint, nextSegment: 2,
      isClean: true, content: options.content, features: options.features)
    let anchor = try AnchorFile.create(slot, in: folder, syncs: syncs)
    let log = Log(
      folder: folder, identifier: identifier, options: options, path: [segment], last: segment,
      end: segment.header.firstPoint, filled: Format.firstFillBytes)
    return try assemble(FoundLog(folder: folder, anchor: anchor, log: log, checkpoint: nil, next: 2))
  }

  // MARK: An existing store

  private func open(
    _ folder: StoreFolder, recovery: Recovery.Way = .copying
  ) throws(EngineError) -> OpenStore {
    let syncs = options.durability != .none
    var word = try folder.publishedRecord()
    let showsUnproven = try showsUnproven(folder, &word)
    let (anchor, contents) = try AnchorFile.open(folder, access: options.access, syncs: syncs)
    do throws(EngineError) {
      try checkMayWrite(contents)
      let unfinished = try UnfinishedCopy(in: folder, beside: contents)
      if options.access == .readWrite {
        if syncs { try makeDurable(contents.slot, folder) }
        try unfinished.remove()
      }
      let found = try LogSearch(folder, anchor, options).run(
        contents, endsAsSaid: unfinished.isThere, word,
        showsUnproven: showsUnproven && !unfinished.isThere, recovery: recovery)
      try checkIsPublished(word, folder, showsUnproven)
      try nameFeatures(in: anchor)
      return try assemble(found)
    } catch {
      anchor.close()
      throw error
    }
  }

  /// Writes to both slots of the anchor which features the store has from now on, before it has them.
  private func nameFeatures(in anchor: AnchorFile) throws(EngineError) {
    let features = options.features
    guard options.access == .readWrite, !anchor.current.features.isSuperset(of: features) else { return }
    for _ in 0..<2 {
      switch anchor.update({ $0.features.formUnion(features) }) {
      case .written: continue
      case .failed(let error), .unsynced(let error): throw error
      }
    }
  }

  /// Whether an opening for reading only shows all whole transactions in the log: no process writes, and the next one that does adopts
  /// them. What a writer has not published is not shown while it lives.
  ///
  /// - Parameter word: The newest record, which gets that of the writer if it has ended.
  private func showsUnproven(
    _ folder: StoreFolder, _ word: inout PublishedRecord
  ) throws(EngineError) -> Bool {
    guard options.access == .readOnly else { return false }
    guard word.record != nil else { return true }
    guard options.untrusted == nil, let page = try folder.openPage() else { return false }
    do throws(EngineError) {
      let abandoned = try Settlement.abandonedRecord(
        folder, page, ownName: 0, busyTimeout: options.busyTimeout)
      guard let abandoned else { return false }
      word = PublishedRecord(record: abandoned, counter: abandoned.counter)
      return true
    } catch {
      // Another process recovers the log. What was published before is shown.
      guard error.code == .locked else { throw error }
      return false
    }
  }

  /// - Throws: A stale error if a process has attached since the record was read, or has begun to write: the end of the log that was found
  ///   may include transactions that it has not published yet.
  private func checkIsPublished(
    _ word: PublishedRecord, _ folder: StoreFolder, _ showsUnproven: Bool
  ) throws(EngineError) {
    guard options.access == .readOnly, word.record == nil || showsUnproven,
      try folder.newestRecord()?.counter != word.record?.counter
    else { return }
    throw EngineError.overtaken(
      "another process has just opened the store for writing; try again", file: path)
  }

  /// Performs syncs that the last writer of the anchor may have omitted.
  private func makeDurable(_ slot: AnchorSlot, _ folder: StoreFolder) throws(EngineError) {
    if slot.isUnsynced {
      // Later slots do not carry the flag, but depend on these files.
      try folder.syncEverything()
    } else if slot.sequence == AnchorSlot.firstSequence {
      // The creating process may have been killed before the anchor's name was durable.
      try folder.syncNames()
    }
  }

  // MARK: Both

  private func assemble(_ found: FoundLog, holdsLease: Bool = true) throws(EngineError) -> OpenStore {
    let space = try PageSpace(values: found.log.table)
    space.values.hasCompressedValues.store(
      found.anchor.current.features.contains(.compressedValues), ordering: .relaxed)
    let numbers = SegmentNumbers(next: found.next)
    let files = PageSegmentFiles(folder: found.folder, identifier: found.log.identifier, options: options)
    var parts: [PageAppender.Part] = []
    for named in found.checkpoint?.pageSegments ?? [] { parts.append(try files.open(named)) }
    let pages = PageAppender(parts, files: files, numbers: numbers, space: space)
    // Another process may know a later checkpoint of the process that ended. Its pages must not be
    // overwritten.
    if found.isRecovered { pages.seal() }
    try UntrustedTree.check(found.checkpoint, space, options, path: path)
    let replay = try Replay(found.image, in: space)
    let store = OpenStore(
      OpenStore.Parts(
        path: path, options: options, fileSystem: fileSystem,
        // An untrusted store is not mapped, and no process may write it.
        page: options.untrusted == nil ? try found.folder.openPage() : nil,
        seenRecord: found.seenRecord, holdsLease: holdsLease && options.access == .readWrite,
        folder: found.folder,
        anchor: found.anchor, log: found.log,
        space: space,
        generations: replay.generations, tree: replay.tree, pages: pages, checkpoint: found.checkpoint,
        numbers: numbers, replayedBytes: replay.bytes, unrecoveredTransactions: found.unrecoveredTransactions)
    )
    store.tell(
      .opened(
        OpenedStore(
          generation: Generation(rawValue: store.generations.newest), replayedBytes: replay.bytes,
          isRecovered: found.isRecovered, duration: watch.elapsed)))
    return store
  }
}

extension Opening {
  /// Creates a store in memory.
  static func inMemory(_ options: EngineOptions) throws(EngineError) -> OpenStore {
    guard options.access == .readWrite, options.createsStore else {
      throw EngineError(
        .notFound, "a store in memory is always new; allow creating and writing it", file: "/dev/null")
    }
    // Nothing in memory can be lost, so syncs are unnecessary.
    var inMemory = options
    inMemory.durability = .none
    return try Opening("/dev/null", inMemory, MemoryFileSystem(), folderPath: "/store").run()
  }
}
