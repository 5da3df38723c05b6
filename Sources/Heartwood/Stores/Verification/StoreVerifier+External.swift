import HeartwoodBytes
import HeartwoodEngine

/// Data that is stored outside its row.
extension StoreVerifier {
  /// Checks that the data at a slot of a row, if it is stored outside of it, is there and has the size that the row says.
  func checkExternal(_ row: RowView, _ slot: Int, _ key: UInt64, _ entity: EntityDescription) throws {
    guard let reference = row.external(entity.layout.columns[slot]),
      let attribute = entity.attribute(at: slot)
    else { return }
    var count: UInt64 = 0
    let isThere = try view.readExternal(reference, of: attribute, key, pieceBytes: 1 << 22) { piece in
      count += UInt64(piece.count)
      return true
    }
    let place = "\(name(entity, key)): \(attribute.name)"
    if !isThere {
      report("\(place) is stored outside the row, and missing")
    } else if count != reference.count {
      report("\(place) has \(count) bytes outside the row, which says \(reference.count)")
    }
  }

  /// Checks that every data outside of a row belongs to one.
  func checkExternal(of root: EntityDescription) throws {
    try view.scan(.prefix(KeySpace.head(KeySpace.external, schema.keyNumber(of: root)))) { entry, _ in
      guard entry.count == KeySpace.externalKeySize else {
        self.reportStray(entry)
        return true
      }
      defer { self.view.releaseRows() }
      let key = UInt64(bigEndian: entry.loadUnaligned(fromByteOffset: 3, as: UInt64.self))
      guard let row = try self.row(root, key), try self.refers(row, to: entry, key, root) else {
        self.report("\(self.name(root, key)) does not refer to data that is stored for it outside its row")
        return true
      }
      return true
    }
  }

  private func refers(
    _ row: RowView, to entry: UnsafeRawBufferPointer, _ key: UInt64, _ root: EntityDescription
  ) throws -> Bool {
    let entity = try root.entity(numbered: row.entityNumber)
    return entity.layout.dataSlots.contains { slot in
      guard let reference = row.external(entity.layout.columns[slot]),
        let attribute = entity.attribute(at: slot)
      else { return false }
      return view.externalKey(reference, of: attribute, key).elementsEqual(entry)
    }
  }
}
