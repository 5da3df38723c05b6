import HeartwoodFiles

/// Disk space that a store reserves for operations that free more space: deletion, compaction, opening after
/// an unclean end.
///
/// The reserve is a file of zeros. It is unlinked when one of these operations finds no room, and created
/// again by a later checkpoint, or after another MiB of log. It contains no data: it may be missing, or of
/// any length after a crash, and is never synced. Changed only by the process that holds the lease.
extension StoreFolder {
  static let reserveName = "reserve"

  /// In bytes; smaller stores have no reserve.
  static let leastBytesForReserve = 1 << 20

  private static func reserveBytes(storeBytes: Int) -> Int { min(max(256 << 10, storeBytes / 8), 8 << 20) }

  /// Whether the reserve of a store of this size has at least half of its intended size.
  func hasReserve(storeBytes: Int) -> Bool {
    let size = (try? size(ofFile: Self.reserveName) ?? 0) ?? 0
    return size >= Self.reserveBytes(storeBytes: storeBytes) / 2
  }

  /// Creates the reserve if the store is large enough and the disk has enough free space. A failure leaves
  /// none.
  ///
  /// - Parameters:
  ///   - storeBytes: The sum of the sizes of the store's files.
  ///   - times: The free space that the disk must have, as a multiple of the reserve.
  /// - Returns: False if the disk is too full. True if there is a reserve, the store is too small for one, or
  ///   the free space is unknown.
  func layReserve(storeBytes: Int, ifRoomFor times: Int64 = 4) -> Bool {
    guard storeBytes >= Self.leastBytesForReserve, !hasReserve(storeBytes: storeBytes) else { return true }
    let wanted = Self.reserveBytes(storeBytes: storeBytes)
    // A file system that cannot report its free space is not treated as full.
    guard let available = try? directory.availableBytes() else { return true }
    guard available > times * Int64(wanted) else { return false }
    do {
      try? directory.unlink(Self.reserveName)
      let file = try directory.create(Self.reserveName, like: Self.anchorName)
      defer { try? file.close() }
      let zeros = [UInt8](repeating: 0, count: 64 << 10)
      for offset in stride(from: 0, to: wanted, by: zeros.count) { try file.write(all: zeros, at: offset) }
      return true
    } catch {
      try? directory.unlink(Self.reserveName)
      return false
    }
  }

  /// Unlinks the reserve to free its space.
  ///
  /// - Returns: False if there was none.
  func spendReserve() -> Bool {
    do {
      try directory.unlink(Self.reserveName)
    } catch {
      return false
    }
    // Some file systems free the space only after a sync.
    try? directory.sync()
    return true
  }
}

extension StoreFolder {
  /// Bytes of all files of the store.
  func fileBytes() throws(EngineError) -> Int64 {
    var total: Int64 = 0
    // Other processes may delete files meanwhile, and unrelated files may be anything.
    for name in try entries() where Self.isFile(name) { total += Int64(try size(ofFile: name) ?? 0) }
    return total
  }
}
