/// Builds a tree from an image: the checkpoint's tree, and the log's transactions after it.
struct Replay {
  let generations: Generations
  let tree: TreeWriter
  /// Bytes of log that were applied.
  private(set) var bytes = 0

  /// Builds a new tree, of all up to the image's end.
  ///
  /// - Throws: `.damaged` if the generation cannot be reached.
  init(_ image: StoreImage, in space: PageSpace) throws(EngineError) {
    let first = image.checkpoint?.record.generation ?? 0
    let root = image.checkpoint?.root ?? .empty
    generations = Generations(space: space, generation: first, root: root)
    tree = TreeWriter(space: space, generations: generations)
    let target = image.end.generation
    guard target > first else { return }
    // All transactions form one generation, because no reader can see those in between.
    tree.begin(generation: target)
    bytes = try Self.apply(image, to: tree, from: image.start, upTo: target).bytes
    generations.publish(target, tree.commit())
  }

  /// Applies the transactions after the image's checkpoint to a tree that is equal to it.
  ///
  /// - Parameters:
  ///   - start: The end of what the tree has.
  ///   - target: The generation to stop at; nil for the image's exact end.
  /// - Returns: Bytes of log that were read, and where it stopped.
  /// - Throws: `.damaged` if it cannot be reached.
  static func apply(
    _ image: StoreImage, to tree: TreeWriter, from start: LogPoint, upTo target: UInt64?
  ) throws(EngineError) -> (bytes: Int, end: LogPoint) {
    var bytes = 0
    let applier = LogApplier(tree: tree)
    var walk = try LogWalk(image.tail[...], from: start, upTo: image.end.position)
    while walk.point.generation < target ?? .max, let frame = try walk.next() {
      bytes += frame.header.totalBytes
      try applier.add(frame, in: walk.segment)
    }
    try applier.finish()
    guard let target else {
      try walk.requireEnd(image.end)
      return (bytes, walk.point)
    }
    guard walk.point.generation == target else {
      throw EngineError.damaged(
        "the log is damaged: a transaction is not readable; run verify, and restore the file from a backup",
        file: walk.segment.path, offset: walk.point.position.offset)
    }
    return (bytes, walk.point)
  }
}
