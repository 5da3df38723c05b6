import HeartwoodFiles

/// The file with the lineage under which the store is shipped.
extension StoreFolder {
  /// The lineage that the folder has, which is another store's in a copy; nil if it has none.
  ///
  /// - Throws: `.damaged` if the file is not one that a store writes.
  func lineage() throws(EngineError) -> ShippingMark? {
    try content(
      of: PieceFormat.lineageName, "the file of the store's lineage",
      remedy: "delete it, and ship the store to another place", upTo: PieceFormat.markBytes + 1
    ) { ShippingMark.decode($0) }
  }
}
