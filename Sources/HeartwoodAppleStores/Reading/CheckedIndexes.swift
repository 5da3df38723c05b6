import HeartwoodSQLite
import Synchronization

/// Which indexes of a file are used to find links.
///
/// A damaged index shows links on one side of a relationship that the other side, which is read from a table or by another index, does not have. So indexes
/// are compared with their tables before they are used, each once: at the first use in a small file, and in another one as soon as links are asked for
/// often, or all objects are read.
final class CheckedIndexes: Sendable {
  private let known = Remembered<String, Bool>()
  private let uses = Atomic<Int>(0)

  /// How many uses come before the comparison, which reads a table and an index as a whole.
  private static let mostUnchecked = 100
  /// Files with no more pages are small.
  private static let mostPages = 1000

  /// From now on each index is compared before it is used.
  func checkAll() { uses.store(Self.mostUnchecked, ordering: .relaxed) }

  /// Whether an index is used.
  ///
  /// - Parameter isWhole: Compares it with its table.
  func isUsable(
    _ index: SQLiteIndex, in database: SQLiteDatabase, _ isWhole: () throws -> Bool
  ) rethrows -> Bool {
    let isDue =
      database.pageCount <= Self.mostPages
      || uses.wrappingAdd(1, ordering: .relaxed).newValue > Self.mostUnchecked
    return isDue ? try known.get(index.name, isWhole) : true
  }
}
