import Foundation
import HeartwoodFiles

extension EncryptedFile {
  private static let longestRun = 64 * Int(FileLayout.stride)
  private static let zeros = [UInt8](repeating: 0, count: 64 << 10)

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    guard bytes.count > 0 else { return 0 }
    lock.lock()
    defer { lock.unlock() }
    try writeLocked(bytes, at: offset)
    return bytes.count
  }

  /// - Precondition: `lock` is held, as in all functions below.
  private func writeLocked(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) {
    let cipher = try cipherForWriting()
    let size = try size()
    if kind == .whole { try openEnd(size, before: offset, cipher) }
    try refresh(cipher)
    let blockBytes = Int64(FileLayout.blockBytes)
    var done = 0
    do throws(FileSystemError) {
      while done < bytes.count {
        let (block, within) = (offset + Int64(done)).quotientAndRemainder(dividingBy: blockBytes)
        let count = min(FileLayout.blockBytes - Int(within), bytes.count - done)
        try put(bytes.slice(done..<done + count), at: Int(within), in: block, size, cipher)
        done += count
      }
      try flushRun()
      try extend(to: offset + Int64(bytes.count))
    } catch {
      // Unknown what was written: the next write reads it.
      writing.run.removeAll()
      writing.recent = nil
      writing.lockCount = nil
      throw error
    }
  }

  /// Changes a part of a block.
  private func put(
    _ piece: UnsafeRawBufferPointer, at within: Int, in block: Int64, _ size: Int64, _ cipher: FileCipher
  ) throws(FileSystemError) {
    // Zeros over zeros need no block: those that are preallocated stay zeros on the disk.
    if kind.isOfStore, piece.isZero {
      if block * Int64(FileLayout.blockBytes) + Int64(within) >= size { return }
      let bytes = try load(block, cipher)
      let old = bytes[within..<within + piece.count]
      if !old.contains(where: { $0 != 0 }) { return }
    }
    if piece.count == FileLayout.blockBytes {
      if writing.recent?.block == block { writing.recent = nil }
      let length = kind == .whole ? piece.count : piece.countWithoutZeros
      return try putHome(
        piece.slice(0..<length), block, writing.copies.nextVersion(block), cipher)
    }
    var bytes = try load(block, cipher)
    bytes.withUnsafeMutableBytes { $0.slice(within..<within + piece.count).copyMemory(from: piece) }
    let rest = max(size - block * Int64(FileLayout.blockBytes), Int64(within + piece.count))
    let length =
      kind == .whole
      ? Int(min(rest, Int64(FileLayout.blockBytes))) : bytes.withUnsafeBytes(\.countWithoutZeros)
    try putPart(block, bytes, length, cipher)
  }

  /// Writes a changed block where its former copies stay.
  private func putPart(
    _ block: Int64, _ bytes: [UInt8], _ length: Int, _ cipher: FileCipher
  ) throws(FileSystemError) {
    let version = writing.copies.nextVersion(block)
    let place = kind == .appended ? try freePlace(for: block, cipher) : .home
    try bytes.withBytes { (buffer) throws(FileSystemError) in
      let piece = buffer.slice(0..<length)
      switch place {
      case .home: try putHome(piece, block, version, cipher)
      case .slot(let slot):
        let sealed = try seal(piece, block, version, cipher)
        try base.writeBytes(sealed, at: layout.offset(ofSlot: slot))
        writing.copies.noteWritten(block, version, place)
      }
    }
    writing.recent = (block, bytes)
    writing.copies.prune(keeping: block)
  }

  /// Adds a block to the run of those that are written to their own places.
  private func putHome(
    _ piece: UnsafeRawBufferPointer, _ block: Int64, _ version: UInt64, _ cipher: FileCipher
  ) throws(FileSystemError) {
    if !writing.run.isEmpty, writing.runEnd != block || writing.run.count >= Self.longestRun {
      try flushRun()
    }
    if writing.run.isEmpty { writing.runStart = block }
    writing.run += try seal(piece, block, version, cipher)
    let missing = Int(FileLayout.stride) - BlockHeader.byteCount - piece.count
    // The last block is not filled up, as the file may end in it.
    if missing > 0 { try flushRun() }
    if kind == .appended { writing.copies.noteWritten(block, version, .home) }
  }

  private func seal(
    _ piece: UnsafeRawBufferPointer, _ block: Int64, _ version: UInt64, isEnd: Bool = false,
    _ cipher: FileCipher
  ) throws(FileSystemError) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: BlockHeader.byteCount + piece.count)
    do {
      try sealed.withUnsafeMutableBytes {
        try cipher.seal(piece, block: block, version: version, isEnd: isEnd, context.entropy, into: $0)
      }
    } catch {
      throw FileSystemError(FileSystemError.Code(rawValue: "not sealed: \(error)"), .write, path: name)
    }
    return sealed
  }

  private func flushRun() throws(FileSystemError) {
    guard !writing.run.isEmpty else { return }
    try base.writeBytes(writing.run, at: layout.offset(ofBlock: writing.runStart))
    writing.run.removeAll(keepingCapacity: true)
  }

  /// Fills the file up with zeros to the length for `plain` plain bytes.
  private func extend(to plain: Int64) throws(FileSystemError) {
    let end = layout.size(forPlain: plain)
    var offset = try base.size()
    while offset < end {
      let count = Int(min(Int64(Self.zeros.count), end - offset))
      try Self.zeros.withBytes { (zeros) throws(FileSystemError) in
        try base.writeFully(zeros.slice(0..<count), at: offset)
      }
      offset += Int64(count)
    }
  }

  // MARK: Copies

  /// Reads what the slots contain, if another process may have changed it.
  private func refresh(_ cipher: FileCipher) throws(FileSystemError) {
    guard kind == .appended else { return }
    let count = context.lockCount.load(ordering: .acquiring)
    guard writing.lockCount != count else { return }
    let reader = BlockReader(base: base, layout: layout, cipher: cipher)
    writing.recent = nil
    writing.copies = BlockCopies(slots: layout.slots)
    for slot in 0..<layout.slots {
      let header = try reader.copy(inSlot: slot)
      writing.copies.noteFound(header, inSlot: slot)
      if let header {
        writing.copies.noteFound(try reader.copy(inPlaceOf: header.block), inPlaceOf: header.block)
      }
    }
    writing.lockCount = count
  }

  /// The bytes of a block; zeros if it has none.
  ///
  /// - Throws: `.notAuthentic` for a block of a file that is written once.
  private func load(_ block: Int64, _ cipher: FileCipher) throws(FileSystemError) -> [UInt8] {
    if let recent = writing.recent, recent.block == block { return recent.bytes }
    try flushRun()
    let reader = BlockReader(base: base, layout: layout, cipher: cipher)
    var result: [UInt8] = []
    try reader.read(block..<block + 1) { (_, found, bytes) throws(FileSystemError) in
      if kind == .whole, case .invalid = found { throw FileSystemError(.notAuthentic, .read, path: name) }
      result = Array(bytes)
    }
    if kind == .appended, writing.copies.homes[block] == nil {
      writing.copies.noteFound(try reader.copy(inPlaceOf: block), inPlaceOf: block)
    }
    return result
  }

  /// A place for the next version of a block, after making one free if none is.
  private func freePlace(
    for block: Int64, _ cipher: FileCipher
  ) throws(FileSystemError) -> BlockCopies.Place {
    if let slot = writing.copies.slotToSettle(except: block, isUrgent: false) { try settle(slot) }
    if let place = writing.copies.place(for: block) { return place }
    try syncLocked()
    while let slot = writing.copies.slotToSettle(except: block, isUrgent: true) { try settle(slot) }
    try syncLocked()
    guard let place = writing.copies.place(for: block) else {
      throw FileSystemError(.inputOutput, .write, path: name)
    }
    return place
  }

  /// Copies a block from a slot to its own place, as it is.
  private func settle(_ slot: Int) throws(FileSystemError) {
    guard let (block, copy) = writing.copies.slots[slot] else { return }
    let sealed = try base.bytes(Int(FileLayout.stride), at: layout.offset(ofSlot: slot))
    let length = sealed.withUnsafeBytes { BlockHeader($0)?.length ?? 0 }
    try base.writeBytes(
      Array(sealed.prefix(BlockHeader.byteCount + length)), at: layout.offset(ofBlock: block))
    writing.copies.noteWritten(block, copy.version, .home)
  }

  private func syncLocked() throws(FileSystemError) {
    let stamp = writing.copies.beginningSync
    try base.sync(.data)
    writing.copies.noteSync(stamp)
  }

  // MARK: Syncing and length

  func sync(_ kind: SyncKind) throws(FileSystemError) {
    try endFile()
    let stamp = lock.withLock { writing.copies.beginningSync }
    // Without the lock: writes go on meanwhile.
    try base.sync(kind)
    lock.withLock { writing.copies.noteSync(stamp) }
  }

  func truncate(to size: Int64) throws(FileSystemError) {
    lock.lock()
    defer { lock.unlock() }
    let cipher = try cipherForWriting()
    let former = try self.size()
    if size >= former { return try lengthen(from: former, to: size, cipher) }
    try refresh(cipher)
    let (block, rest) = size.quotientAndRemainder(dividingBy: Int64(FileLayout.blockBytes))
    if rest > 0 {
      var bytes = try load(block, cipher)
      for index in Int(rest)..<bytes.count { bytes[index] = 0 }
      let length = kind == .whole ? Int(rest) : bytes.withUnsafeBytes(\.countWithoutZeros)
      try putPart(block, bytes, length, cipher)
      try flushRun()
      // The removed bytes may be a copy that is still needed.
      try syncLocked()
    }
    for (slot, contents) in writing.copies.slots.enumerated() {
      guard let contents, contents.block * Int64(FileLayout.blockBytes) >= size else { continue }
      try base.writeBytes(
        [UInt8](repeating: 0, count: BlockHeader.byteCount), at: layout.offset(ofSlot: slot))
      writing.copies.noteErased(slot: slot)
    }
    try base.truncate(to: layout.size(forPlain: size))
    (writing.lockCount, writing.recent) = (nil, nil)
    writing.hasOpenEnd = kind == .whole && size > 0
  }

  private func lengthen(from former: Int64, to size: Int64, _ cipher: FileCipher) throws(FileSystemError) {
    if kind.isOfStore { return try base.truncate(to: max(base.size(), layout.size(forPlain: size))) }
    var offset = former
    while offset < size {
      let count = Int(min(Int64(Self.zeros.count), size - offset))
      try Self.zeros.withBytes { (zeros) throws(FileSystemError) in
        try writeLocked(zeros.slice(0..<count), at: offset)
      }
      offset += Int64(count)
    }
  }

  // MARK: The end of files that are written once

  /// Prepares a write behind the last block: fills up a gap, and seals that block again, as it is not the last any more.
  private func openEnd(_ size: Int64, before offset: Int64, _ cipher: FileCipher) throws(FileSystemError) {
    let wasOpen = writing.hasOpenEnd
    writing.hasOpenEnd = true
    if offset > size { return try lengthen(from: size, to: offset, cipher) }
    guard size > 0, !wasOpen else { return }
    try sealLast(size, isEnd: false, cipher)
  }

  /// Marks the last block as the last.
  func endFile() throws(FileSystemError) {
    guard kind == .whole else { return }
    lock.lock()
    defer { lock.unlock() }
    guard writing.hasOpenEnd else { return }
    let size = try size()
    if size > 0 { try sealLast(size, isEnd: true, cipherForWriting()) }
    writing.hasOpenEnd = false
  }

  private func sealLast(_ size: Int64, isEnd: Bool, _ cipher: FileCipher) throws(FileSystemError) {
    let block = (size - 1) / Int64(FileLayout.blockBytes)
    let bytes = try load(block, cipher)
    let length = Int(size - block * Int64(FileLayout.blockBytes))
    let sealed = try bytes.withBytes { (buffer) throws(FileSystemError) in
      try seal(buffer.slice(0..<length), block, 1, isEnd: isEnd, cipher)
    }
    try base.writeBytes(sealed, at: layout.offset(ofBlock: block))
    writing.recent = nil
  }
}
