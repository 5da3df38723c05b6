/// A fetch of rows, compiled for an entity.
///
/// Without groups and windows, the columns are read from each object that the fetch delivers. Otherwise
/// each object yields its inputs, from which a table of computed rows is made: one for each group, or one for each object. Windows are
/// computed over the table, and the columns from its rows.
struct RowProgram {
  /// An aggregate of a group.
  struct GroupValue {
    let function: Aggregate.Function
    /// The place of the value among the inputs; nil to count the rows.
    let input: Int?
    /// The place of the filter's value among the inputs.
    let filter: Int?
    let isDistinct: Bool
    let fraction: Double
    /// The sum of no values.
    let zero: Value
    /// The place in the computed row.
    let place: Int
  }

  /// A window over the table.
  struct Window {
    let function: WindowValue.Function
    let element: ValueReader?
    let partition: [ValueReader]
    let order: [Key]
    let frame: RowFrame?
    let place: Int
  }

  /// A key of an order.
  struct Key {
    let reader: ValueReader
    let isAscending: Bool
    let options: ComparisonOptions
  }

  /// A column of the result.
  struct Output {
    let name: String
    let reader: ValueReader
    let kind: ValueKind
    /// The type of the attribute that the column shows unchanged; nil for others.
    let type: AttributeType?
    let isCount: Bool
    /// The property of the object's own row that the column shows unchanged; nil for others.
    let slot: Int?
  }

  var joins: [Destinations] = []
  var joinedTest: RowTest?
  /// Computes what is read of each object where aggregates are over windows: a table of its own, whose rows have the inputs as columns. Nil
  /// if the inputs are read from the objects.
  var stage: RowStage?
  /// The values that are read of each object; empty if columns are read directly.
  var inputs: [ValueReader] = []
  /// The properties of the object's own row that inputs are; nil for others.
  var inputSlots: [Int?] = []
  /// The properties of the object's own row that are read; nil if the row is needed.
  var usedSlots: Set<Int>?
  /// The root entities whose rows are read by key.
  var reachedRoots: [EntityDescription] = []
  /// Whether destinations of to-many relationships are read.
  var readsOtherRows = false
  /// The memos of the inputs' aggregates.
  var memos: [AggregateMemo] = []
  var isGrouped = false
  /// The places that inputs have in the computed row, where objects are not grouped.
  var inputPlaces: [Int] = []
  /// How many of the inputs are the keys of groups.
  var keyCount = 0
  var groupValues: [GroupValue] = []
  var windows: [Window] = []
  var having: RowTest?
  /// Selects rows after windows are computed.
  var qualifying: RowTest?
  /// The order of the table.
  var order: [Key] = []
  var outputs: [Output] = []
  /// The row from which windows, columns and order are read; nil if columns are read directly.
  var table: ComputedRow?
  let isDistinct: Bool

  /// - Throws: `.invalidPredicate` if a name is unknown, a type does not fit, or a column is neither a value of the groups nor of their rows.
  init(_ query: RowQuery, _ entity: EntityDescription, _ store: StoreIdentity?) throws(HeartwoodError) {
    isDistinct = query.isDistinct
    var compiler = RowCompiler(entity, store)
    try compiler.compile(query, into: &self)
    usedSlots = compiler.usedSlots
    reachedRoots = compiler.reachedRoots
    readsOtherRows = compiler.readsOtherRows || !query.joins.isEmpty
    memos = compiler.memos
  }

  /// A program without anything, for a stage.
  init() { isDistinct = false }

  /// Whether a request's own order, limit and offset can be used: one object is one row.
  static func isDirect(_ query: RowQuery) -> Bool {
    !query.isGrouped && !query.usesWindows && query.joins.isEmpty && !query.isDistinct
  }
}

/// The table that the inputs of another one are computed from: its rows are the objects, with windows over all of them.
final class RowStage {
  var program = RowProgram()
  var compiler: RowCompiler

  /// - Parameter table: The row of the table.
  init(_ compiler: RowCompiler) {
    self.compiler = compiler
    program.table = compiler.table
  }
}
