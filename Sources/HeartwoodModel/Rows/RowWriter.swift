import Foundation
import HeartwoodBytes

/// Writes one row, column by column in slot order.
package struct RowWriter {
  package private(set) var row: [UInt8]
  private let layout: RowLayout

  package init(_ layout: RowLayout, version: UInt32, estimatedVariableSize: Int = 48) {
    self.layout = layout
    row = []
    row.reserveCapacity(layout.fixedSize + estimatedVariableSize)
    row.append(contentsOf: repeatElement(0, count: layout.fixedSize))
    row.store(layout.entityNumber, at: 0)
    row.store(UInt16(truncatingIfNeeded: layout.fixedSize), at: 2)
    row.store(version, at: RowLayout.versionOffset)
  }

  /// Begins with the fixed part of a row whose null bits are set for the columns that get no value.
  package init(_ layout: RowLayout, beginningWith fixedPart: [UInt8]) {
    self.layout = layout
    row = fixedPart
  }

  /// Goes on behind a column that gets no value.
  package mutating func skip(_ column: Column) { storeEnd(column) }

  /// Writes the next column's value.
  ///
  /// - Precondition: The value is of the column's kind, which the conversions before this ensure.
  package mutating func write(_ value: Value, _ column: Column) {
    switch (value, column.kind) {
    case (.null, .toMany): return
    case (.null, _), (.opaque, _), (_, .transient): setNull(column)
    case (_, .composite): return
    case (.int(let value), .int64): row.store(value, at: column.offset)
    case (.int(let value), .int32): row.store(Int32(truncatingIfNeeded: value), at: column.offset)
    case (.int(let value), .int16): row.store(Int16(truncatingIfNeeded: value), at: column.offset)
    case (.double(let value), .double), (.date(let value), .date):
      row.store(value.bitPattern, at: column.offset)
    case (.double(let value), .float): row.store(Float(value).bitPattern, at: column.offset)
    case (.bool(let value), .bool): row.store(UInt8(value ? 1 : 0), at: column.offset)
    case (.uuid(let value), .uuid): withUnsafeBytes(of: value.uuid) { row.store($0, at: column.offset) }
    case (.object(let value), .toOne): row.store(value.key, at: column.offset)
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
  package mutating func copy(_ column: Column, from row: RowView) { copy(column, of: row, to: column) }

  /// Copies a value of another layout's column of the same kind to the next column.
  mutating func copy(_ source: Column, of row: RowView, to column: Column) {
    if row.isNull(source) { return column.kind == .toMany ? () : setNull(column) }
    if column.kind.isVariable {
      self.row.append(contentsOf: row.bytes(source))
      storeEnd(column, isExternal: source.isExternal(row.base))
    } else if column.kind.width > 0 {
      self.row.store(row.cell(source), at: column.offset)
    }
  }

  private mutating func setNull(_ column: Column) {
    row[Int(column.nullOffset)] |= column.nullMask
    if column.kind.isVariable { storeEnd(column) }
  }

  /// Writes the next column's value, which is stored outside the row.
  package mutating func write(_ reference: ExternalReference, _ column: Column) {
    reference.append(to: &row)
    storeEnd(column, isExternal: true)
  }

  private mutating func storeEnd(_ column: Column, isExternal: Bool = false) {
    let end = UInt32(truncatingIfNeeded: row.count - layout.fixedSize)
    row.store(isExternal ? end | Column.externalMark : end, at: column.offset)
  }
}

extension ColumnKind {
  /// Whether a row can have a value in a column of this kind.
  package func holds(_ value: Value) -> Bool {
    switch (value, self) {
    case (.null, _), (.bool, .composite), (.int, .int64), (.double, .double), (.double, .float),
      (.date, .date),
      (.bool, .bool), (.uuid, .uuid), (.string, .string), (.url, .uri), (.data, .data), (.decimal, .decimal):
      true
    case (.int(let number), .int32): Int32(exactly: number) != nil
    case (.int(let number), .int16): Int16(exactly: number) != nil
    default: false
    }
  }
}

/// Builds a row from values set in any order. Columns that are not set are null.
package struct RowBuilder {
  private enum Cell {
    case value(Value)
    case copied(RowView)
  }

  private let layout: RowLayout
  private var cells: [Cell]

  package init(_ layout: RowLayout) {
    self.layout = layout
    cells = Array(repeating: .value(.null), count: layout.columns.count)
  }

  package mutating func set(_ slot: Int, _ value: Value) { cells[slot] = .value(value) }

  /// Copies a column from another row of the same layout, which must stay valid until `finish`.
  package mutating func copy(from row: RowView, _ slot: Int) { cells[slot] = .copied(row) }

  /// - Parameter external: Where values are that are stored outside the row, by slot.
  package func finish(version: UInt32, external: [Int: ExternalReference] = [:]) -> [UInt8] {
    var writer = RowWriter(layout, version: version)
    for column in layout.columns {
      if let reference = external[Int(column.slot)] {
        writer.write(reference, column)
        continue
      }
      switch cells[Int(column.slot)] {
      case .value(let value): writer.write(value, column)
      case .copied(let row): writer.copy(column, from: row)
      }
    }
    return writer.row
  }
}
