import Foundation
import HeartwoodEngine

/// Data that is stored outside its row.
extension StoreReading {
  func externalKey(
    _ reference: ExternalReference, of attribute: AttributeDescription, _ key: UInt64
  ) -> [UInt8] {
    let root = attribute.entity.map { schema.keyNumber(of: $0.rootEntity) }
    return KeySpace.externalKey(root ?? 0, key, schema.number(of: attribute), reference.transaction)
  }

  func readExternal(
    _ reference: ExternalReference, of attribute: AttributeDescription, _ key: UInt64, pieceBytes: Int,
    _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    let key = externalKey(reference, of: attribute, key)
    return try HeartwoodError.translating("large data cannot be read") {
      try reader.readValue(of: key, pieceBytes: pieceBytes, body)
    }
  }
}

extension LogStoreTransaction {
  func putExternal(
    _ data: Data, of attribute: AttributeDescription, _ key: UInt64
  ) throws -> ExternalReference {
    let reference = ExternalReference(count: data.count, transaction: reader.generation.rawValue + 1)
    let key = externalKey(reference, of: attribute, key)
    try key.withUnsafeBytes { key in try data.withUnsafeBytes { try reader.put(key, $0) } }
    return reference
  }

  /// The keys of the data that a row has outside of it and that a newer row does not have.
  ///
  /// - Parameter newer: nil if the row is deleted.
  func externalKeys(
    of row: RowView, exceptThoseOf newer: RowView?, _ key: UInt64, _ entity: EntityDescription
  ) -> [[UInt8]] {
    let layout = entity.layout
    return layout.dataSlots.compactMap { slot in
      let column = layout.columns[slot]
      // A transaction that writes a value twice writes it to the same key.
      guard let reference = row.external(column),
        reference.transaction != newer?.external(column)?.transaction,
        let attribute = entity.attribute(at: slot)
      else { return nil }
      return externalKey(reference, of: attribute, key)
    }
  }

  /// The values that the history keeps of a deleted row.
  func tombstone(of row: RowView, _ key: UInt64, _ stored: StoreEntity) throws -> [(slot: Int, value: Value)]
  {
    try stored.preservedSlots.map { ($0, try wholeValue(of: row, $0, key, stored.entity)) }
  }

  /// The former and the new values of those columns that were changed and whose values the history keeps.
  func keptValues(
    from old: RowView, to new: RowView, _ changed: [Int], _ key: UInt64, _ stored: StoreEntity
  ) throws -> [HistoryChange.KeptUpdate] {
    guard !stored.updateSlots.isEmpty else { return [] }
    return try changed.filter(stored.updateSlots.contains).sorted().map { slot in
      HistoryChange.KeptUpdate(
        slot: slot, former: try wholeValue(of: old, slot, key, stored.entity),
        value: try wholeValue(of: new, slot, key, stored.entity))
    }
  }
}

extension StoreReading {
  /// The value of a column, with data that is stored outside the row.
  func wholeValue(of row: RowView, _ slot: Int, _ key: UInt64, _ entity: EntityDescription) throws
    -> Value
  {
    let column = entity.layout.columns[slot]
    guard let reference = row.external(column), let attribute = entity.attribute(at: slot) else {
      return row.value(column)
    }
    return try externalData(reference, of: attribute, key).map(Value.data) ?? .null
  }

  /// Data that is stored outside its row; nil if it is missing.
  func externalData(
    _ reference: ExternalReference, of attribute: AttributeDescription, _ key: UInt64
  ) throws -> Data? {
    var data = Data()
    let isThere = try readExternal(reference, of: attribute, key, pieceBytes: 1 << 22) {
      data.append(contentsOf: $0)
      return true
    }
    return isThere ? data : nil
  }
}
