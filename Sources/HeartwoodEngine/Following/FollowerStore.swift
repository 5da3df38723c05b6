import HeartwoodFiles

/// The store of a follower: a copy that pieces continue while other processes read it.
///
/// To readers it is a store that another process writes: new frames are published in the shared header. Only the files differ:
/// nothing is appended to the log but the bytes of pieces, and the anchor always says where the log ends. The file
/// `anchor.new` marks that bytes behind that end do not belong to the store, as beside an unfinished backup.
final class FollowerStore {
  private let target: BackupTarget
  private let anchor: AnchorFile
  private let copy: StoreCopy
  private var checkpoint: LogPosition?
  /// The newest piece that was copied.
  private(set) var mark: ShippingMark
  /// Bytes that were copied before the store could be opened; 0 if it was there.
  let bytesOfFirstCopy: Int64

  private var folder: StoreFolder { target.folder }

  /// Opens the store in a folder, and copies one there if the folder has none.
  ///
  /// - Throws: `.exists` if the folder contains a store that does not follow another; `.diverged` if it was written to since.
  static func open(
    _ path: String, from destination: any ShippingDestination, _ fileSystem: any FileSystem
  ) throws(EngineError) -> FollowerStore {
    let target = try BackupTarget(path, fileSystem)
    do throws(EngineError) {
      let isThere = try target.folder.entries().contains(StoreFolder.anchorName)
      return try FollowerStore(target, bytesOfFirstCopy: isThere ? 0 : create(target, destination))
    } catch {
      target.close()
      throw error
    }
  }

  /// - Returns: The bytes that were copied.
  private static func create(
    _ target: BackupTarget, _ destination: any ShippingDestination
  ) throws(EngineError) -> Int64 {
    let copied = try Restoration(from: destination).copy(to: target, at: .newest)
    // Not by a temporary name, which would make the folder one with other things.
    try doing { () throws(FileSystemError) in
      let directory = target.folder.directory
      let isThere = try directory.entries().contains(PieceFormat.followingName)
      let file =
        try isThere
        ? directory.open(PieceFormat.followingName, .readWrite)
        : directory.create(PieceFormat.followingName, like: StoreFolder.newAnchorName)
      defer { try? file.close() }
      try file.write(all: copied.last.encoded(), at: 0)
      try file.sync(.full)
    }
    try target.replaceAnchor(copied.slot)
    return copied.report.bytes
  }

  private init(_ target: BackupTarget, bytesOfFirstCopy: Int64) throws(EngineError) {
    self.target = target
    self.bytesOfFirstCopy = bytesOfFirstCopy
    let folder = target.folder
    guard let mark = try Self.mark(folder) else {
      throw EngineError(
        .exists, "the folder holds a store that does not follow another one; name another folder",
        file: folder.path)
    }
    let (anchor, contents) = try AnchorFile.open(folder, access: .readWrite, syncs: true)
    do throws(EngineError) {
      let isMarked = try folder.entries().contains(StoreFolder.newAnchorName)
      // Between the writes of its two slots only the newer one says where the log ends.
      guard contents.isUntouched || (isMarked && contents.slot.isClean),
        contents.slot.identifier == mark.identifier
      else { throw Self.written(folder) }
      let there = try EarlierBackup.read(folder, contents)
      if !isMarked { try target.mark() }
      (self.anchor, self.mark) = (anchor, mark)
      copy = StoreCopy(folder, there.segmentsByEnd, end: contents.slot.knownDurable)
      checkpoint = contents.slot.checkpoint
      if !contents.isUntouched { try name(contents.slot) }
      removeTemporaries()
      try publish(contents.slot)
    } catch {
      anchor.close()
      throw error
    }
  }

  private static func mark(_ folder: StoreFolder) throws(EngineError) -> ShippingMark? {
    try doing { () throws(FileSystemError) in
      try folder.directory.contents(of: PieceFormat.followingName, upTo: PieceFormat.markBytes)?.withBytes {
        ShippingMark.decode($0)
      }
    }
  }

  private static func written(_ folder: StoreFolder) -> EngineError {
    EngineError(
      .diverged,
      "the follower's store was opened for writing, and has gone its own way; follow in a new folder",
      file: folder.path)
  }

  /// Removes what replacing the mark has left, if it was interrupted.
  private func removeTemporaries() {
    let names = (try? folder.entries()) ?? []
    folder.unlink(names.filter(AtomicReplacement.isTemporary))
  }

