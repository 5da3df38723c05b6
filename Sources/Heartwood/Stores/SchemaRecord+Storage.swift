import HeartwoodBytes

extension SchemaRecord {
  /// How the rows of an entity are stored, where migrations have made it differ from a new store.
  ///
  /// ```
  /// key number · row number
  /// count { row number · count { count { kind u8 } · property · filled u8 [value] } · count { property · value } } …
  /// count { former property · property } …
  /// ```
  struct Storage: Equatable {
    /// The number in the keys of the family's rows, of a root entity; of others, without meaning.
    var keyNumber: UInt16
    /// The number in the headers of rows that are written now.
    var rowNumber: UInt16
    /// The layouts of older rows.
    var former: [FormerLayout] = []
    /// Former numbers of properties in history records.
    var formerProperties: [FormerProperty] = []

    /// The storage of an entity of a new store.
    init(number: UInt16) {
      keyNumber = number
      rowNumber = number
    }
  }

  /// The layout of rows that were written with an earlier model.
  struct FormerLayout: Equatable {
    /// The number in the rows' headers.
    var rowNumber: UInt16
    /// In slot order of the earlier model.
    var columns: [FormerColumn]
    /// The values of properties that the rows do not have.
    var added: [AddedValue]
  }

  /// A column of rows that were written with an earlier model.
  struct FormerColumn: Equatable {
    /// The type in the rows, then those that the property has had since.
    var kinds: [ColumnKind]
    /// The number of the property; 0 if the model no longer has it.
    var property: UInt16
    /// The value where rows have none; null for none.
    var fill = Value.null
  }

  struct AddedValue: Equatable {
    var property: UInt16
    var value: Value
  }

  struct FormerProperty: Equatable {
    var former: UInt16
    var property: UInt16
  }
}

extension SchemaRecord.Storage {
  func append(to writer: inout ByteWriter) {
    writer.appendVarint(UInt64(keyNumber))
    writer.appendVarint(UInt64(rowNumber))
    writer.appendVarint(UInt64(former.count))
    for layout in former { Self.append(layout, to: &writer) }
    writer.appendVarint(UInt64(formerProperties.count))
    for property in formerProperties {
      writer.appendVarint(UInt64(property.former))
      writer.appendVarint(UInt64(property.property))
    }
  }

  private static func append(_ layout: SchemaRecord.FormerLayout, to writer: inout ByteWriter) {
    writer.appendVarint(UInt64(layout.rowNumber))
    writer.appendVarint(UInt64(layout.columns.count))
    for column in layout.columns {
      writer.appendVarint(UInt64(column.kinds.count))
      for kind in column.kinds { writer.append(kind.rawValue) }
      writer.appendVarint(UInt64(column.property))
      ValueCoding.append(column.fill, to: &writer)
    }
    writer.appendVarint(UInt64(layout.added.count))
    for added in layout.added {
      writer.appendVarint(UInt64(added.property))
      ValueCoding.append(added.value, to: &writer)
    }
  }

  init(_ reader: inout SchemaReader) throws(HeartwoodError) {
    keyNumber = try reader.number()
    rowNumber = try reader.number()
    former = try reader.list { (reader) throws(HeartwoodError) in
      SchemaRecord.FormerLayout(
        rowNumber: try reader.number(),
        columns: try reader.list { (reader) throws(HeartwoodError) in try Self.column(&reader) },
        added: try reader.list { (reader) throws(HeartwoodError) in
          SchemaRecord.AddedValue(property: try reader.number(), value: try reader.value())
        })
    }
    formerProperties = try reader.list { (reader) throws(HeartwoodError) in
      SchemaRecord.FormerProperty(former: try reader.number(), property: try reader.number())
    }
  }

  private static func column(_ reader: inout SchemaReader) throws(HeartwoodError) -> SchemaRecord.FormerColumn
  {
    let kinds = try reader.list { (reader) throws(HeartwoodError) in
      guard let kind = ColumnKind(rawValue: try reader.byte()) else { throw HeartwoodError.damagedSchema }
      return kind
    }
    guard !kinds.isEmpty else { throw .damagedSchema }
    return SchemaRecord.FormerColumn(kinds: kinds, property: try reader.number(), fill: try reader.value())
  }
}

extension SchemaRecord.FormerLayout {
  /// The conversion of these rows to the layout of an entity whose properties have the given numbers, by slot.
  ///
  /// - Throws: `.persistentStoreDamaged` if the columns fit no row, or a value is not of its property's type.
  func conversion(
    to entity: EntityDescription, numbers: [UInt16]
  ) throws(HeartwoodError) -> (layout: RowLayout, conversion: RowConversion) {
    let source: RowLayout
    do {
      source = try RowLayout(
        entityNumber: rowNumber, kinds: columns.map { $0.kinds[0] }, name: entity.displayName)
    } catch { throw .damagedSchema }
    var slots: [UInt16: Int] = [:]
    for (slot, column) in columns.enumerated() where column.property != 0 { slots[column.property] = slot }
    let values = Dictionary(added.map { ($0.property, $0.value) }, uniquingKeysWith: { first, _ in first })
    var steps: [RowConversion.Step] = []
    for (slot, number) in numbers.enumerated() {
      let found = slots[number].map { (source.columns[$0], columns[$0]) }
      steps.append(try step(slot, entity, found, values[number]))
    }
    return (
      source, RowConversion(to: entity.layout, steps, wholes: entity.compiled.wholes, isRenumbering: false)
    )
  }

  private func step(
    _ slot: Int, _ entity: EntityDescription, _ found: (Column, SchemaRecord.FormerColumn)?, _ added: Value?
  ) throws(HeartwoodError) -> RowConversion.Step {
    let kind = entity.layout.columns[slot].kind
    guard kind != .toMany, kind != .transient else { return .null }
    guard let (column, former) = found else {
      guard let added, !added.isNull else { return .null }
      guard added.isValue(of: kind) else { throw .damagedSchema }
      return .constant(added)
    }
    guard former.kinds.last == kind, former.fill.isNull || former.fill.isValue(of: kind) else {
      throw .damagedSchema
    }
    let later = Array(former.kinds.dropFirst())
    if !former.fill.isNull {
      let isOptional = entity.isElement(slot) && entity.property(at: slot).isOptional
      return isOptional ? .filledWithWhole(column, later, former.fill) : .filled(column, later, former.fill)
    }
    return later.isEmpty ? .copy(column) : .convert(column, later)
  }
}

extension Value {
  /// Whether a column of this kind can have the value.
  fileprivate func isValue(of kind: ColumnKind) -> Bool {
    isNull || isOfKind(kind) || kind == .composite && isOfKind(.bool)
  }
}
