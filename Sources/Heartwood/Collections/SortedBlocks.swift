/// Elements in an ascending order, in blocks of bounded length, so that an insertion or a removal moves few of them.
///
/// The order is that of the caller, who says where an element belongs.
///
/// - Complexity: A search compares O(log n) elements; an insertion or a removal moves a block at most, and the list of blocks if it splits or
///   empties one.
struct SortedBlocks<Element> {
  /// A place in the order: that of an element, or the end.
  struct Position: Equatable {
    fileprivate var block: Int
    fileprivate var offset: Int
  }

  private static var longest: Int { 256 }

  private var blocks: [[Element]] = []
  private(set) var count = 0

  var start: Position { Position(block: 0, offset: 0) }
  var end: Position { Position(block: blocks.count, offset: 0) }

  /// The position of the first element that is not before a place, or the end.
  ///
  /// - Parameter isBefore: True of the elements before the place, and of no other.
  func position(after isBefore: (Element) -> Bool) -> Position {
    let block = blocks.partitioningIndex { !isBefore($0[$0.count - 1]) }
    guard block < blocks.count else { return end }
    return Position(block: block, offset: blocks[block].partitioningIndex { !isBefore($0) })
  }

  /// The element at a position; nil at the end.
  subscript(position: Position) -> Element? {
    position.block < blocks.count ? blocks[position.block][position.offset] : nil
  }

  /// Moves a position to the next element, or to the end.
  func advance(_ position: inout Position) {
    position.offset += 1
    if position.offset == blocks[position.block].count {
      position = Position(block: position.block + 1, offset: 0)
    }
  }

  /// Moves a position to the element before it; returns false, and leaves it, at the start.
  func retreat(_ position: inout Position) -> Bool {
    if position.offset > 0 {
      position.offset -= 1
      return true
    }
    guard position.block > 0 else { return false }
    position = Position(block: position.block - 1, offset: blocks[position.block - 1].count - 1)
    return true
  }

  /// How many elements are from one position up to another.
  ///
  /// - Complexity: O(b) for b blocks between them.
  func count(from lower: Position, to upper: Position) -> Int {
    guard lower.block <= upper.block else { return 0 }
    let between = blocks[lower.block..<upper.block].reduce(0) { $0 + $1.count }
    return max(0, between - lower.offset + upper.offset)
  }

  /// Inserts an element before a position.
  mutating func insert(_ element: Element, at position: Position) {
    count += 1
    guard !blocks.isEmpty else { return blocks.append([element]) }
    // The end of the last block is that of all.
    let (block, offset) =
      position.block < blocks.count
      ? (position.block, position.offset) : (blocks.count - 1, blocks[blocks.count - 1].count)
    blocks[block].insert(element, at: offset)
    if blocks[block].count > Self.longest { split(block) }
  }

  mutating func remove(at position: Position) {
    count -= 1
    blocks[position.block].remove(at: position.offset)
    if blocks[position.block].isEmpty { blocks.remove(at: position.block) }
  }

  private mutating func split(_ block: Int) {
    let half = blocks[block].count / 2
    let rest = Array(blocks[block][half...])
    blocks[block].removeLast(rest.count)
    blocks.insert(rest, at: block + 1)
  }
}
