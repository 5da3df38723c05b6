import Foundation
import HeartwoodBytes

/// Data that is stored outside the object's row.
extension ManagedObject {
  /// Calls `body` with the pieces of an attribute's data, in order, until it returns false.
  ///
  /// Data that is stored outside the row (see `AttributeDescription.allowsExternalBinaryDataStorage`) is read from the store piece
  /// by piece. Each byte is verified before the first piece is passed.
  ///
  /// - Parameters:
  ///   - key: The name of an attribute of type `.binaryData`.
  ///   - pieceBytes: The size of every piece but the last, in bytes; less than 1 counts as 1.
  ///   - body: Called once with no bytes for empty data. A piece is valid until it returns.
  /// - Returns: Whether there is data: false for nil.
  /// - Throws: `HeartwoodError` if the store cannot be read, and what `body` throws.
  @discardableResult
  @_disfavoredOverload
  public final func readData(
    forKey key: String, pieceBytes: Int = 1 << 20, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    let slot = try dataSlot(key)
    let size = max(1, pieceBytes)
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    if let (attribute, reference, view) = try external(at: slot),
      try view.readExternal(reference, of: attribute, identifier.key, pieceBytes: size, body)
    {
      return true
    }
    guard case .data(let data) = value(at: slot) else { return false }
    try data.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: max(1, bytes.count), by: size) {
        let end = bytes.count - start > size ? start + size : bytes.count
        guard try body(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) else { return }
      }
    }
    return true
  }

  /// The size of an attribute's data in bytes, without loading data that is stored outside the row; nil for nil.
  ///
  /// - Parameter key: The name of an attribute of type `.binaryData`.
  /// - Throws: `HeartwoodError` if there is no such attribute, or the store cannot be read.
  @_disfavoredOverload
  public final func dataCount(forKey key: String) throws -> Int? {
    let slot = try dataSlot(key)
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    if let (_, reference, _) = try external(at: slot) { return Int(clamping: reference.count) }
    guard case .data(let data) = value(at: slot) else { return nil }
    return data.count
  }

  private final func dataSlot(_ key: String) throws -> Int {
    guard let slot = entity.slot(named: key), let attribute = entity.attribute(at: slot) else {
      throw HeartwoodError.unknownProperty(key, entity)
    }
    guard attribute.type == .binaryData else {
      throw HeartwoodError(
        .coreData, "\(attribute.displayName) is of type \(attribute.type), not binaryData", property: key)
    }
    return slot
  }

  /// Whether the value at a slot is unchanged and stored outside the row.
  final func isExternal(at slot: Int) -> Bool {
    guard let row, pending?.edit(slot) == nil else { return false }
    return row.external(entity.layout.columns[slot]) != nil
  }

  /// Where the value at a slot is stored outside the row, in what the context reads now; nil if it is not. Others may have
  /// replaced the value of the object's row since.
  private final func external(at slot: Int) throws -> (
    AttributeDescription, ExternalReference, any StoreView
  )? {
    willRead()
    guard pending?.edit(slot) == nil, let row, let own = row.external(entity.layout.columns[slot]),
      let attribute = entity.attribute(at: slot)
    else { return nil }
    guard let view = try managedObjectContext?.readingView() else { return nil }
    return try withNewestRow(in: view) { newest in
      guard let newest else { return (attribute, own, view) }
      return newest.external(entity.layout.columns[slot]).map { (attribute, $0, view) }
    }
  }

  /// Calls `body` with the object's row in what the context reads now; nil if it is deleted.
  private final func withNewestRow<Result>(
    in view: any StoreView, _ body: (RowView?) throws -> Result
  ) throws -> Result {
    try view.withRow(entity.rootEntity, identifier.key) { newest in
      try body(newest?.entityNumber == entity.number ? newest : nil)
    }
  }

  /// The data that a row refers to. If others have replaced it since the row was read, the newer value; the default if it
  /// cannot be read.
  final func externalValue(_ reference: ExternalReference, at slot: Int) -> Value {
    guard let context = managedObjectContext, let attribute = entity.attribute(at: slot) else {
      return entity.initialValue(at: slot)
    }
    do {
      let view = try context.readingView()
      if let data = try view.externalData(reference, of: attribute, identifier.key) { return .data(data) }
      let column = entity.layout.columns[slot]
      let (value, newer): (Value, ExternalReference?) = try withNewestRow(in: view) { newest in
        guard let newest else { return (entity.initialValue(at: slot), nil) }
        return (newest.value(column), newest.external(column))
      }
      guard let newer else { return value }
      if let data = try view.externalData(newer, of: attribute, identifier.key) { return .data(data) }
      throw HeartwoodError(
        .persistentStoreDamaged,
        "\(attribute.displayName) of \(objectID) is missing in the store; verify the store",
        objectIDs: [objectID], property: attribute.name)
    } catch {
      context.noteUnreadable(error, self)
      return entity.initialValue(at: slot)
    }
  }
}

extension StoreView {
  fileprivate func externalData(
    _ reference: ExternalReference, of attribute: AttributeDescription, _ key: UInt64
  ) throws -> Data? {
    var data = Data()
    let isThere = try readExternal(reference, of: attribute, key, pieceBytes: 1 << 22) { piece in
      data.append(contentsOf: piece)
      return true
    }
    return isThere ? data : nil
  }
}
