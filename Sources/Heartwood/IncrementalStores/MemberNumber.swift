/// The number that an incremental store has among several, which is in the keys that contexts see.
struct MemberNumber {
  /// That of a store that is alone, or the first.
  static let none = MemberNumber(number: 0, references: nil)

  let number: Int
  let references: RowReferences?

  func key(_ id: ManagedObjectID) -> UInt64 { id.keyInItsStore.numbered(number) }

  func identifier(_ id: ManagedObjectID) -> ManagedObjectID {
    number == 0 ? id : ManagedObjectID(entity: id.entity, key: key(id), store: id.store)
  }

  func row(_ bytes: [UInt8]) -> [UInt8] { references?.numbered(bytes, number) ?? bytes }

  /// Calls `body` with a row of the store as contexts see it.
  func withRow<Result>(_ key: UInt64, _ row: RowView, _ body: (FoundRow) throws -> Result) rethrows -> Result
  {
    let key = key.numbered(number)
    guard let bytes = references?.numbered(row, number) else { return try body(FoundRow(key: key, row: row)) }
    return try bytes.withUnsafeBytes { try body(FoundRow(key: key, row: RowView(unchecked: $0))) }
  }

  /// A view of the store as contexts see it, for one reader.
  func view(_ view: IncrementalView) -> any StoreView {
    guard number != 0, let references else { return view }
    return StoreUnionView(
      [StoreUnionView.Member(number: number, view: view)], references, hasOneReader: true)
  }
}
