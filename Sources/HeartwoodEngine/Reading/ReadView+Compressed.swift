/// Values that are compressed in the log.
extension ReadView {
  /// The value of a record. That of a compressed one is in memory of the reader.
  @inline(__always)
  func value(of record: Record, at reference: ValueReference) throws(EngineError) -> UnsafeRawBufferPointer {
    guard record.isCompressed else { return record.storedValue }
    return try decompressedValue(of: record, at: reference)
  }

  @inline(never)
  private func decompressedValue(
    of record: Record, at reference: ValueReference
  ) throws(EngineError) -> UnsafeRawBufferPointer {
    // A reader that began before the store had compressed values keeps none itself.
    let kept = decompressed ?? table.decompressed
    guard let value = kept.value(of: record, at: reference) else { throw Self.undecodable(reference) }
    return value
  }

  /// A copy of the value of a key; nil if the tree does not contain it.
  func copy(of key: UnsafeRawBufferPointer) throws(EngineError) -> [UInt8]? {
    switch try view.find(key) {
    case nil: return nil
    case .inline(let value): return Array(value)
    case .position(let reference):
      return try copy(of: try record(at: reference, of: key), at: reference)
    }
  }

  /// A copy of the value of a record.
  func copy(of record: Record, at reference: ValueReference) throws(EngineError) -> [UInt8] {
    guard record.isCompressed else { return Array(record.storedValue) }
    guard let value = record.decompressed() else { throw Self.undecodable(reference) }
    return Array(value.bytes.buffer)
  }

  /// Reads a value without keeping it.
  func check(_ reference: ValueReference, of key: UnsafeRawBufferPointer) throws(EngineError) {
    let record = try record(at: reference, of: key)
    guard record.isCompressed else { return }
    guard record.decompressed() != nil else { throw Self.undecodable(reference) }
  }

  @inline(never)
  fileprivate static func undecodable(_ reference: ValueReference) -> EngineError {
    .damaged(
      "a compressed value is damaged: it cannot be decompressed; run verify, and restore the file from a backup",
      file: SegmentName.log(reference.segment), offset: Int(reference.offset))
  }
}

extension Record {
  /// Calls `body` with the value, which is in memory of its own meanwhile if it is compressed.
  @inline(__always)
  func readValue(at reference: ValueReference, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard isCompressed else { return try body(storedValue) }
    guard let value = decompressed() else { throw ReadView.undecodable(reference) }
    try body(value.bytes.buffer)
  }
}
