import Foundation

/// The execution of a batch insert: takes rows in groups, and writes each group.
///
/// - Invariant: The rows of a group have keys that follow those of the group before.
final class BatchInsertion {
  private let entity: EntityDescription
  private let writer: BatchWriter
  private let policy: MergePolicyType
  /// Whether the destinations of a row take the place of those of the stored object that it updates.
  private let replaces: Bool
  private let targets: BatchTargets
  /// The constraints by which rows take the place of stored ones; empty if that is an error.
  private let constraints: [StoreIndex]
  private let groupSize: Int
  /// The slots of to-one relationships in the constraints.
  private let constrainedLinks: Set<Int>
  /// How the derived attributes in the constraints are computed.
  private let derivations: [Derivation]
  /// The constraints whose entries are written at the end, as they have values that are derived from other objects, and the keys of rows of
  /// this batch by these entries.
  private let lateConstraints: Set<UInt16>
  private var lateClaims: [[UInt8]: UInt64] = [:]
  private var awaited:
    [(key: UInt64, relationship: RelationshipDescription, targets: [BatchReference], row: Int, isWhole: Bool)] =
      []
  private(set) var insertedKeys: [Range<UInt64>] = []
  /// Stored rows that were updated.
  private(set) var updatedKeys: Set<UInt64> = []
  private var rowsBefore = 0
  private var unwritten = 0

  /// - Throws: `.coreData` if a derived attribute cannot be computed.
  init(
    _ entity: EntityDescription, _ writer: BatchWriter, _ policy: MergePolicy, _ indexes: [StoreIndex]
  ) throws {
    self.entity = entity
    self.writer = writer
    self.policy = policy.uniqueType
    replaces = policy.toMany == .replace
    targets = BatchTargets(writer.transaction)
    let constraints = policy.uniqueType == .error ? [] : indexes.filter(\.isUnique)
    let slots = Set(constraints.flatMap(\.slots))
    let links = slots.filter { entity.compiled.relationshipBySlot[$0] != nil }
    var derivations: [Derivation] = []
    for slot in slots.sorted() where entity.property(at: slot).derivation != nil {
      if let attribute = entity.attribute(at: slot) {
        derivations.append(try Derivation(attribute, of: entity))
      }
    }
    let late = Set(derivations.filter { !$0.isOfOwnRow }.map(\.slot))
    self.constraints = constraints
    self.derivations = derivations
    constrainedLinks = links
    lateConstraints = Set(constraints.filter { !late.isDisjoint(with: $0.slots) }.map(\.number))
    // With one constraint, a row cannot change another one's unique values; with several it can, which the next row has to see. It also
    // has to see the row that its own values lead to.
    let leadsToOwn = entity.relationshipsBySlot.contains { relationship in
      !relationship.isToMany && relationship.destinationEntity.rootEntity === entity.rootEntity
        && (links.contains(relationship.slot) || !late.isEmpty)
    }
    groupSize = constraints.count > 1 || leadsToOwn ? 1 : 512
  }

  var count: Int { insertedKeys.reduce(0) { $0 + $1.count } + updatedKeys.count }

  /// - Parameter next: Returns the next row; nil after the last.
  func insert(_ next: () throws -> BatchRow?) throws {
    var isAtEnd = false
    while !isAtEnd {
      var group: [BatchRow] = []
      group.reserveCapacity(groupSize)
      while group.count < groupSize {
        guard let row = try naming(group.count, { try next() }) else {
          isAtEnd = true
          break
        }
        group.append(row)
      }
      try write(group)
      rowsBefore += group.count
    }
    try resolveAwaited()
    if writer.validates { try validateCounts() }
  }

  /// Adds the number of the row to an error of `body`.
  private func naming<Result>(_ place: Int, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as HeartwoodError {
      throw error.inRow(rowsBefore + place + 1)
    }
  }

  // MARK: One group

  /// The place of a row.
  private enum Place {
    case new
    /// It updates the stored row with this key.
    case stored(UInt64)
    case dropped
  }

  private func write(_ group: [BatchRow]) throws {
    guard !group.isEmpty else { return }
    var group = group
    let (places, late) =
      try constraints.isEmpty ? (group.map { _ in Place.new }, []) : places(of: &group)
    let newCount = places.count { if case .new = $0 { true } else { false } }
    var keys = newCount > 0 ? try writer.newKeys(of: entity, newCount)[...] : []
    for key in keys { note(key) }
    for (index, place) in places.enumerated() {
      // The group keeps no other reference to the values, so that they are changed where they are.
      var row = BatchRow(values: [])
      swap(&row, &group[index])
      try naming(index) {
        switch place {
        case .new:
          guard let key = keys.popFirst() else { break }
          try insert(&row, key, index)
          if !late.isEmpty { for entry in late[index] { lateClaims[entry] = key } }
        case .stored(let stored): try update(stored, row, index)
        case .dropped: break
        }
      }
    }
    unwritten += group.count
    // Looked up by the next group; or else so many that they need much memory.
    if !constraints.isEmpty || unwritten >= Self.mostUnwritten {
      try writer.transaction.writeEntries()
      unwritten = 0
    }
  }

