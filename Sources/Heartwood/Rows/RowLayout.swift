import HeartwoodBytes

/// The plan of an entity's rows.
///
/// ```
/// entity number u16 · fixed size u16 · row version u32 ·
/// { null bits u8 · up to eight cells } … · variable part
/// ```
///
/// Cells stand in slot order, so that a subentity's rows begin with its superentity's columns at the
/// same places. A cell has its value's width; of a variable-width value it has the end of its bytes in
/// the variable part, which begins at the fixed size. All numbers are little-endian and unaligned.
final class RowLayout: @unchecked Sendable {
  static let headerSize = 8
  /// Offsets are 16 bits wide.
  static let largestFixedSize = 0xFFFF

  /// One for each slot.
  let columns: [Column]
  /// Bytes before the variable part.
  let fixedSize: Int
  /// The places of the cells of columns with bytes in the variable part, in its order. Plain memory, as every
  /// row that is read is checked by it.
  private let variableCells: UnsafeBufferPointer<UInt16>
  let entityNumber: UInt16
  /// By slot, for to-one columns: the entity that keys lead to.
  private let destinations: [Unmanaged<EntityDescription>?]

  /// - Throws: when the properties do not fit into a row.
  init(entityNumber: UInt16, properties: [PropertyDescription], name: String) throws(HeartwoodError) {
    var columns: [Column] = []
    columns.reserveCapacity(properties.count)
    var end = Self.headerSize
    var nullOffset = 0
    var previousOffset = 0
    for (slot, property) in properties.enumerated() {
      if slot % 8 == 0 {
        nullOffset = end
        end += 1
      }
      let kind = property.columnKind
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
    self.entityNumber = entityNumber
    fixedSize = end
    let cells = columns.filter(\.kind.isVariable).map(\.offset)
    let variableCells = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: cells.count)
    _ = variableCells.initialize(from: cells)
    self.variableCells = UnsafeBufferPointer(variableCells)
    destinations = properties.map { property in
      (property as? RelationshipDescription)?.destinationEntity.map(Unmanaged.passUnretained)
    }
  }

  deinit { variableCells.deallocate() }

  /// What is wrong with the bytes of a row; nil for nothing.
  @inline(__always)
  func validationError(_ bytes: UnsafeRawBufferPointer) -> RowValidationError? {
    guard let base = bytes.baseAddress, bytes.count >= fixedSize else { return .short }
    guard UInt16(littleEndian: base.loadUnaligned(as: UInt16.self)) == entityNumber else { return .entity }
    let claimed = UInt16(littleEndian: base.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
    guard Int(claimed) == fixedSize else { return .fixedSize }
    var end: UInt32 = 0
    for offset in variableCells {
      let next = UInt32(littleEndian: base.loadUnaligned(fromByteOffset: Int(offset), as: UInt32.self))
      guard next >= end else { return .order }
      end = next
    }
    return Int(end) == bytes.count &- fixedSize ? nil : .end
  }

  /// - Precondition: `slot` is that of a relationship.
  func identifier(at slot: Int, key: UInt64, store: StoreIdentity) -> ManagedObjectID {
    guard let destination = destinations[slot] else {
      programError("slot \(slot) of entity \(entityNumber) is no relationship")
    }
    return ManagedObjectID(entity: destination.takeUnretainedValue(), key: key, store: store)
  }
}

/// What can be wrong with the bytes of a row.
enum RowValidationError {
  case short, entity, fixedSize, order, end
}

extension PropertyDescription {
  var columnKind: ColumnKind {
    if let relationship = self as? RelationshipDescription { return relationship.isToMany ? .toMany : .toOne }
    return (self as? AttributeDescription)?.type.columnKind ?? .toMany
  }
}
