import HeartwoodFiles

/// The file with the generations that are held by name. Changed only by the process that holds the lease.
extension StoreFolder {
  static let holdsName = "holds"
  /// The file that is to replace it; left of a change that was cut short.
  static let newHoldsName = "holds.new"

  /// The holds of the store; none if there is no file.
  ///
  /// - Throws: `.damaged` if the file is not one that a store writes.
  func holds(of identifier: StoreIdentifier) throws(EngineError) -> HoldList {
    try content(
      of: Self.holdsName, "the file of held generations", remedy: "delete it to give all holds up"
    ) { HoldList.decode($0, of: identifier) } ?? HoldList()
  }

  /// Replaces the holds of the store: after a crash the folder has the former ones or these.
  func write(_ list: HoldList, of identifier: StoreIdentifier) throws(EngineError) {
    do throws(FileSystemError) {
      try? directory.unlink(Self.newHoldsName)
      try list.encoded(identifier).withBytes { (bytes) throws(FileSystemError) in
        try AtomicReplacement.replace(
          Self.holdsName, in: directory, with: bytes, like: Self.anchorName, through: Self.newHoldsName)
      }
    } catch {
      throw EngineError.files(error, "the held generations could not be written")
    }
  }
}
