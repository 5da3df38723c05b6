/// The columns of a class's properties: for each byte offset of an instance, the column of the property whose wrapper
/// is there.
///
/// A lookup costs one addition and one load, because the compiler knows the offset. Properties without wrappers are found by
/// the hashes of their names, which generated code has as constants: `columns(named:)`.
///
/// - Invariant: The table is never freed: it lives as long as the process, like the frozen model that it belongs to.
@frozen
public struct _AccessTable: @unchecked Sendable {
  @usableFromInline let columns: UnsafePointer<_Column>

  /// - Parameters:
  ///   - instanceSize: The size of an instance of the class, in bytes.
  ///   - slotsByOffset: The slots of the properties, by the offset of their wrappers.
  ///   - named: The columns of properties that are found by name; two with the same hash are not found.
  init(instanceSize: Int, slotsByOffset: [Int: Int], layout: RowLayout, named: [_NamedColumn] = []) {
    let table = Self.allocate(instanceSize, named)
    for (offset, slot) in slotsByOffset where (0..<instanceSize).contains(offset) {
      table[offset] = layout.columns[slot]
    }
    columns = UnsafePointer(table)
  }

  private init() { columns = UnsafePointer(Self.allocate(1, [])) }

  /// The table of prototypes, which have no columns.
  static let empty = _AccessTable()

  /// - Parameter offset: That of a wrapper in an instance of the class, in bytes.
  @inlinable @inline(__always)
  subscript(offset: Int) -> _Column { columns[offset] }
}

/// A property that is found by its name.
@frozen
public struct _NamedColumn: Sendable {
  /// The hash of the name; 0 for a place without a property.
  @usableFromInline let hash: UInt64
  /// The number of the attribute's type; `none` for other properties, and those whose values are not in the row.
  @usableFromInline let type: UInt64
  @usableFromInline let column: _Column

  init(hash: UInt64, type: Int?, column: _Column) {
    self.hash = hash
    self.type = type.map(UInt64.init(_:)) ?? Self.none
    self.column = column
  }

  private static var none: UInt64 { .max }
}

/// Columns by name. They are before the columns by offset in memory, so that one pointer leads to both: the number of places
/// less one, and before it the places, the first one last.
extension _AccessTable {
  private static func allocate(_ count: Int, _ named: [_NamedColumn]) -> UnsafeMutablePointer<_Column> {
    var places = 1
    while places < 4 * named.count { places *= 2 }
    let stride = MemoryLayout<_NamedColumn>.stride
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: (places + 1) * stride + count * MemoryLayout<_Column>.stride, alignment: 16)
    let names = memory.bindMemory(to: _NamedColumn.self, capacity: places + 1)
    names.initialize(repeating: _NamedColumn(hash: 0, type: nil, column: .none), count: places)
    (names + places).initialize(to: _NamedColumn(hash: UInt64(places - 1), type: nil, column: .none))
    let hashes = Dictionary(grouping: named, by: \.hash)
    for column in named where hashes[column.hash]?.count == 1 {
      var place = Int(truncatingIfNeeded: column.hash) & (places - 1)
      while names[places - 1 - place].hash != 0 { place = (place + 1) & (places - 1) }
      names[places - 1 - place] = column
    }
    let table = (memory + (places + 1) * stride).bindMemory(to: _Column.self, capacity: count)
    table.initialize(repeating: .none, count: count)
    return table
  }

  @inlinable @inline(__always)
  var names: UnsafePointer<_NamedColumn> {
    UnsafeRawPointer(columns).assumingMemoryBound(to: _NamedColumn.self)
  }

  /// The property whose name has this hash; nil if there is none.
  ///
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  func column(named hash: UInt64) -> _NamedColumn? {
    let mask = names[-1].hash
    let first = names[-2 - Int(truncatingIfNeeded: hash & mask)]
    return first.hash == hash ? first : columnAfter(hash, mask)
  }

  /// Looks on where another name is in the place of the hash.
  @usableFromInline @inline(never)
  func columnAfter(_ hash: UInt64, _ mask: UInt64) -> _NamedColumn? {
    var place = hash & mask
    while true {
      let column = names[-2 - Int(truncatingIfNeeded: place)]
      if column.hash == hash { return column }
      // A quarter of the places is taken at most, except in a table without names, whose only place is empty.
      if column.hash == 0 { return nil }
      place = (place + 1) & mask
    }
  }
}

typealias AccessTable = _AccessTable
