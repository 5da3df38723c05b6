import Foundation
import Heartwood
import HeartwoodFiles

/// A page of a table: rows, the plan by which they were found, and how long that took.
struct RowsPage {
  let store: BrowsedStore

  static let usualLength = 200
  static let greatestLength = 1000

  func json(_ query: PageQuery) throws(CommandFailure) -> JSONValue {
    let rows = try RowsRequest(query)
    let offset = try query.number("offset") ?? 0
    let limit = try query.number("limit", default: Self.usualLength, most: Self.greatestLength)
    let columns = PageColumns(of: rows.entity, in: store.model)
    let (found, members) = try store.reading(at: rows.generation) { reader in
      let request = try rows.fetch(in: reader)
      (request.fetchOffset, request.fetchLimit) = (offset, limit + 1)
      let (found, microseconds) = try Self.rows(request, columns, reader)
      let plan = try Self.plan(request, reader)
      let hasTotal = rows.condition == nil && rows.reference == nil
      let total = hasTotal ? try Self.count(request, reader) : nil
      let shown = found.prefix(limit)
      let members: [(String, JSONValue)] = [
        ("columns", columns.json), ("rows", .array(shown.map(\.json))), ("offset", .integer(Int64(offset))),
        ("hasMore", .bool(found.count > limit)), ("total", total.map { .integer(Int64($0)) } ?? .null),
        ("microseconds", .integer(microseconds)), ("plan", .array(plan)),
      ]
      return (shown, members)
    }
    guard rows.generation != nil, query.text("compare") != nil else { return .object(JSONObject(members)) }
    return .object(JSONObject(members + [("present", try present(found, columns))]))
  }

  private static func rows(
    _ request: FetchRequest<ManagedObject>, _ columns: PageColumns, _ reader: CommandStore
  ) throws -> (rows: [PageColumns.Row], microseconds: Int64) {
    let start = MonotonicTime.nanoseconds
    request.relationshipKeyPathsForPrefetching = columns.references
    let rows = try reader.context.fetch(request).map(columns.row)
    return (rows, Int64((MonotonicTime.nanoseconds - start) / 1000))
  }

  /// How many objects a table has.
  func count(_ query: PageQuery) throws(CommandFailure) -> JSONValue {
    let rows = try RowsRequest(query)
    let count = try store.reading(at: rows.generation) { reader in
      try Self.count(rows.fetch(in: reader), reader)
    }
    return .object(JSONObject([("total", .integer(Int64(count)))]))
  }

  /// The plan, executed, with the numbers of rows and the times of its steps.
  func analysis(_ query: PageQuery) throws(CommandFailure) -> JSONValue {
    let rows = try RowsRequest(query)
    let offset = try query.number("offset") ?? 0
    let limit = try query.number("limit", default: Self.usualLength, most: Self.greatestLength)
    let steps = try store.reading(at: rows.generation) { reader in
      let request = try rows.fetch(in: reader)
      (request.fetchOffset, request.fetchLimit) = (offset, limit + 1)
      return try reader.context.analyze(request).details.map { JSONValue.string($0.description) }
    }
    return .object(JSONObject([("plan", .array(steps))]))
  }

  private static func count(_ request: FetchRequest<ManagedObject>, _ reader: CommandStore) throws -> Int {
    (request.fetchOffset, request.fetchLimit) = (0, 0)
    return try reader.context.count(for: request)
  }

  private static func plan(
    _ request: FetchRequest<ManagedObject>, _ reader: CommandStore
  ) throws -> [JSONValue] {
    // A plan counts rows, which a store of Core Data does slowly.
    guard !reader.isApple else { return [] }
    return try reader.context.plan(for: request).details.map { .string($0.description) }
  }

  /// The differences of the rows in the newest generation: for each row, null if the object is deleted, and otherwise the cells
  /// that differ.
  private func present(
    _ found: ArraySlice<PageColumns.Row>, _ columns: PageColumns
  ) throws(CommandFailure) -> JSONValue {
    let rows = try store.reading { reader in
      try found.map { row -> JSONValue in
        guard let object = try reader.existingObject(row.id) else { return .null }
        let present = zip(columns.columns, zip(row.cells, try columns.row(of: object).cells))
        let differing = present.filter { $0.1.0 != $0.1.1 }.map { ($0.0.name, $0.1.1) }
        return .object(JSONObject(differing))
      }
    }
    return .array(rows)
  }
}
