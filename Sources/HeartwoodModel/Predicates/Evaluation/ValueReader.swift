import Foundation

/// A compiled expression, which reads its value for one object.
package class ValueReader {
  package func read(_ place: Place) throws -> Value { .null }

  /// Whether a null that was read is that of an arithmetic without a result, and not of a missing value.
  package func hasNoResult(_ place: Place) throws -> Bool { false }
}

final class ConstantReader: ValueReader {
  let value: Value

  init(_ value: Value) { self.value = value }
  override func read(_ place: Place) -> Value { value }
}

/// Numbers, of which decimals are rounded as `Float` has them.
final class FloatRoundingReader: ValueReader {
  private let reader: ValueReader

  init(_ reader: ValueReader) { self.reader = reader }

  override func read(_ place: Place) throws -> Value {
    let value = try reader.read(place)
    guard case .decimal(let number) = value else { return value }
    return .double(Double(Float(DecimalParts(number).doubleValue)))
  }

  override func hasNoResult(_ place: Place) throws -> Bool { try reader.hasNoResult(place) }
}

package final class ColumnReader: ValueReader {
  private let column: Column

  package init(_ column: Column) { self.column = column }

  package override func read(_ place: Place) throws -> Value {
    // Written when the attribute allowed it.
    if place.row.external(column) != nil { throw HeartwoodError.outsideRow }
    return place.row.value(column)
  }
}

extension HeartwoodError {
  fileprivate static var outsideRow: HeartwoodError {
    HeartwoodError(
      .persistentStoreOperation,
      "a condition reads data that is stored outside its row; compare it with nil only, or set and save it again"
    )
  }
}

/// Reads the destination's key as an integer: objects are compared by their keys.
final class ToOneKeyReader: ValueReader {
  private let column: Column

  init(_ column: Column) { self.column = column }

  override func read(_ place: Place) -> Value {
    place.row.isNull(column) ? .null : .int(Int64(bitPattern: place.row.key(column)))
  }
}

/// Reads the object's own key as an integer.
final class KeyReader: ValueReader {
  override func read(_ place: Place) -> Value { .int(Int64(bitPattern: place.key)) }
}

/// A row that a fetch computes: of a group, or with values of other rows. One fetch uses it, one row after the other.
package final class ComputedRow {
  package struct Column {
    package var name: String
    package var kind: ValueKind

    package init(name: String, kind: ValueKind) {
      self.name = name
      self.kind = kind
    }
  }

  package var columns: [Column] = []
  /// The values of the current row.
  package var values: [Value] = []

  package init() {}
}

/// Reads the number of bytes of a data attribute, without reading data that is outside the row.
final class DataLengthReader: ValueReader {
  private let column: Column

  init(_ column: Column) { self.column = column }

  override func read(_ place: Place) -> Value {
    if place.row.isNull(column) { return .null }
    if let reference = place.row.external(column) { return .int(Int64(clamping: reference.count)) }
    return .int(Int64(place.row.bytes(column).count))
  }
}

/// Reads a value of a computed row.
final class ComputedRowReader: ValueReader {
  private let row: ComputedRow
  private let place: Int

  init(_ row: ComputedRow, _ place: Int) {
    self.row = row
    self.place = place
  }

  override func read(_ place: Place) -> Value { row.values[self.place] }
}

/// Reads the value at the end of a path.
final class PathReader: ValueReader {
  private let outward: Int
  private let hops: [ToOneHop]
  private let end: ValueReader

  init(_ outward: Int, _ hops: [ToOneHop], _ end: ValueReader) {
    self.outward = outward
    self.hops = hops
    self.end = end
  }

  override func read(_ place: Place) throws -> Value {
    guard let owner = try place.outwards(outward).following(hops) else { return .null }
    return try end.read(owner)
  }
}

/// Reads the name of the object's entity.
final class EntityNameReader: ValueReader {
  private let family: RowFamily

  init(_ family: RowFamily) { self.family = family }

  override func read(_ place: Place) -> Value {
    family.entity(place.row.entityNumber).map { .string($0.displayName) } ?? .null
  }
}
