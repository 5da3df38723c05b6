import HeartwoodFiles

/// The file with the lineage under which the store is shipped.
extension StoreFolder {
  /// The lineage that the folder has, which is another store's in a copy; nil if it has none.
  ///
  /// - Throws: `.damaged` if the file is not one that a store writes.
  func lineage() throws(EngineError) -> ShippingMark? {
    let bytes: [UInt8]?
    do {
      bytes = try directory.contents(of: PieceFormat.lineageName, upTo: PieceFormat.markBytes + 1)
    } catch {
      throw EngineError.files(error, "the lineage of the store could not be read")
    }
    guard let bytes else { return nil }
    if let mark = bytes.withBytes({ ShippingMark.decode($0) }) { return mark }
    throw EngineError.damaged(
      "the file of the store's lineage is damaged; delete it, and ship the store to another place",
      file: path(of: PieceFormat.lineageName))
  }
}