  func close() {
    anchor.close()
    target.close()
  }

  /// - Throws: `.replaced` if the folder was moved, replaced or deleted, or lacks the files by which it is a follower's store: what is written
  ///   then, no reader would see.
  func checkIsInPlace() throws(EngineError) {
    try folder.checkIsInPlace()
    let names = try folder.entries()
    for name in [StoreFolder.anchorName, PieceFormat.followingName] where !names.contains(name) {
      throw EngineError(
        .replaced, "the follower's store lacks its file \"\(name)\", which was deleted; it is copied again",
        file: folder.path)
    }
  }

  // MARK: Copying

  /// Copies a piece, and shows it to readers.
  ///
  /// - Parameter isLonger: Whether the piece is the newest one that was copied, and has become longer.
  /// - Returns: The bytes that were copied.
  func add(_ piece: OpenPiece) throws(EngineError) -> Int64 {
    let header = piece.header
    guard let end = copy.end, header.end.generation >= end.generation else {
      throw EngineError(
        .wentBack,
        "piece \(header.number) ends with generation \(header.end.generation), and \(copy.end?.generation ?? 0) was copied before; "
          + "follow in a new folder", file: piece.path)
    }
    let before = copy.writtenBytes
    // 1. Add bytes behind those that the anchor names.
    try copy.write(piece)
    // 2. Check them.
    try check(piece, from: end)
    // 3. The anchor names the new end. After a crash before that, the bytes are written again.
    let unneeded = copy.adopt(header)
    checkpoint = header.checkpoint
    let slot = AnchorSlot(after: header, sequence: 0)
    try name(slot)
    // 4. Note how far the copy is. After a crash before that, the piece adds nothing when it is copied again.
    mark = piece.mark
    try Self.doing { () throws(FileSystemError) in
      try folder.directory.replace(PieceFormat.followingName, with: mark.encoded())
    }
    // 5. Readers see the new generation, and do not need the files any more that the store has reclaimed.
    try publish(slot)
    folder.unlink(unneeded)
    return copy.writtenBytes - before
  }

  private func check(_ piece: OpenPiece, from end: LogPoint) throws(EngineError) {
    let verification = CopyVerification(folder, piece.header)
    let continues = piece.header.start.map { $0.sequence <= end.sequence } == true && !branches(piece, end)
    guard continues else { return try verification.checkAll(beside: copy.segments) }
    try verification.checkLog(from: end)
    if piece.header.checkpoint != checkpoint { _ = try verification.checkCheckpoint(beside: copy.segments) }
  }

  /// Whether the log of the piece leaves the copied log before its end.
  private func branches(_ piece: OpenPiece, _ end: LogPoint) -> Bool {
    let extent = piece.header.logs.first { $0.number == end.position.segment }?.extent
    return extent.map { $0 < UInt64(end.position.offset) } ?? true
  }

  /// Writes a slot twice, so that both slots name the same end.
  private func name(_ slot: AnchorSlot) throws(EngineError) {
    for _ in 0..<2 {
      let outcome = anchor.update { current in
        let sequence = current.sequence
        current = slot
        current.sequence = sequence
      }
      switch outcome {
      case .written: continue
      case .failed(let error), .unsynced(let error): throw error
      }
    }
  }

  private func publish(_ slot: AnchorSlot) throws(EngineError) {
    guard let attachment = folder.attachment else { return }
    try Self.doing { () throws(FileSystemError) in
      _ = try attachment.page.write(
        WriterRecord(
          identifier: slot.identifier, writer: attachment.name, isHeld: false, end: slot.knownDurable,
          durable: slot.knownDurable, nextSegment: slot.nextSegment))
    }
  }

  private static func doing<Result>(
    _ body: () throws(FileSystemError) -> Result
  ) throws(EngineError) -> Result {
    do {
      return try body()
    } catch {
      throw EngineError.files(error, "the follower's store could not be written")
    }
  }
}

extension EarlierBackup {
  /// Its segments as a table of a piece lists them.
  var segmentsByEnd: [CheckpointRecord.Segment] {
    logs.values.map {
      CheckpointRecord.Segment(
        number: $0.header.number, isLog: true, extent: UInt64(truncatingIfNeeded: $0.end.offset),
        chain: $0.end.chain)
    } + pages.values
  }
}
