/// Builds a tree from a checkpoint and the log's transactions after it.
struct Replay {
  let generations: Generations
  let tree: TreeWriter
  /// Bytes of log that were applied.
  private(set) var bytes = 0

  /// Applies the transactions between the checkpoint, or the start of the log without one, and `end`.
  ///
  /// - Parameter last: The generation to stop at; nil for all up to `end`.
  /// - Throws: `.damaged` if the generation cannot be reached.
  init(
    space: PageSpace, from checkpoint: NamedCheckpoint?, log: [LogSegment], end: LogPoint, last: UInt64? = nil
  ) throws(EngineError) {
    let first = checkpoint?.record.generation ?? 0
    let root = checkpoint?.root ?? .empty
    generations = Generations(space: space, generation: first, root: root)
    tree = TreeWriter(space: space, generations: generations)
    let target = last ?? end.generation
    guard target > first else { return }
    // All transactions form one generation, because no reader can see those in between.
    tree.begin(generation: target, from: root)
    let applier = LogApplier(tree: tree)
    let start = checkpoint?.record.replay ?? log.first?.header.firstPoint ?? end
    var walk = try LogWalk(log[...], from: start, upTo: end.position)
    while walk.point.generation < target, let frame = try walk.next() {
      bytes += frame.header.totalBytes
      try applier.add(frame, in: walk.segment)
    }
    try applier.finish()
    guard walk.point.generation == target else {
      throw EngineError.damaged(
        "the log is damaged: a transaction is not readable; run verify, and restore the file from a backup",
        file: walk.segment.path, offset: walk.point.position.offset)
    }
    let result = tree.commit()
    generations.commit(target, result)
    generations.publish(target, result)
  }
}
