import Heartwood
import HeartwoodSQLite

/// The conditions on the rows of a table: to be of an entity, and a condition.
final class ScanCondition {
  private let entity: EntityDescription
  private let condition: RowCondition?
  /// The last reader, and whether its entity is the wanted one: rows of one entity mostly follow one another.
  private var last: (reader: EntityTable.Reader, isAccepted: Bool)?

  init(_ entity: EntityDescription, _ condition: RowCondition?) {
    (self.entity, self.condition) = (entity, condition)
  }

  /// The last column that is needed to answer; -1 if none is.
  func lastColumn(in table: EntityTable) -> Int {
    max(condition?.lastColumn ?? -1, table.entityColumn ?? -1)
  }

  @inline(__always)
  func holds(for row: SQLiteRow, _ reader: EntityTable.Reader) throws -> Bool {
    guard isAccepted(reader) else { return false }
    return try condition?.holds(for: row) ?? true
  }

  @inline(__always)
  private func isAccepted(_ reader: EntityTable.Reader) -> Bool {
    if let last, last.reader === reader { return last.isAccepted }
    let isAccepted = reader.entity.isKindOf(entity: entity)
    last = (reader, isAccepted)
    return isAccepted
  }
}
