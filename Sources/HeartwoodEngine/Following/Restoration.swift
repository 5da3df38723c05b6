import HeartwoodFiles

/// Copies a store from a destination's pieces.
public struct Restoration {
  private let destination: any ShippingDestination

  /// - Parameter destination: Where the store was shipped to.
  public init(from destination: any ShippingDestination) { self.destination = destination }

  /// Restores a store to a folder: as a whole, or the folder contains no store.
  ///
  /// The store is closed, and has the identifier, the generations and the history of the one that was shipped. It is a copy with
  /// a lineage of its own: it can be shipped to another place than the former one.
  ///
  /// - Parameters:
  ///   - path: A folder that is missing or empty, or contains a copy that was not finished. Its parent must exist.
  ///   - target: Which state.
  ///   - fileSystem: The file system of the folder.
  /// - Throws: `.generationUnavailable` if the destination does not have the state; `.missingPiece`, `.damaged`, `.otherStore` or
  ///   `.otherLineage` if a piece that it needs is not there or not what was shipped; `.exists` if the folder contains a
  ///   store; `.notAStore`, `.locked`, and errors of the file system and of the destination.
  /// - Complexity: O(n) in the size of the base before the state and of the pieces after it.
  @discardableResult
  public func restore(
    to path: String, at target: RestoreTarget = .newest, fileSystem: any FileSystem = PosixFileSystem()
  ) throws(EngineError) -> RestoreReport {
    let folder = try BackupTarget(path, fileSystem)
    defer { folder.close() }
    guard try !folder.folder.entries().contains(StoreFolder.anchorName) else {
      throw EngineError(.exists, "the folder holds a store; name another folder", file: path)
    }
    let restored = try copy(to: folder, at: target)
    try folder.replaceAnchor(restored.slot)
    return restored.report
  }

  /// A copy that lacks its anchor.
  struct Copied {
    let slot: AnchorSlot
    let last: ShippingMark
    let report: RestoreReport
  }

  /// Copies everything but the anchor to a folder without a store, and marks it as containing an unfinished copy.
  func copy(to target: BackupTarget, at state: RestoreTarget) throws(EngineError) -> Copied {
    try UnfinishedCopy.clear(target.folder, keeping: nil)
    let chain = try PieceSelection(PieceList(destination), state).chain()
    do throws(EngineError) {
      try target.mark()
      return try copy(chain, to: target, at: state)
    } catch {
      // Frees the space if possible; otherwise the next copy to this folder does.
      try? UnfinishedCopy.clear(target.folder, keeping: nil)
      throw error
    }
  }

  private func copy(
    _ chain: PieceSelection.Chain, to target: BackupTarget, at state: RestoreTarget
  ) throws(EngineError) -> Copied {
    let copy = StoreCopy(target.folder)
    var reached: PieceHeader?
    var mark: ShippingMark?
    for number in chain.numbers {
      let piece = try chain.list.open(number)
      if let mark { try PieceList.requireSuccession(piece, after: mark) }
      let isCut = number == chain.numbers.last && !state.isAtEnd(of: piece.header)
      if isCut, let before = reached, let start = piece.header.start {
        reached = try cut(piece, start, before, copy, state)
      } else {
        try copy.write(piece)
        target.folder.unlink(copy.adopt(piece.header))
        reached = piece.header
      }
      mark = piece.mark
    }
    guard let reached, let mark else { throw PieceSelection.empty(destination) }
    try CopyVerification(target.folder, reached).checkAll()
    try target.syncDirectory()
    let report = RestoreReport(
      generation: Generation(rawValue: reached.end.generation), time: reached.latestTime,
      bytes: copy.writtenBytes, pieces: chain.numbers.count)
    return Copied(
      slot: AnchorSlot(after: reached, sequence: AnchorSlot.firstSequence), last: mark, report: report)
  }

  /// Copies the log of a piece up to a state before its end.
  ///
  /// - Returns: The state, with the checkpoint and the pages of the piece before.
  private func cut(
    _ piece: OpenPiece, _ start: LogPoint, _ before: PieceHeader, _ copy: StoreCopy, _ state: RestoreTarget
  ) throws(EngineError) -> PieceHeader {
    try copy.write(piece, isLogOnly: true)
    let end = try CopyVerification(copy.folder, piece.header).end(from: start) { state.includes($0) }
    var cut = before
    cut.end = end
    cut.nextSegment = max(before.nextSegment, piece.header.nextSegment)
    let later = piece.header.logs.filter { log in
      log.number <= end.position.segment && !before.logs.contains { $0.number == log.number }
    }
    cut.segments = before.logs + later + before.pages
    let kept = Set(cut.segments.map(SegmentKey.init))
    copy.folder.unlink(piece.header.segments.map(SegmentKey.init).filter { !kept.contains($0) }.map(\.name))
    try truncate(copy.folder, at: end.position)
    return cut
  }

  private func truncate(_ folder: StoreFolder, at end: LogPosition) throws(EngineError) {
    do {
      let file = try folder.directory.open(SegmentName.log(end.segment), .readWrite)
      defer { try? file.close() }
      try file.truncate(to: Int64(end.offset))
      try file.sync(.full)
    } catch {
      throw EngineError.files(error, "the copy of the store could not be written")
    }
  }
}

extension AnchorSlot {
  /// The anchor of a copy after a piece: clean, with the exact end of the log.
  init(after piece: PieceHeader, sequence: UInt64) {
    self.init(
      identifier: piece.identifier, sequence: sequence, created: piece.created, checkpoint: piece.checkpoint,
      checkpointChecksum: piece.checkpointChecksum, lastLogSegment: piece.end.position.segment,
      knownDurable: piece.end, nextSegment: piece.nextSegment, isClean: true, content: piece.content,
      features: piece.features)
  }
}
