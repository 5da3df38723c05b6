import HeartwoodFiles

/// Reads the blocks of a file: of the copies of a block, the newest that is authentic.
struct BlockReader: Sendable {
  /// The state of a block as it was found.
  enum Found {
    /// It was never written.
    case hole
    /// No copy is authentic.
    case invalid
    /// Its header. The bytes are in the target.
    case block(BlockHeader)
  }

  private typealias Claim = (slot: Int, header: BlockHeader)

  let base: any File
  let layout: FileLayout
  let cipher: FileCipher

  /// A block may be written while it is read: it is read again while its bytes change.
  private static let mostAttempts = 8

  /// Reads consecutive blocks.
  ///
  /// - Parameter body: Called for each block, with its 4096 bytes.
  func read(
    _ blocks: Range<Int64>, _ body: (Int64, Found, UnsafeRawBufferPointer) throws(FileSystemError) -> Void
  ) throws(FileSystemError) {
    // Slots first: a copy that was in one is in the block's own place before the slot is used again.
    let claims = try slotClaims()
    let sealed = try base.bytes(
      blocks.count * Int(FileLayout.stride), at: layout.offset(ofBlock: blocks.lowerBound))
    var plain = [UInt8](repeating: 0, count: FileLayout.blockBytes)
    for (index, block) in blocks.enumerated() {
      let start = min(index * Int(FileLayout.stride), sealed.count)
      let place = start..<min(start + Int(FileLayout.stride), sealed.count)
      var found = onlyCopy(block, sealed, place, claims, into: &plain)
      if found == nil { found = try newest(block, Array(sealed[place]), claims, into: &plain) }
      guard let found else { continue }
      try plain.withBytes { (bytes) throws(FileSystemError) in try body(block, found, bytes) }
    }
  }

  /// A block that no slot claims to contain, as nearly all are; nil if it is not authentic, or has other copies.
  private func onlyCopy(
    _ block: Int64, _ sealed: [UInt8], _ place: Range<Int>, _ claims: [Claim], into plain: inout [UInt8]
  ) -> Found? {
    guard !claims.contains(where: { $0.header.block == block }) else { return nil }
    return sealed.withUnsafeBytes { sealed in
      let home = sealed.slice(place)
      guard !BlockHeader.isHole(home) else {
        plain.withUnsafeMutableBytes { $0.zero() }
        return .hole
      }
      return plain.withUnsafeMutableBytes { cipher.open(home, block: block, into: $0) }.map(Found.block)
    }
  }

  /// The newest authentic copy of a block.
  private func newest(
    _ block: Int64, _ home: [UInt8], _ claims: [Claim], into plain: inout [UInt8]
  ) throws(FileSystemError) -> Found {
    var (home, claims) = (home, claims)
    for _ in 0..<Self.mostAttempts {
      let (found, hasInvalid) = try attempt(block, home, claims, into: &plain)
      guard hasInvalid, layout.slots > 0 else { return found }
      let newClaims = try slotClaims()
      let newHome = try base.bytes(Int(FileLayout.stride), at: layout.offset(ofBlock: block))
      if newHome == home, newClaims.map(\.header) == claims.map(\.header) { return found }
      (home, claims) = (newHome, newClaims)
    }
    return try attempt(block, home, claims, into: &plain).found
  }

  private func attempt(
    _ block: Int64, _ home: [UInt8], _ claims: [Claim], into plain: inout [UInt8]
  ) throws(FileSystemError) -> (found: Found, hasInvalid: Bool) {
    var best = open(home, block, into: &plain)
    let isHole = home.withUnsafeBytes { BlockHeader.isHole($0) }
    var hasInvalid = best == nil && !isHole
    for claim in claims where claim.header.block == block && claim.header.version > best?.version ?? 0 {
      let copy = try base.bytes(Int(FileLayout.stride), at: layout.offset(ofSlot: claim.slot))
      var other = [UInt8](repeating: 0, count: FileLayout.blockBytes)
      if let header = open(copy, block, into: &other) {
        if header.version > best?.version ?? 0 { (best, plain) = (header, other) }
      } else {
        hasInvalid = true
      }
    }
    if let best { return (.block(best), hasInvalid) }
    plain.withUnsafeMutableBytes { $0.zero() }
    return (isHole && !hasInvalid ? .hole : .invalid, hasInvalid)
  }

  private func open(_ sealed: [UInt8], _ block: Int64, into plain: inout [UInt8]) -> BlockHeader? {
    sealed.withUnsafeBytes { sealed in
      guard !BlockHeader.isHole(sealed) else { return nil }
      return plain.withUnsafeMutableBytes { cipher.open(sealed, block: block, into: $0) }
    }
  }

  /// The claims in the headers of the slots, authentic or not.
  private func slotClaims() throws(FileSystemError) -> [Claim] {
    var claims: [Claim] = []
    for slot in 0..<layout.slots {
      let bytes = try base.bytes(BlockHeader.byteCount, at: layout.offset(ofSlot: slot))
      let header = bytes.withUnsafeBytes { BlockHeader.isHole($0) ? nil : BlockHeader($0) }
      if let header { claims.append((slot, header)) }
    }
    return claims
  }

  // MARK: For writing

  /// The authentic copy in a slot.
  func copy(inSlot slot: Int) throws(FileSystemError) -> BlockHeader? {
    let bytes = try base.bytes(Int(FileLayout.stride), at: layout.offset(ofSlot: slot))
    return header(bytes, nil)
  }

  /// The authentic copy in a block's own place.
  func copy(inPlaceOf block: Int64) throws(FileSystemError) -> BlockHeader? {
    let bytes = try base.bytes(Int(FileLayout.stride), at: layout.offset(ofBlock: block))
    return header(bytes, block)
  }

  private func header(_ bytes: [UInt8], _ block: Int64?) -> BlockHeader? {
    var plain = [UInt8](repeating: 0, count: FileLayout.blockBytes)
    return bytes.withUnsafeBytes { bytes in
      guard !BlockHeader.isHole(bytes) else { return nil }
      return plain.withUnsafeMutableBytes { cipher.open(bytes, block: block, into: $0) }
    }
  }
}
