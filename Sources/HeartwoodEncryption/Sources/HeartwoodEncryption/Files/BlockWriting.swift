/// The state that a file keeps between its writes.
struct BlockWriting {
  /// The copies of blocks in slots. Counts only until another lock is acquired.
  var copies: BlockCopies
  /// The number of locks when `copies` was read; nil if it was not.
  var lockCount: UInt64?
  /// The last block that was written in part, with its bytes.
  var recent: (block: Int64, bytes: [UInt8])?
  /// Whether the last block of a file that is written once does not say that it is the last.
  var hasOpenEnd = false
  /// Sealed blocks that follow one another, to be written by one call.
  var run: [UInt8] = []
  /// The first block of `run`.
  var runStart: Int64 = 0

  /// The block after those of `run`.
  var runEnd: Int64 { runStart + Int64(run.count) / FileLayout.stride }

  init(slots: Int) { copies = BlockCopies(slots: slots) }
}
