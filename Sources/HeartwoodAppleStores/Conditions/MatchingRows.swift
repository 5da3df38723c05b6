import Heartwood
import HeartwoodSQLite

/// The objects of an entity that satisfy a condition, as rows of the file: no objects are made of them.
package final class MatchingRows {
  private let store: AppleSQLiteStore
  private let table: EntityTable
  private let condition: ScanCondition

  fileprivate init(_ store: AppleSQLiteStore, _ table: EntityTable, _ condition: ScanCondition) {
    (self.store, self.table, self.condition) = (store, table, condition)
  }

  /// How many there are.
  ///
  /// - Throws: `.persistentStoreDamaged`, `.persistentStoreChanged`.
  /// - Complexity: O(rows of the table).
  package func count() throws -> Int {
    var count = 0
    try store.forEachRow(of: table, from: .min, through: condition.lastColumn(in: table)) {
      row, reader, _, _ in
      if try condition.holds(for: row, reader) { count += 1 }
      return true
    }
    return count
  }

  /// Calls `body` with each, in the order of their numbers, until it returns false.
  ///
  /// - Throws: As `count()`; what `body` throws.
  /// - Complexity: O(rows of the table).
  package func forEach(_ body: (any IncrementalStoreRow) throws -> Bool) throws {
    try store.scan(table, where: condition) { try body($0) }
  }
}

extension AppleSQLiteStore {
  /// The objects of an entity that satisfy a predicate, as rows; nil if it needs more than the columns of each row: values of other objects,
  /// functions, other comparisons of texts. Its results are those of a fetch.
  ///
  /// - Parameter predicate: Nil for all objects.
  package func rows(of entity: EntityDescription, where predicate: (any FetchPredicate)?) -> MatchingRows? {
    guard let table = tables.table(of: entity) else { return nil }
    guard let predicate else { return MatchingRows(self, table, ScanCondition(entity, nil)) }
    guard let compiler = RowConditionCompiler(entity, in: table, of: self),
      let lowered = try? condition(predicate, on: entity), let condition = compiler.condition(lowered)
    else { return nil }
    return MatchingRows(self, table, ScanCondition(entity, condition))
  }
}
