/// The checkpoints of a store, from the newest to older ones.
struct CheckpointChain {
  private let folder: StoreFolder
  private let checkpoints: CheckpointState
  private let segments: [LogSegment]
  private var last: NamedCheckpoint?

  /// - Parameter segments: The log's segments; a checkpoint in any other segment ends the chain.
  init(_ folder: StoreFolder, _ checkpoints: CheckpointState, _ segments: [LogSegment]) {
    self.folder = folder
    self.checkpoints = checkpoints
    self.segments = segments
  }

  /// The next older checkpoint; nil if there is none, or if one of its segments no longer exists.
  mutating func nextAlive() throws(EngineError) -> NamedCheckpoint? {
    guard let found = try next() else { return nil }
    let logs = Set(segments.map(\.number))
    let pages = Set(checkpoints.pages.parts.map(\.segment.number))
    return found.record.segments.allSatisfy { ($0.isLog ? logs : pages).contains($0.number) } ? found : nil
  }

  /// The next older checkpoint, whose segments need not exist; nil if there is none.
  ///
  /// - Throws: `.damaged` if the checkpoint's frame is damaged or is not older than the one before.
  mutating func next() throws(EngineError) -> NamedCheckpoint? {
    guard let last else {
      last = checkpoints.newest
      return last
    }
    guard let position = last.record.previous, segments.contains(where: { $0.number == position.segment })
    else { return nil }
    let older = try NamedCheckpoint.read(
      at: position, checksum: last.record.previousChecksum, in: segments, folder: folder)
    guard older.precedes(last) else {
      throw EngineError.damaged("checkpoints do not follow one another", file: folder.path)
    }
    self.last = older
    return older
  }
}
