import Foundation

/// A row's bytes, validated once and then read without checks.
///
/// - Invariant: The fixed part is complete, and the ends in the variable part ascend and are within the row.
@usableFromInline package struct RowView {
  @usableFromInline package let bytes: UnsafeRawBufferPointer
  @usableFromInline package let base: RowFields

  /// Validates the bytes as a row of this layout.
  ///
  /// - Parameter bytes: must outlive the view.
  /// - Throws: `.persistentStoreDamaged` if the bytes are invalid.
  @inlinable @inline(__always)
  package init(validating bytes: UnsafeRawBufferPointer, layout: RowLayout) throws(HeartwoodError) {
    if let validationError = layout.validationError(bytes) {
      throw .damagedRow(bytes, validationError, layout)
    }
    self.init(unchecked: bytes)
  }

  /// Validates the bytes as a row of one of the family's entities.
  @inlinable @inline(__always)
  package init(validating bytes: UnsafeRawBufferPointer, of family: RowFamily) throws(HeartwoodError) {
    guard bytes.count >= RowLayout.headerSize else { throw .damagedRow("it has \(bytes.count) bytes") }
    let number = RowFields(bytes).entityNumber
    guard let layout = family.layout(number) else { throw .damagedRow(number, notIn: family) }
    if let validationError = layout.with({ $0.validationError(bytes) }) {
      throw .damagedRow(bytes, validationError, layout.object)
    }
    self.init(unchecked: bytes)
  }

  /// Validates the bytes as a row of an entity of the same family as `entity`.
  package init(validating bytes: UnsafeRawBufferPointer, below entity: EntityDescription)
    throws(HeartwoodError)
  {
    try self.init(validating: bytes, of: entity.compiled.family)
  }

  /// Bytes that were validated before.
  @inlinable @inline(__always)
  package init(unchecked bytes: UnsafeRawBufferPointer) { self.init(bytes, RowFields(bytes)) }

  @inlinable init(_ bytes: UnsafeRawBufferPointer, _ base: RowFields) {
    self.bytes = bytes
    self.base = base
  }

  /// A placeholder for no row; must not be read.
  @usableFromInline static var nowhere: RowView {
    RowView(UnsafeRawBufferPointer(start: nil, count: 0), .none)
  }

  @inlinable package var entityNumber: UInt16 { base.entityNumber }
  /// The number of times the row was written; 1 after its insertion.
  @inlinable package var version: UInt32 { base.version }

  /// Whether a row of the same entity differs at most in its version.
  package func hasValues(of other: RowView) -> Bool {
    let version = Int(RowLayout.versionOffset)..<Int(RowLayout.versionOffset) + MemoryLayout<UInt32>.size
    return bytes[..<version.lowerBound].elementsEqual(other.bytes[..<version.lowerBound])
      && bytes[version.upperBound...].elementsEqual(other.bytes[version.upperBound...])
  }

  @inlinable @inline(__always)
  package func isNull(_ column: Column) -> Bool { column.isNull(base) }

  /// The integer, Boolean or key of a fixed-width column, by the column's own width; 0 for null.
  @inlinable @inline(__always)
  package func int(_ column: Column) -> Int64 {
    switch column.kind {
    case .int64, .toOne: column.load(base, as: Int64.self)
    case .int32: Int64(column.load(base, as: Int32.self))
    case .int16: Int64(column.load(base, as: Int16.self))
    case .bool: Int64(column.load(base, as: UInt8.self))
    default: 0
    }
  }

  /// The number of a double, float or date column, for a date in seconds; 0 for null.
  @inlinable @inline(__always)
  package func double(_ column: Column) -> Double {
    column.kind == .float
      ? Double(Float(bitPattern: column.load(base, as: UInt32.self)))
      : Double(bitPattern: column.load(base, as: UInt64.self))
  }

  @inlinable @inline(__always)
  package func bool(_ column: Column) -> Bool { column.load(base, as: UInt8.self) != 0 }

  /// The destination's key in a to-one column; 0 for null.
  @inlinable @inline(__always)
  package func key(_ column: Column) -> UInt64 { column.load(base, as: UInt64.self) }

  /// The bytes of a variable-width column, UTF-8 for strings; empty for null. Valid as long as the row.
  @inlinable @inline(__always)
  package func bytes(_ column: Column) -> UnsafeRawBufferPointer { column.bytes(base) }

  /// The bytes of a fixed-width column.
  @inline(__always)
  func cell(_ column: Column) -> UnsafeRawBufferPointer {
    let start = Int(column.offset)
    return UnsafeRawBufferPointer(rebasing: bytes[start..<start + column.kind.width])
  }

  func uuid(_ column: Column) -> UUID { UUID(uuid: base.load(column.offset, as: uuid_t.self)) }

  /// The text of a string or URL column; nil if its bytes are not UTF-8.
  package func string(_ column: Column) -> String? {
    String(rowBytes: column.bytes(base))
  }

  /// Where the value of a data column is stored; nil if it is in the row.
  package func external(_ column: Column) -> ExternalReference? {
    guard column.kind == .data, !isNull(column), column.isExternal(base) else { return nil }
    return ExternalReference(bytes(column))
  }

  /// The value of an attribute; of one that is stored outside the row, the bytes of its reference. Null also if the bytes are not a value of its type. For relationships, see
  /// `value(_:layout:store:)`.
  package func value(_ column: Column) -> Value {
    if isNull(column) { return .null }
    switch column.kind {
    case .int16, .int32, .int64: return .int(int(column))
    case .double, .float: return .double(double(column))
    case .bool: return .bool(bool(column))
    case .date: return .date(double(column))
    case .uuid: return .uuid(uuid(column))
    case .string: return string(column).map(Value.string) ?? .null
    case .uri: return string(column).map(Value.url) ?? .null
    case .data: return .data(Data(bytes(column)))
    case .decimal: return DecimalParts(rowBytes: bytes(column)).map { .decimal($0.decimal) } ?? .null
    case .composite: return .bool(true)
    case .toOne, .toMany, .transient: return .null
    }
  }

  /// The value of any column: for a to-one relationship the destination's identifier, for a to-many one null.
  package func value(_ column: Column, layout: RowLayout, store: StoreIdentity) -> Value {
    guard column.kind == .toOne else { return value(column) }
    if isNull(column) { return .null }
    return .object(layout.identifier(at: Int(column.slot), key: key(column), store: store))
  }
}

extension HeartwoodError {
  @inline(never)
  @usableFromInline static func damagedRow(_ number: UInt16, notIn family: RowFamily) -> HeartwoodError {
    let names = family.entities.map(\.displayName).joined(separator: ", ")
    return .damagedRow("it claims entity number \(number), which is none of \(names)")
  }

  @inline(never)
  @usableFromInline static func damagedRow(
    _ bytes: UnsafeRawBufferPointer, _ validationError: RowValidationError, _ layout: RowLayout
  ) -> HeartwoodError {
    switch validationError {
    case .short: .damagedRow("it has \(bytes.count) of at least \(layout.fixedSize) bytes")
    case .entity: .damagedRow("it is not of entity number \(layout.entityNumber)")
    case .fixedSize: .damagedRow("its fixed part does not have \(layout.fixedSize) bytes")
    case .order: .damagedRow("the bytes of a value end before they begin")
    case .external: .damagedRow("a value that is marked as stored outside the row is no reference to one")
    case .end: .damagedRow("its values do not end where the row does, at byte \(bytes.count)")
    }
  }
}
