import HeartwoodFiles

/// The rows of former layouts that a view or a transaction has read, in the form of the model.
///
/// Their bytes live as long as this object. A view converts each row once; its memory is at most that of its rows of former layouts,
/// and none for a store that was not migrated.
final class ConvertedRows: @unchecked Sendable {
  private struct State: @unchecked Sendable {
    /// By the address of the row that was converted, if it stays there.
    var known: [UInt: StoredRow] = [:]
    /// The others.
    var rows: [StoredRow] = []
    var slab: RowSlab?
  }

  /// Whether the bytes of a row of the store stay where they are, so that a row is converted once.
  private let keepsPlaces: Bool
  private let state = Guarded(State())

  init(keepsPlaces: Bool) { self.keepsPlaces = keepsPlaces }

  /// The row with these bytes of the store, in place if it has the model's layout.
  ///
  /// - Throws: `.persistentStoreDamaged` if the bytes are not a row of the family.
  func row(_ bytes: UnsafeRawBufferPointer, of family: RowFamily) throws(HeartwoodError) -> RowView {
    guard bytes.count >= RowLayout.headerSize else { throw .damagedRow("it has \(bytes.count) bytes") }
    let number = RowFields(bytes).entityNumber
    guard let (layout, conversion) = family.stored(number) else { throw .damagedRow(number, notIn: family) }
    let row = try RowView(validating: bytes, layout: layout)
    guard let conversion else { return row }
    return state.withLock { state in
      if keepsPlaces, let known = state.known[row.base.address] { return known.view }
      let made = conversion.convert(row).withUnsafeBytes { StoredRow(copying: $0, into: &state.slab) }
      if keepsPlaces { state.known[row.base.address] = made } else { state.rows.append(made) }
      return made.view
    }
  }
}
