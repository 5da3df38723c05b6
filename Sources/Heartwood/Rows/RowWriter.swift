import Foundation
import HeartwoodBytes

/// Writes one row, column by column in slot order.
struct RowWriter {
  private(set) var row: [UInt8]
  private let layout: RowLayout

  init(_ layout: RowLayout, version: UInt32, estimatedVariableSize: Int = 48) {
    self.layout = layout
    row = []
    row.reserveCapacity(layout.fixedSize + estimatedVariableSize)
    row.append(contentsOf: repeatElement(0, count: layout.fixedSize))
    store(layout.entityNumber, at: 0)
    store(UInt16(truncatingIfNeeded: layout.fixedSize), at: 2)
    store(version, at: 4)
  }

  /// Writes the next column's value.
  ///
  /// - Precondition: The value is of the column's kind, which the conversions before this ensure.
  mutating func write(_ value: Value, _ column: Column) {
    switch (value, column.kind) {
    case (.null, .toMany): return
    case (.null, _), (.opaque, _), (_, .transient): setNull(column)
    case (_, .composite): return
    case (.int(let value), .int64): store(value, at: column.offset)
    case (.int(let value), .int32): store(Int32(truncatingIfNeeded: value), at: column.offset)
    case (.int(let value), .int16): store(Int16(truncatingIfNeeded: value), at: column.offset)
    case (.double(let value), .double), (.date(let value), .date): store(value.bitPattern, at: column.offset)
    case (.double(let value), .float): store(Float(value).bitPattern, at: column.offset)
    case (.bool(let value), .bool): store(UInt8(value ? 1 : 0), at: column.offset)
    case (.uuid(let value), .uuid): withUnsafeBytes(of: value.uuid) { copy($0, to: Int(column.offset)) }
    case (.object(let value), .toOne): store(value.key, at: column.offset)
    case (.string(var text), .string), (.url(var text), .uri):
      text.withUTF8 { row.append(contentsOf: $0) }
      storeEnd(column)
    case (.data(let data), .data):
      row.append(contentsOf: data)
      storeEnd(column)
    case (.decimal(let decimal), .decimal):
      DecimalParts(decimal).appendRowBytes(to: &row)
      storeEnd(column)
    default:
      preconditionFailure(
        "\(value.kindName) cannot be written to slot \(column.slot), which is \(column.kind)")
    }
  }

  /// Copies the next column from another row of the same layout.
  mutating func copy(_ column: Column, from source: RowView) {
    if source.isNull(column) { return column.kind == .toMany ? () : setNull(column) }
    if column.kind.isVariable {
      row.append(contentsOf: source.bytes(column))
      storeEnd(column, isExternal: column.isExternal(source.base))
    } else {
      let start = Int(column.offset)
      copy(UnsafeRawBufferPointer(rebasing: source.bytes[start..<start + column.kind.width]), to: start)
    }
  }

  /// Copies a value of another layout's column of the same kind to the next column.
  mutating func copy(_ source: Column, of row: RowView, to column: Column) {
    if row.isNull(source) { return column.kind == .toMany ? () : setNull(column) }
    if column.kind.isVariable {
      self.row.append(contentsOf: row.bytes(source))
      storeEnd(column, isExternal: source.isExternal(row.base))
    } else if column.kind.width > 0 {
      let start = Int(source.offset)
      copy(
        UnsafeRawBufferPointer(rebasing: row.bytes[start..<start + column.kind.width]), to: Int(column.offset)
      )
    }
  }

  private mutating func setNull(_ column: Column) {
    row[Int(column.nullOffset)] |= column.nullMask
    if column.kind.isVariable { storeEnd(column) }
  }

  /// Writes the next column's value, which is stored outside the row.
  mutating func write(_ reference: ExternalReference, _ column: Column) {
    reference.append(to: &row)
    storeEnd(column, isExternal: true)
  }

  private mutating func storeEnd(_ column: Column, isExternal: Bool = false) {
    let end = UInt32(truncatingIfNeeded: row.count - layout.fixedSize)
    store(isExternal ? end | Column.externalMark : end, at: column.offset)
  }

  private mutating func store<Number: FixedWidthInteger>(_ number: Number, at offset: UInt16) {
    row.withUnsafeMutableBytes {
      $0.storeBytes(of: number.littleEndian, toByteOffset: Int(offset), as: Number.self)
    }
  }

  private mutating func copy(_ bytes: UnsafeRawBufferPointer, to offset: Int) {
    row.withUnsafeMutableBytes { row in
      UnsafeMutableRawBufferPointer(rebasing: row[offset..<offset + bytes.count]).copyMemory(from: bytes)
    }
  }
}

/// Builds a row from values set in any order. Columns that are not set are null.
struct RowBuilder {
  private enum Cell {
    case value(Value)
    case copied(RowView)
  }

  private let layout: RowLayout
  private var cells: [Cell]

  init(_ layout: RowLayout) {
    self.layout = layout
    cells = Array(repeating: .value(.null), count: layout.columns.count)
  }

  mutating func set(_ slot: Int, _ value: Value) { cells[slot] = .value(value) }

  /// Copies a column from another row of the same layout, which must stay valid until `finish`.
  mutating func copy(from row: RowView, _ slot: Int) { cells[slot] = .copied(row) }

  func finish(version: UInt32) -> [UInt8] {
    var writer = RowWriter(layout, version: version)
    for column in layout.columns {
      switch cells[Int(column.slot)] {
      case .value(let value): writer.write(value, column)
      case .copied(let row): writer.copy(column, from: row)
      }
    }
    return writer.row
  }
}