  private static let mostUnwritten = 100_000

  private func note(_ key: UInt64) {
    if let last = insertedKeys.last, last.upperBound == key {
      insertedKeys[insertedKeys.count - 1] = last.lowerBound..<key + 1
    } else {
      insertedKeys.append(key..<key + 1)
    }
  }

  private func insert(_ row: inout BatchRow, _ key: UInt64, _ index: Int) throws {
    var given: [(RelationshipDescription, [UInt64])] = []
    for (relationship, references) in row.links {
      let keys = try self.keys(of: references, relationship, of: key, index)
      if !relationship.isToMany {
        row.values[relationship.slot] =
          keys.first.map { .object(writer.identifier(relationship.destinationEntity, $0)) } ?? .null
      }
      given.append((relationship, keys))
    }
    try writer.insert(entity, key, row.values)
    for (relationship, keys) in given {
      if relationship.isToMany {
        try writer.add(keys, to: relationship, of: key)
      } else if let target = keys.first {
        try writer.claim(relationship, target, for: key)
      }
    }
  }

  private func update(_ key: UInt64, _ row: BatchRow, _ index: Int) throws {
    guard let concrete = try writer.entity(entity.rootEntity, key) else { return }
    if !writer.isNew(entity.rootEntity, key) { updatedKeys.insert(key) }
    let row = policy == .overwrite ? row : row.given
    var values = row.values
    if policy == .overwrite {
      values += Array(repeating: nil, count: max(0, concrete.slots.count - values.count))
      for attribute in concrete.slots where concrete.attribute(at: attribute) != nil {
        values[attribute] = concrete.value(at: attribute, given: values)
      }
    }
    try writer.update(concrete, key, values)
    for (relationship, references) in row.links {
      let keys = try self.keys(of: references, relationship, of: key, index, isWhole: replaces)
      if relationship.isToMany && !replaces || references.isEmpty || !keys.isEmpty {
        try set(relationship, of: key, keys, isWhole: replaces)
      }
    }
    targets.forget()
  }
}

/// Rows that take the place of stored ones.
extension BatchInsertion {
  /// The places of the rows of a group. A row with the unique values of an earlier one in the group is moved into that one.
  ///
  /// - Returns: The places, and for each row the entries that are not written before the end; no lists if there are none.
  private func places(of group: inout [BatchRow]) throws -> (places: [Place], late: [[[UInt8]]]) {
    var rows: [[UInt8]] = []
    for (index, row) in group.enumerated() { rows.append(try naming(index) { try encoded(row) }) }
    try writer.transaction.lookUp(constraints) { rows }
    var places: [Place] = []
    var late: [[[UInt8]]] = []
    var earlier: [[UInt8]: Int] = [:]
    for index in group.indices {
      let claims = try claims(of: rows[index])
      if !lateConstraints.isEmpty { late.append(claims.filter(\.isLate).map(\.entry)) }
      if let first = claims.lazy.compactMap({ earlier[$0.entry] }).first {
        places.append(.dropped)
        if !policy.storeWins {
          group[first].take(group[index], replacing: policy == .overwrite, replacingLinks: replaces)
        }
        continue
      }
      let stored = Set(claims.compactMap(\.stored))
      if stored.isEmpty {
        places.append(.new)
      } else if policy.storeWins {
        places.append(.dropped)
      } else {
        places.append(.stored(try naming(index) { try only(stored) }))
      }
      for claim in claims { earlier[claim.entry] = index }
    }
    return (places, late)
  }

  private struct Claim {
    /// The entry of a unique index, without a key.
    let entry: [UInt8]
    /// The row that has the values: a stored one, or one of this batch.
    let stored: UInt64?
    let isLate: Bool
  }

  /// The values of a row, with the relationships and derived attributes of constraints.
  private func encoded(_ row: BatchRow) throws -> [UInt8] {
    var values = row.values
    if !constrainedLinks.isEmpty || !derivations.isEmpty {
      for (relationship, references) in row.links where !relationship.isToMany {
        guard let reference = references.first, let key = try targets.key(of: reference, relationship) else {
          continue
        }
        values[relationship.slot] = .object(writer.identifier(relationship.destinationEntity, key))
      }
    }
    let plain = entity.newRow(values)
    guard !derivations.isEmpty else { return plain }
    try writer.transaction.writeEntries()
    try plain.withUnsafeBytes { bytes in
      for derivation in derivations {
        values[derivation.slot] = try derivation.value(
          of: RowView(unchecked: bytes), 0, in: writer.transaction, now: Date())
      }
    }
    return entity.newRow(values)
  }

