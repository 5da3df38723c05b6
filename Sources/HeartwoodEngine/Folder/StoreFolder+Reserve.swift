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

  /// Whether a store of this size has a reserve that it may rely on.
  func hasReserve(storeBytes: Int) -> Bool {
    let size = (try? size(ofFile: Self.reserveName) ?? 0) ?? 0
    return size >= Self.reserveBytes(storeBytes: storeBytes) / 2
  }

  /// Lays the reserve if the store is large enough to have one and the disk has plenty of room. A failure leaves none.
  ///
  /// - Parameters:
  ///   - storeBytes: The sum of the sizes of the store's files.
  ///   - leavesRoom: How many times the reserve the disk has to have free.
  /// - Returns: Whether there is a reserve now, or the store is too small for one.
  @discardableResult
  func layReserve(storeBytes: Int, ifRoomFor times: Int64 = 4) -> Bool {
    guard storeBytes >= Self.leastBytesForReserve, !hasReserve(storeBytes: storeBytes) else { return true }
    let wanted = Self.reserveBytes(storeBytes: storeBytes)
    // A file system that cannot say is not taken for a full one.
    guard let available = try? directory.availableBytes() else { return true }
    guard available > times * Int64(wanted) else { return false }
    do {
      try? directory.unlink(Self.reserveName)
      let file = try directory.open(Self.reserveName, .createNew)
      defer { try? file.close() }
      let zeros = [UInt8](repeating: 0, count: 64 << 10)
      for offset in stride(from: 0, to: wanted, by: zeros.count) { try file.write(all: zeros, at: offset) }
      return true
    } catch {
      try? directory.unlink(Self.reserveName)
      return false
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
