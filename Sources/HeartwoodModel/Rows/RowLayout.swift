import HeartwoodBytes

/// The layout of an entity's rows.
///
/// ```
/// entity number u16 · fixed size u16 · row version u32 ·
/// { null bits u8 · up to eight cells } … · variable part
/// ```
///
/// Cells are in slot order, so that the columns of a superentity have the same offsets in the rows of its
/// subentities. A fixed-width cell contains its value. A variable-width cell contains the end of its value in
/// the variable part, which begins at the fixed size. All numbers are little-endian and unaligned.
@usableFromInline package final class RowLayout: Sendable {
  @inlinable static var headerSize: Int { 8 }
  /// Where the version is in the fixed part.
  @inlinable package static var versionOffset: UInt16 { 4 }
  /// Offsets are 16 bits wide.
  static let largestFixedSize = 0xFFFF

  /// One for each slot.
  package let columns: [Column]
  /// The number of bytes before the variable part.
  @usableFromInline package let fixedSize: Int
  /// The offsets of the variable-width cells, in the order of the variable part. Plain memory, because every
  /// row that is read is validated with it.
  @usableFromInline let variableCells: PlainTable<UInt16>
  @usableFromInline let entityNumber: UInt16
  /// The destination entities of relationships, by slot; nil for attributes.
  private let destinations: [UnownedReference<EntityDescription>?]

  /// - Throws: `.coreData` if the properties do not fit into a row.
  convenience init(
    entityNumber: UInt16, properties: [PropertyDescription], name: String
  ) throws(HeartwoodError) {
    try self.init(
      entityNumber: entityNumber, kinds: properties.map(\.columnKind), properties: properties, name: name)
  }

  /// The layout of rows with these columns.
  ///
  /// - Parameter properties: the columns' properties, or none for a layout that is only read to convert its rows.
  /// - Throws: `.coreData` if the columns do not fit into a row.
  package init(
    entityNumber: UInt16, kinds: [ColumnKind], properties: [PropertyDescription] = [], name: String
  ) throws(HeartwoodError) {
    var columns: [Column] = []
    columns.reserveCapacity(kinds.count)
    var end = Self.headerSize
    var nullOffset = 0
    var previousOffset = 0
    for (slot, kind) in kinds.enumerated() {
      if slot % 8 == 0 {
        nullOffset = end
        end += 1
      }
      columns.append(
        Column(
          offset: end, nullOffset: nullOffset, nullMask: 1 << UInt8(slot % 8), kind: kind, slot: slot,
          previousOffset: previousOffset))
      if kind.isVariable { previousOffset = end }
      end += kind.width
      guard end <= Self.largestFixedSize else {
        throw .model("\(name) has too many properties: rows have room for 65535 bytes besides texts and data")
      }
    }
    self.columns = columns
    dataSlots = columns.indices.filter { columns[$0].kind == .data }
    externalSlots = properties.indices.filter {
      (properties[$0] as? AttributeDescription)?.mayBeOutsideRow == true
    }
    self.entityNumber = entityNumber
    fixedSize = end
    variableCells = PlainTable(columns.filter(\.kind.isVariable).map(\.offset))
    destinations = properties.map { property in
      (property as? RelationshipDescription)?.destinationEntity.map { UnownedReference($0) }
    }
  }

  deinit { variableCells.deallocate() }

  /// The first error in the bytes of a row; nil if they are valid.
  @inlinable @inline(__always)
  func validationError(_ bytes: UnsafeRawBufferPointer) -> RowValidationError? {
    guard bytes.count >= fixedSize else { return .short }
    let row = RowFields(bytes)
    guard row.entityNumber == entityNumber else { return .entity }
    guard row.fixedSize == fixedSize else { return .fixedSize }
    var end: UInt32 = 0
    for index in 0..<variableCells.count {
      let offset = variableCells[index]
      let cell = UInt32(littleEndian: row.load(offset, as: UInt32.self))
      let next = cell & ~Column.externalMark
      guard next >= end else { return .order }
      if next != cell, !mayBeExternal(offset, bytes: next - end) { return .external }
      end = next
    }
    return Int(end) == bytes.count &- fixedSize ? nil : .end
  }

  /// The slots of data, whose values may be stored outside the row.
  package let dataSlots: [Int]
  /// The slots of attributes whose large values are written outside the row.
  package let externalSlots: [Int]

  @inline(never)
  @usableFromInline func mayBeExternal(_ offset: UInt16, bytes count: UInt32) -> Bool {
    count == ExternalReference.byteCount && dataSlots.contains { columns[$0].offset == offset }
  }

  /// - Precondition: `slot` is a relationship's.
  package func identifier(at slot: Int, key: UInt64, store: StoreIdentity) -> ManagedObjectID {
    guard let destination = destinations[slot] else {
      programError("slot \(slot) of entity \(entityNumber) is no relationship")
    }
    return ManagedObjectID(entity: destination.object, key: key, store: store)
  }
}

/// The errors in the bytes of a row.
@usableFromInline enum RowValidationError {
  case short, entity, fixedSize, order, external, end
}

extension PropertyDescription {
  package var columnKind: ColumnKind {
    if isTransient { return .transient }
    if let relationship = self as? RelationshipDescription { return relationship.isToMany ? .toMany : .toOne }
    return (self as? AttributeDescription)?.type.columnKind ?? .toMany
  }
}
