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
    let file: any File
    do {
      file = try directory.open(Self.holdsName, .readOnly)
    } catch {
      if error.code == .notFound { return HoldList() }
      throw EngineError.files(error, "the file of held generations could not be opened")
    }
    defer { try? file.close() }
    let path = path(of: Self.holdsName)
    let bytes = try Self.read(file, at: 0, count: size(of: file), path: path)
    guard let list = bytes.withBytes({ HoldList.decode($0, of: identifier) }) else {
      throw EngineError.damaged(
        "the file of held generations is damaged; restore it from a backup, or delete it to give all holds up",
        file: path)
    }
    return list
  }

  /// Replaces the holds of the store: after a crash the folder has the former ones or these.
  func write(_ list: HoldList, of identifier: StoreIdentifier) throws(EngineError) {
    do throws(FileSystemError) {
      try? directory.unlink(Self.newHoldsName)
      let file = try directory.create(Self.newHoldsName, like: Self.anchorName)
      do throws(FileSystemError) {
        try file.write(all: list.encoded(identifier), at: 0)
        try file.sync(.full)
        try file.close()
        // The bytes must be durable before the name leads to them.
        try directory.rename(Self.newHoldsName, to: Self.holdsName)
      } catch {
        try? file.close()
        try? directory.unlink(Self.newHoldsName)
        throw error
      }
      try directory.sync()
    } catch {
      throw EngineError.files(error, "the held generations could not be written")
    }
  }
}
