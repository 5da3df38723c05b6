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
  package init(instanceSize: Int, slotsByOffset: [Int: Int], layout: RowLayout, named: [_NamedColumn] = []) {
    let table = Self.allocate(instanceSize, named)
    for (offset, slot) in slotsByOffset where (0..<instanceSize).contains(offset) {
      table[offset] = layout.columns[slot]
    }
    columns = UnsafePointer(table)
  }

  private init() { columns = UnsafePointer(Self.allocate(1, [])) }

  /// The table of prototypes, which have no columns.
  package static let empty = _AccessTable()

  /// - Parameter offset: That of a wrapper in an instance of the class, in bytes.
  @inlinable @inline(__always)
  package subscript(offset: Int) -> _Column { columns[offset] }
}

/// A property that is found by its name.
@frozen
public struct _NamedColumn: Sendable {
  /// The hash of the name; 0 for a place without a property.
  @usableFromInline let hash: UInt64
  /// The number of the attribute's type; `toOne`; `none` for other properties, and those whose values are not in the row.
  @usableFromInline package let type: UInt64
  @usableFromInline package let column: _Column

  package init(hash: UInt64, type: UInt64, column: _Column) {
    self.hash = hash
    self.type = type
    self.column = column
  }

  package static var none: UInt64 { .max }
  package static var toOne: UInt64 { 1 }
  /// Whether it is an attribute whose values are in the row.
  package var isValue: Bool { type != Self.none && type != Self.toOne }
}

/// Columns by name. They are before the columns by offset in memory, so that one pointer leads to both, in this order from there: one place
/// for each value of the lowest bits of a hash; the number of places for what they have no room for, less one; and these places.
extension _AccessTable {
  /// The number of places that are found by the lowest bits alone.
  @inlinable static var firstPlaces: Int { 64 }

  private static func allocate(_ count: Int, _ named: [_NamedColumn]) -> UnsafeMutablePointer<_Column> {
    let hashes = Dictionary(grouping: named, by: \.hash)
    var first: [Int: _NamedColumn] = [:]
    var rest: [_NamedColumn] = []
    for column in named where hashes[column.hash]?.count == 1 {
      let place = Int(truncatingIfNeeded: column.hash) & (firstPlaces - 1)
      if first[place] == nil { first[place] = column } else { rest.append(column) }
    }
    var places = 1
    while places < 4 * rest.count { places *= 2 }
    let before = firstPlaces + 1 + places
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: before * MemoryLayout<_NamedColumn>.stride + count * MemoryLayout<_Column>.stride,
      alignment: 16)
    let names = memory.bindMemory(to: _NamedColumn.self, capacity: before)
    let empty = _NamedColumn(hash: 0, type: _NamedColumn.none, column: .none)
    names.initialize(repeating: empty, count: before)
    for (place, column) in first { names[before - 1 - place] = column }
    names[places] = _NamedColumn(hash: UInt64(places - 1), type: _NamedColumn.none, column: .none)
    for column in rest {
      var place = Int(truncatingIfNeeded: column.hash) & (places - 1)
      while names[places - 1 - place].hash != 0 { place = (place + 1) & (places - 1) }
      names[places - 1 - place] = column
    }
    let table = (memory + before * MemoryLayout<_NamedColumn>.stride)
      .bindMemory(to: _Column.self, capacity: count)
    table.initialize(repeating: .none, count: count)
    return table
  }

  /// The names end here.
  @inlinable @inline(__always)
  var names: UnsafePointer<_NamedColumn> {
    UnsafeRawPointer(columns).assumingMemoryBound(to: _NamedColumn.self)
  }

  /// The property whose name has this hash; nil if there is none. The compiler knows the place if it knows the hash.
  ///
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  package func column(named hash: UInt64) -> _NamedColumn? {
    let first = names - 1 - (Int(truncatingIfNeeded: hash) & (_AccessTable.firstPlaces - 1))
    if first.pointee.hash == hash { return first.pointee }
    return first.pointee.hash == 0 ? nil : columnElsewhere(hash)
  }

  /// Looks where properties are that have no room in the first places.
  @usableFromInline @inline(never)
  func columnElsewhere(_ hash: UInt64) -> _NamedColumn? {
    let rest = names - Self.firstPlaces - 1
    let mask = rest.pointee.hash
    var place = hash & mask
    while true {
      let column = (rest - 1 - Int(truncatingIfNeeded: place)).pointee
      if column.hash == hash { return column }
      // A quarter of the places is taken at most.
      if column.hash == 0 { return nil }
      place = (place + 1) & mask
    }
  }
}

package typealias AccessTable = _AccessTable