  private func claims(of row: [UInt8]) throws -> [Claim] {
    try row.withUnsafeBytes { bytes in
      let view = RowView(unchecked: bytes)
      return try constraints.compactMap { index in
        guard let whole = IndexKey.entry(index, view, 0) else { return nil }
        let entry = Array(whole.dropLast(IndexKey.keySize))
        let isLate = lateConstraints.contains(index.number)
        return Claim(
          entry: entry,
          stored: try writer.transaction.keys(in: index, like: view).first
            ?? (isLate ? lateClaims[entry] : nil),
          isLate: isLate)
      }
    }
  }

  /// The one row that has the unique values.
  private func only(_ keys: Set<UInt64>) throws -> UInt64 {
    guard let key = keys.first, keys.count == 1 else {
      throw HeartwoodError(
        .managedObjectConstraintMerge,
        "it has unique values of \(keys.count) different objects of \(entity.displayName) in the store, which cannot become one",
        objectIDs: keys.sorted().map { writer.identifier(entity, $0) })
    }
    guard let concrete = try writer.entity(entity.rootEntity, key), concrete.isKindOf(entity: entity) else {
      throw HeartwoodError(
        .managedObjectConstraintMerge,
        "it has unique values of an object in the store that is not \(entity.displayName)",
        objectIDs: [writer.identifier(entity, key)])
    }
    return key
  }
}

/// Destinations.
extension BatchInsertion {
  /// The keys of the destinations that exist. Those that may come later are noted.
  ///
  /// - Parameter isWhole: Whether they are set together, also if some come later; always so in an ordered relationship.
  private func keys(
    of references: [BatchReference], _ relationship: RelationshipDescription, of key: UInt64, _ index: Int,
    isWhole: Bool = false
  ) throws -> [UInt64] {
    var keys: [UInt64] = []
    var later: [BatchReference] = []
    for reference in references {
      if let target = try targets.key(of: reference, relationship) {
        keys.append(target)
      } else {
        guard relationship.destinationEntity.rootEntity === entity.rootEntity else {
          throw HeartwoodError.batchNoDestination(reference, relationship)
        }
        later.append(reference)
      }
    }
    if !later.isEmpty {
      // In an ordered relationship the order of all is kept.
      let isTogether = relationship.isOrdered || isWhole
      awaited.append((key, relationship, isTogether ? references : later, rowsBefore + index + 1, isWhole))
      if !relationship.isToMany { writer.awaited.insert(Awaited(slot: relationship.slot, key: key)) }
      if isTogether { return [] }
    }
    return keys
  }

  /// - Parameter isWhole: Whether a to-many relationship has no other destinations.
  private func set(
    _ relationship: RelationshipDescription, of key: UInt64, _ keys: [UInt64], isWhole: Bool
  ) throws {
    if !relationship.isToMany {
      try writer.assign(relationship, of: key, keys.first)
    } else if isWhole {
      try writer.replace(relationship, of: key, keys)
    } else {
      try writer.add(keys, to: relationship, of: key)
    }
  }

  /// Sets relationships to rows that came later.
  private func resolveAwaited() throws {
    guard !awaited.isEmpty else { return }
    try writer.transaction.writeEntries()
    writer.awaited = []
    for (key, relationship, references, row, isWhole) in awaited {
      do {
        let keys = try references.map { try targets.requiredKey(of: $0, relationship) }
        try set(relationship, of: key, keys, isWhole: isWhole)
      } catch let error as HeartwoodError {
        throw error.inRow(row)
      }
    }
    awaited = []
  }

  private func validateCounts() throws {
    for range in insertedKeys {
      for key in range { try writer.validateCounts(of: entity, key) }
    }
  }
}

extension BatchRow {
  /// Takes the values of another row; keeps what it does not give, unless all is replaced.
  ///
  /// - Parameter replacingLinks: Whether the destinations of a to-many relationship are replaced, too.
  fileprivate mutating func take(_ other: BatchRow, replacing: Bool, replacingLinks: Bool) {
    if replacing {
      (values, madeSlots) = (other.values, other.madeSlots)
    } else {
      for (slot, value) in other.given.values.enumerated() where value != nil {
        values[slot] = value
        madeSlots.removeAll { $0 == slot }
      }
    }
    for link in other.links {
      if let same = links.firstIndex(where: { $0.relationship === link.relationship }) {
        let adds = link.relationship.isToMany && !replacingLinks
        links[same].targets = adds ? links[same].targets + link.targets : link.targets
      } else {
        links.append(link)
      }
    }
  }
}

extension HeartwoodError {
  static func batchNoDestination(
    _ reference: BatchReference, _ relationship: RelationshipDescription
  ) -> HeartwoodError {
    var named = "it"
    if case .unique(let index, let values) = reference {
      named = zip(index.propertyNames, values).map { "\($0) = \($1)" }.joined(separator: ", ")
    }
    return HeartwoodError(
      .managedObjectReferentialIntegrity,
      "\(relationship.displayName) cannot be set: there is no \(relationship.destinationEntity.displayName) with \(named)",
      property: relationship.name)
  }
}
