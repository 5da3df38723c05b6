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
        }
        defaults.fill(&row)
        return row
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
    }
  }
}
