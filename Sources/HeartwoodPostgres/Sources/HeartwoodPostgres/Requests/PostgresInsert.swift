import Heartwood

/// The statement that inserts objects of one entity, with arrays of their numbers and values.
struct PostgresInsert {
  private let columns: [PostgresColumn]
  let sql: String

  init(_ columns: [PostgresColumn], _ entity: EntityDescription, _ table: PostgresTable) {
    self.columns = columns
    var names = ["_id", "_version"] + columns.map(\.name.quoted)
    var values = ["v.id", "1"] + columns.indices.map { columns[$0].assigned("v.c\($0)") }
    if table.isFamily {
      names.append("_entity")
      values.append((entity.name ?? "").literal)
    }
    let lists = columns.enumerated().map { "$\($0.offset + 2)::\($0.element.parameterType.array.name)" }
    let fields = columns.indices.map { "c\($0)" }
    sql =
      "INSERT INTO \(table.sqlName) (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) "
      + "FROM unnest(\((["$1::int8[]"] + lists).joined(separator: ", "))) v(\((["id"] + fields).joined(separator: ", ")))"
  }

  /// - Parameters:
  ///   - rows: The values of each object, in the order of the columns.
  ///   - reference: The number of an object that a value is.
  func parameters(
    _ numbers: [Int64], _ rows: [[StoredValue]], _ reference: (ManagedObjectID) -> Int64
  ) throws -> [PostgresParameter] {
    var parameters = [PostgresParameter.integers(numbers)]
    for (place, column) in columns.enumerated() {
      parameters.append(try column.list(rows.lazy.map { $0[place] }, rows.count, reference))
    }
    return parameters
  }
}

extension PostgresColumn {
  /// Values of the column as an array.
  func list(
    _ values: some Sequence<StoredValue>, _ count: Int, _ reference: (ManagedObjectID) -> Int64
  ) throws -> PostgresParameter {
    var array = PostgresArray(parameterType, count: count)
    for value in values { try append(value, to: &array, reference) }
    return array.parameter
  }
}
