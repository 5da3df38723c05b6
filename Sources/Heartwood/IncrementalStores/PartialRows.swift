/// Makes rows of an entity that have the values of some properties only, and null in the others.
struct PartialRows {
  private enum Step {
    /// Reads the stored property at a place.
    case value(Column, Int)
    /// Reads whether one of the stored elements of a composite attribute has a value.
    case composite(Column, Range<Int>)
    /// A column of variable width that is not read.
    case end(Column)
  }

  private let entity: EntityDescription
  /// A row without values, whose null bits are set for what is not read.
  private var beginning: [UInt8]
  private var steps: [Step] = []

  init(_ entity: EntityDescription, reading slots: Set<Int>) {
    self.entity = entity
    let layout = entity.layout
    beginning = RowBuilder(layout).finish(version: 1)
    let readsVariable = layout.columns.contains { $0.kind.isVariable && slots.contains(Int($0.slot)) }
    var place = 0
    for column in layout.columns {
      let isRead = slots.contains(Int(column.slot))
      switch column.kind {
      case .transient, .toMany: continue
      case .composite:
        if isRead {
          steps.append(.composite(column, place..<place + entity.elementCount(of: column)))
        }
      default:
        if isRead {
          steps.append(.value(column, place))
        } else if column.kind.isVariable && readsVariable {
          steps.append(.end(column))
        }
        place += 1
      }
      if isRead { beginning[Int(column.nullOffset)] &= ~column.nullMask }
    }
  }

  /// - Throws: ``UnfitValue`` for a value that its property cannot have; what `row` throws.
  func bytes(of row: any IncrementalStoreRow) throws -> [UInt8] {
    var writer = RowWriter(entity.layout, beginningWith: beginning)
    for step in steps {
      switch step {
      case .value(let column, let place):
        let stored = try row.value(at: place)
        guard let value = stored.value(column.kind) else { throw UnfitValue(stored, column, entity) }
        writer.write(value, column)
      case .composite(let column, let places):
        let isThere = try places.contains { try row.value(at: $0) != .null }
        writer.write(isThere ? .bool(true) : .null, column)
      case .end(let column): writer.skip(column)
      }
    }
    return writer.row
  }
}
