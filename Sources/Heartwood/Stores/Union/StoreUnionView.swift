/// One generation of each of several stores, as one.
final class StoreUnionView: StoreView {
  struct Member: Sendable {
    let number: Int
    let view: any MemberView
  }

  /// By number, ascending, which is the order of keys.
  let members: [Member]
  let references: RowReferences
  private let numbered: ConvertedRows
  private let hasOneReader: Bool

  /// - Parameter areRowsKept: Whether rows of the members stay where they are.
  init(
    _ members: [Member], _ references: RowReferences, areRowsKept: Bool = true, hasOneReader: Bool = false
  ) {
    self.members = members.sorted { $0.number < $1.number }
    self.references = references
    self.hasOneReader = hasOneReader
    numbered = ConvertedRows(keepsPlaces: areRowsKept && !members.contains { $0.view.convertsRows })
  }

  var isOfSeveralStores: Bool { members.count > 1 }
  var generation: UInt64 { members.reduce(0) { $0 &+ $1.view.generation } }
  /// Those of the stores that have past ones.
  var generations: StoreGenerations { StoreGenerations(ofPast.flatMap { $0.view.generations.members }) }
  /// The members whose rows do not come from a class of the program.
  var ofPast: [Member] { members.filter { !$0.view.asksProgram } }

  var convertsRows: Bool { members.contains { $0.number != 0 || $0.view.convertsRows } }

  func forOneReader() -> any StoreView {
    guard convertsRows, !hasOneReader else { return self }
    let readers = members.map { member in
      guard member.view.convertsRows else { return member }
      return Member(
        number: member.number, view: member.view.forOneReader() as? any MemberView ?? member.view)
    }
    return StoreUnionView(readers, references, hasOneReader: true)
  }

  func releaseRows() {
    guard hasOneReader else { return }
    for member in members { member.view.releaseRows() }
    numbered.trim()
  }

  func restricted(to stores: Set<Int>) -> any StoreView { of { stores.contains($0.number) } }

  /// A view of the same generation with the objects of some of the stores.
  func of(_ isWanted: (Member) -> Bool) -> StoreUnionView {
    StoreUnionView(members.filter(isWanted), references, hasOneReader: hasOneReader)
  }

  var forOtherQueues: any StoreView {
    guard members.contains(where: \.view.asksProgram) else { return self }
    let others = members.map { member in
      Member(number: member.number, view: member.view.forOtherQueues as? any MemberView ?? member.view)
    }
    return StoreUnionView(others, references)
  }

  func readsNeighbours(_ root: EntityDescription) -> Bool {
    members(with: root).allSatisfy { $0.view.readsNeighbours(root) }
  }

  func member(of key: UInt64) -> Member? {
    let number = key.storeNumber
    return members.first { $0.number == number }
  }

  /// The members that have rows of an entity.
  func members(with entity: EntityDescription) -> [Member] { members.filter { $0.view.has(entity) } }

  /// The members that have rows of an entity and ask a program's class for them, with those of the keys that are theirs.
  private func asked(
    _ entity: EntityDescription, _ keys: [UInt64]
  ) -> [(view: any MemberView, keys: [UInt64])] {
    members(with: entity).filter(\.view.asksProgram).map { member in
      let own = keys.filter { $0.isPermanentKey && $0.storeNumber == member.number }
      return (member.view, own.map(\.keyInStore))
    }
  }

  func load(_ root: EntityDescription, _ keys: [UInt64]) throws {
    for (view, own) in asked(root, keys) where !own.isEmpty { try view.load(root, own) }
  }

  func load(_ relationship: RelationshipDescription, of keys: [UInt64]) throws {
    guard let entity = relationship.entity else { return }
    for (view, own) in asked(entity, keys) where !own.isEmpty { try view.load(relationship, of: own) }
  }

  // MARK: Rows

  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    guard key.isPermanentKey, let member = member(of: key), member.view.has(root),
      let row = try member.view.row(root, key.keyInStore)
    else { return nil }
    guard member.number != 0, let bytes = references.numbered(row, member.number) else { return row }
    return numbered.row(row) { bytes }
  }

  func scanRows(
    of root: EntityDescription, from start: UInt64?, reversed: Bool, _ body: (FoundRow) throws -> Bool
  ) throws {
    let members = members(with: root)
    let first = start?.storeNumber
    var continues = true
    for member in reversed ? members.reversed() : members where continues {
      if let first, reversed ? member.number > first : member.number < first { continue }
      let bound = member.number == first ? start?.keyInStore : nil
      let isPlain = member.number == 0 || !references.areInRows(of: root)
      try member.view.scanRows(of: root, from: bound, reversed: reversed) { found in
        let key = found.key.numbered(member.number)
        guard !isPlain, let bytes = references.numbered(found.row, member.number) else {
          continues = try body(FoundRow(key: key, row: found.row))
          return continues
        }
        continues = try bytes.withUnsafeBytes { try body(FoundRow(key: key, row: RowView(unchecked: $0))) }
        return continues
      }
    }
  }

  func rowCount(of root: EntityDescription) throws -> Int {
    try members(with: root).reduce(0) { try $0 + $1.view.rowCount(of: root) }
  }

  func rowKey(of root: EntityDescription, atRank rank: Int) throws -> UInt64? {
    var rank = rank
    for member in members(with: root) {
      let count = try member.view.rowCount(of: root)
      if rank < count { return try member.view.rowKey(of: root, atRank: rank)?.numbered(member.number) }
      rank -= count
    }
    return nil
  }

  func readExternal(
    _ reference: ExternalReference, of attribute: AttributeDescription, _ key: UInt64, pieceBytes: Int,
    _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    guard let member = member(of: key) else { return false }
    return try member.view.readExternal(
      reference, of: attribute, key.keyInStore, pieceBytes: pieceBytes, body)
  }

  // MARK: Relationships

  private func member(_ relationship: RelationshipDescription, of key: UInt64) -> Member? {
    guard let entity = relationship.entity, let member = member(of: key), member.view.has(entity) else {
      return nil
    }
    return member
  }

  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    guard let member = member(relationship, of: key) else { return }
    try member.view.destinations(relationship, of: key.keyInStore) {
      try body($0.numbered(member.number))
    }
  }

  func destinationCount(_ relationship: RelationshipDescription, of key: UInt64) throws -> Int {
    try member(relationship, of: key)?.view.destinationCount(relationship, of: key.keyInStore) ?? 0
  }

  func hasDestination(
    _ relationship: RelationshipDescription, _ target: UInt64, of key: UInt64
  ) throws -> Bool {
    guard target.storeNumber == key.storeNumber, let member = member(relationship, of: key) else {
      return false
    }
    return try member.view.hasDestination(relationship, target.keyInStore, of: key.keyInStore)
  }

  func links(
    _ relationship: RelationshipDescription, from first: UInt64, through last: UInt64,
    _ body: (UInt64, UInt64) throws -> Bool
  ) throws {
    guard let entity = relationship.entity else { return }
    var continues = true
    for member in members(with: entity) where continues {
      let number = member.number
      guard first.storeNumber <= number, number <= last.storeNumber else { continue }
      try member.view.links(
        relationship, from: number == first.storeNumber ? first.keyInStore : 0,
        through: number == last.storeNumber ? last.keyInStore : UInt64.keyInStoreMask
      ) { source, target in
        continues = try body(source.numbered(number), target.numbered(number))
        return continues
      }
    }
  }
}
