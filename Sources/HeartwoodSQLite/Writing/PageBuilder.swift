/// A page of a b-tree that is being filled with cells in their order: "Database File Format", section 1.6.
struct PageBuilder {
  let isLeaf: Bool
  private(set) var cells: [Range<Int>] = []
  private var bytes: [UInt8]
  private var start: Int

  init(pageSize: Int, isLeaf: Bool) {
    bytes = [UInt8](repeating: 0, count: pageSize)
    start = pageSize
    self.isLeaf = isLeaf
  }

  private var headerSize: Int { isLeaf ? 8 : 12 }

  /// The bytes that are free.
  private var room: Int { start - headerSize - 2 * cells.count }

  /// Whether there is room for a cell of a size.
  func fits(_ size: Int) -> Bool { room >= size + 2 }

  /// Whether there is room for the header of the file.
  var fitsFirstPage: Bool { room >= DatabaseHeader.size }

  mutating func append(_ cell: [UInt8]) {
    let next = start - cell.count
    bytes.replaceSubrange(next..<start, with: cell)
    cells.append(next..<start)
    start = next
  }

  /// Removes the last cell; returns its bytes.
  mutating func removeLast() -> [UInt8] {
    let range = cells.removeLast()
    let cell = Array(bytes[range])
    bytes.replaceSubrange(range, with: repeatElement(0, count: range.count))
    start = range.upperBound
    return cell
  }

  mutating func removeAll() {
    bytes.replaceSubrange(start..<bytes.count, with: repeatElement(0, count: bytes.count - start))
    cells.removeAll(keepingCapacity: true)
    start = bytes.count
  }

  /// The bytes of the page.
  ///
  /// - Parameters:
  ///   - offset: Where the header of the page begins: 100 in page 1.
  ///   - right: The page behind the last cell of an inner page.
  func page(_ kind: TreeKind, at offset: Int = 0, right: UInt32 = 0) -> [UInt8] {
    assert(offset <= room)
    var header: [UInt8] = []
    header.append((kind == .table ? 5 : 2) | (isLeaf ? 8 : 0))
    header.append(contentsOf: [0, 0])
    RecordEncoder.appendBigEndian(UInt64(cells.count), 2, to: &header)
    RecordEncoder.appendBigEndian(UInt64(start & 0xFFFF), 2, to: &header)
    header.append(0)
    if !isLeaf { RecordEncoder.appendBigEndian(UInt64(right), 4, to: &header) }
    for cell in cells { RecordEncoder.appendBigEndian(UInt64(cell.lowerBound), 2, to: &header) }
    var page = bytes
    page.replaceSubrange(offset..<offset + header.count, with: header)
    return page
  }
}
