import HeartwoodBytes
import HeartwoodFiles

/// The rows of former layouts that a view or a transaction has read, in the form of the model.
///
/// Their bytes live until `trim()`, at most as long as this object. A row of the store is converted once while its bytes stay where
/// they are. Only rows that are read by key are kept here: scans convert theirs one after the other.
@usableFromInline package final class ConvertedRows: @unchecked Sendable {
  private struct State: @unchecked Sendable {
    /// By the address of the row that was converted, if it stays there.
    var known: [UInt: StoredRow] = [:]
    /// The others.
    var rows: [StoredRow] = []
    var slab: RowSlab?
    /// Bytes of all rows.
    var size = 0
  }

  /// The bytes that `trim()` leaves.
  private static let mostBytes = 1 << 20
  /// Whether the bytes of a row of the store stay where they are, so that a row is converted once.
  private let keepsPlaces: Bool
  private let state = Guarded(State())

  package init(keepsPlaces: Bool) { self.keepsPlaces = keepsPlaces }

  /// Releases the rows if they have much memory.
  ///
  /// - Precondition: No row is in use.
  package func trim() { state.withLock { if $0.size > Self.mostBytes { $0 = State() } } }

  /// A row with other bytes, which `make` returns; they are kept as those of `row(_:of:)`.
  package func row(_ row: RowView, _ make: () -> [UInt8]) -> RowView {
    state.withLock { state in
      if keepsPlaces, let known = state.known[row.base.address] { return known.view }
      let made = make().withUnsafeBytes { StoredRow(copying: $0, into: &state.slab) }
      state.size += made.bytes.count
      if keepsPlaces { state.known[row.base.address] = made } else { state.rows.append(made) }
      return made.view
    }
  }

  /// The bytes of the rows.
  var size: Int { state.withLock { $0.size } }

  /// Calls `body` with the row that has these bytes of the store, which is valid until `body` returns.
  @inlinable package static func withRow<Result>(
    _ bytes: UnsafeRawBufferPointer, of family: RowFamily, _ body: (RowView) throws -> Result
  ) throws -> Result {
    let (row, conversion) = try stored(bytes, of: family)
    guard let conversion else { return try body(row) }
    return try conversion.convert(row).withUnsafeBytes { try body(RowView(unchecked: $0)) }
  }

  /// The row with these bytes of the store, in place if it has the model's layout.
  ///
  /// - Throws: `.persistentStoreDamaged` if the bytes are not a row of the family.
  package func row(_ bytes: UnsafeRawBufferPointer, of family: RowFamily) throws(HeartwoodError) -> RowView {
    let (row, conversion) = try Self.stored(bytes, of: family)
    guard let conversion else { return row }
    return state.withLock { state in
      if keepsPlaces, let known = state.known[row.base.address] { return known.view }
      let made = conversion.convert(row).withUnsafeBytes { StoredRow(copying: $0, into: &state.slab) }
      state.size += made.bytes.count
      if keepsPlaces { state.known[row.base.address] = made } else { state.rows.append(made) }
      return made.view
    }
  }

  /// The row in its own layout, and the conversion that it needs.
  @usableFromInline static func stored(
    _ bytes: UnsafeRawBufferPointer, of family: RowFamily
  ) throws(HeartwoodError) -> (RowView, RowConversion?) {
    guard bytes.count >= RowLayout.headerSize else { throw .damagedRow("it has \(bytes.count) bytes") }
    let number = RowFields(bytes).entityNumber
    guard let (layout, conversion) = family.stored(number) else { throw .damagedRow(number, notIn: family) }
    return (try RowView(validating: bytes, layout: layout), conversion)
  }
}
