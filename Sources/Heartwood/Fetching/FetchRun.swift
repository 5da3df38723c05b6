/// Rows that are equal in the first keys of a request's order, one run of an index after another.
struct FetchRun {
  private let order: DeliveryOrder
  private let prefix: DeliveryOrder
  private let limit: Int?
  private var first: FoundRow?
  private let copies: RowCopies?
  /// Only if the run has a second row: most have one.
  private var rows: FirstRows?

  /// - Parameters:
  ///   - keys: How many keys of the order the rows of a run share.
  ///   - limit: How many of a run's first rows to keep; nil for all.
  ///   - copies: The copies that keep the rows; nil if they stay valid without.
  init(
    _ request: ResolvedRequest, _ source: any RowSource, keys: Int, keeping limit: Int?, copies: RowCopies?
  ) {
    self.copies = copies
    order = DeliveryOrder(request, in: source)
    prefix = order.first(keys)
    self.limit = limit
  }

  /// Adds a row.
  ///
  /// - Returns: false if the row belongs to the next run: `deliver` this one first.
  mutating func take(_ found: FoundRow) throws -> Bool {
    guard let first else {
      self.first = copies?.copy(found) ?? found
      return true
    }
    guard try prefix.areEqual(first, found) else { return false }
    if rows == nil {
      rows = FirstRows(limit, order, copies: copies)
      try rows?.insert(first)
    }
    try rows?.insert(found)
    return true
  }

  /// Calls `body` with the rows in order until it returns false, and begins the next run.
  ///
  /// - Returns: Whether it never returned false.
  mutating func deliver(_ body: (FoundRow) throws -> Bool) throws -> Bool {
    defer {
      (first, rows) = (nil, nil)
      copies?.releaseAll()
    }
    guard let rows else { return try first.map(body) ?? true }
    for row in try rows.sorted() where try !body(row) { return false }
    return true
  }
}
