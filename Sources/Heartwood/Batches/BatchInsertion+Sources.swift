import HeartwoodBytes

/// Where the rows come from.
extension BatchInsertRequest {
  /// Calls `body` with what returns the next row, nil after the last.
  func withRows(_ reader: BatchRowReader, _ body: (() throws -> BatchRow?) throws -> Void) throws {
    var defaults = ChangingDefaults(of: reader.entity)
    func completed(_ dictionary: [String: Any]) throws -> BatchRow {
      var row = try reader.row(dictionary)
      defaults.fill(&row)
      return row
    }
    switch source {
    case .objects(let objects):
      var next = objects.startIndex
      try body {
        guard next < objects.endIndex else { return nil }
        defer { next += 1 }
        return try completed(objects[next])
      }
    case .dictionaries(let handler):
      var dictionary: [String: Any] = [:]
      try body {
        dictionary.removeAll(keepingCapacity: true)
        return handler(&dictionary) ? nil : try completed(dictionary)
      }
    case .made(let rows):
      var next = rows.startIndex
      try body {
        guard next < rows.endIndex else { return nil }
        defer { next += 1 }
        var row = rows[next]
        defaults.fill(&row)
        return row
      }
    case .rows(let next): try body { try next().map(completed) }
    case .kept(let kept): try kept.withRows(reader, body)
    case .object(let handler):
      let object = reader.entity.makeObject()
      try body {
        object.dropEdits()
        guard !handler(object) else { return nil }
        var row = BatchRow(values: Array(repeating: nil, count: reader.entity.slots.count))
        for slot in object.editedSlots where reader.entity.layout.columns[slot].kind != .transient {
          row.values[slot] = try object.pending?.edit(slot).map {
            try reader.entity.checkedForRow($0, at: slot)
          }
          if !object.isSet(slot) { row.madeSlots.append(slot) }
        }
        defaults.fill(&row)
        return row
      }
    }
  }
}

/// The rows that a closure has made, as far as another execution of their request may need them.
final class KeptBatchRows {
  private let request: BatchInsertRequest
  private let most: Int
  private var rows: [BatchRow] = []
  private var isAtEnd = false
  /// Whether all rows that were read are kept.
  private(set) var isWhole = true

  init(_ request: BatchInsertRequest, _ most: Int) { (self.request, self.most) = (request, most) }

  /// As `BatchInsertRequest.withRows(_:_:)`: first with the rows that are kept.
  func withRows(_ reader: BatchRowReader, _ body: (() throws -> BatchRow?) throws -> Void) throws {
    var next = 0
    try request.withRows(reader) { more in
      try withoutActuallyEscaping(more) { more in
        try body {
          next += 1
          if next <= rows.count { return rows[next - 1] }
          guard !isAtEnd, let row = try more() else {
            isAtEnd = true
            return nil
          }
          isWhole = isWhole && rows.count < most
          if isWhole { rows.append(row) } else { rows = [] }
          return row
        }
      }
    }
  }
}

/// Defaults that a class evaluates for each new object, such as `UUID()`.
private struct ChangingDefaults {
  private let object: ManagedObject?

  init(of entity: EntityDescription) {
    object = entity.compiled.hasChangingDefaults ? entity.makeObject() : nil
  }

  /// Sets the values that a row does not have.
  mutating func fill(_ row: inout BatchRow) {
    guard let object else { return }
    object.dropEdits()
    object.makeDefaultsOfFreeObject()
    for slot in object.editedSlots where row.values[slot] == nil {
      row.values[slot] = object.pending?.edit(slot)
      row.madeSlots.append(slot)
    }
  }
}
