import HeartwoodFiles

/// Room that a store keeps on its disk for what gives more back: deleting, reclamation, opening after an unclean end.
///
/// It is a file of zeros that is unlinked when one of these finds no room, and laid again by a later checkpoint, or after another MiB of log. Nothing of the
/// store is in it: it may be missing, or of any length after a crash, and is never synced. Under the lease.
extension StoreFolder {
  static let reserveName = "reserve"

  /// Smaller stores have none.
  static let leastBytesForReserve = 1 << 20

  private static func reserveBytes(storeBytes: Int) -> Int { min(max(256 << 10, storeBytes / 8), 8 << 20) }

  /// Lays the reserve where it is missing, or is much too small by now, and the disk has plenty of room. A failure leaves none.
  ///
  /// - Parameter storeBytes: What the store's files take.
  func layReserve(storeBytes: Int) {
    guard storeBytes >= Self.leastBytesForReserve, let available = try? directory.availableBytes() else {
      return
    }
    let wanted = Self.reserveBytes(storeBytes: storeBytes)
    guard available > 4 * wanted, let size = try? size(ofFile: Self.reserveName) ?? 0, size < wanted / 2
    else {
      return
    }
    do {
      try? directory.unlink(Self.reserveName)
      let file = try directory.open(Self.reserveName, .createNew)
      defer { try? file.close() }
      let zeros = [UInt8](repeating: 0, count: 64 << 10)
      for offset in stride(from: 0, to: wanted, by: zeros.count) { try file.write(all: zeros, at: offset) }
    } catch {
      try? directory.unlink(Self.reserveName)
    }
  }

  /// Gives the reserve to whoever needs it.
  ///
  /// - Returns: false where there is none.
  func spendReserve() -> Bool {
    do {
      try directory.unlink(Self.reserveName)
    } catch {
      return false
    }
    // Some file systems give the room back only then.
    try? directory.sync()
    return true
  }
}
