/// Where the blocks of a file are: behind its header are its slots, and behind these its blocks, each after a header of its own.
///
/// The length of the plain file is known from the length of this one: all blocks are full but the last.
struct FileLayout: Sendable {
  static let blockBytes = 4096
  static let blockHeaderBytes = 64
  static let stride = Int64(blockBytes + blockHeaderBytes)
  static let fileHeaderBytes = 256

  let slots: Int

  private var firstBlock: Int64 { Int64(Self.fileHeaderBytes) + Int64(slots) * Self.stride }

  func offset(ofSlot index: Int) -> Int64 { Int64(Self.fileHeaderBytes) + Int64(index) * Self.stride }

  func offset(ofBlock block: Int64) -> Int64 { firstBlock + block * Self.stride }

  /// The length of a file with `plain` plain bytes.
  func size(forPlain plain: Int64) -> Int64 {
    guard plain > 0 else { return Int64(Self.fileHeaderBytes) }
    let (blocks, rest) = plain.quotientAndRemainder(dividingBy: Int64(Self.blockBytes))
    return offset(ofBlock: blocks) + (rest > 0 ? Int64(Self.blockHeaderBytes) + rest : 0)
  }

  /// The plain bytes of a file with `size` bytes.
  func plainSize(of size: Int64) -> Int64 {
    guard size > firstBlock else { return 0 }
    let (blocks, rest) = (size - firstBlock).quotientAndRemainder(dividingBy: Self.stride)
    return blocks * Int64(Self.blockBytes) + max(0, rest - Int64(Self.blockHeaderBytes))
  }
}
