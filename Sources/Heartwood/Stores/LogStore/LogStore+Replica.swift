import Foundation
import HeartwoodBytes

extension StoreReading {
  /// The store's record of its copies; that of a store which has exchanged nothing if there is no record.
  func replica() throws -> ReplicaRecord {
    let value = try KeySpace.replicaKey.withUnsafeBytes { try reader.pointer(of: $0) }
    return try value.map { try ReplicaRecord(decoding: $0) } ?? ReplicaRecord(first: identity.uuid ?? UUID())
  }

  /// The number of the newest transaction with a history; 0 if there is none.
  func newestHistory() throws -> UInt64 { try number(KeySpace.newestHistoryKey) ?? 0 }

  /// The number of the last transaction that other copies have to know: one with a history, or one that has only noted when something was changed.
  func changeSetPosition(_ replica: ReplicaRecord) throws -> UInt64 {
    max(try newestHistory(), replica.lineages[replica.own].number)
  }

  /// The number of a family in keys, which a migration leaves as it is.
  private func keyNumber(ofRoot number: UInt16) -> UInt16 {
    schema.rootEntities.first { $0.number == number }.map(schema.keyNumber) ?? number
  }

  func stampKey(_ key: StampKey) -> [UInt8] {
    var key = key
    key.address = RowAddress(root: keyNumber(ofRoot: key.address.root), key: key.address.key)
    return KeySpace.stampKey(key)
  }

  func foreignObjectKey(_ lineage: Int, _ root: UInt16, _ key: UInt64) -> [UInt8] {
    KeySpace.foreignObjectKey(UInt16(truncatingIfNeeded: lineage), keyNumber(ofRoot: root), key)
  }

  func foreignKeyKey(_ address: RowAddress) -> [UInt8] {
    KeySpace.foreignKeyKey(keyNumber(ofRoot: address.root), address.key)
  }

  /// The subject of a stamp of the store; nil for another key, and for an object of an entity that the model no longer has.
  func stampKey(of key: UnsafeRawBufferPointer) throws -> StampKey? {
    guard var stored = try KeySpace.stampedKey(of: key),
      let root = schema.rootEntities.first(where: { schema.keyNumber(of: $0) == stored.address.root })
    else { return nil }
    stored.address = RowAddress(root, stored.address.key)
    return stored
  }

  /// The lineage of an object that was inserted here.
  private func ownLineage(of address: RowAddress, _ replica: ReplicaRecord) -> UUID {
    replica.lineage(ofOwn: address.key, root: keyNumber(ofRoot: address.root))
  }

  /// Whether the store has given the key of an object to one.
  func hasGiven(_ address: RowAddress) throws -> Bool {
    try address.key < number(KeySpace.counterKey(keyNumber(ofRoot: address.root))) ?? 1
  }

  /// Calls `body` with the source, property and target of each link that has a stamp: those of an object, or of all objects of a family.
  func forEachStampedLink(
    of root: UInt16, _ key: UInt64? = nil, _ body: (RowAddress, UInt16, UInt64) throws -> Void
  ) throws {
    let all = KeySpace.head(KeySpace.stamp, keyNumber(ofRoot: root))
    let prefix = key.map { stampKey(StampKey(address: RowAddress(root: root, key: $0))) } ?? all
    try scan(.prefix(prefix)) { key, _ in
      guard let found = try stampKey(of: key), let property = found.property, let target = found.target
      else { return true }
      try body(found.address, property, target)
      return true
    }
  }

  /// The stamp that the store has for a key; nil if it has none.
  func storedStamp(_ key: StampKey, _ replica: ReplicaRecord) throws -> StoredStamp? {
    let value = try stampKey(key).withUnsafeBytes { try reader.pointer(of: $0) }
    return try value.map { try StoredStamp(decoding: $0, replica) }
  }

  /// The lineage of an object, and its key there.
  func origin(of address: RowAddress, _ replica: ReplicaRecord) throws -> (lineage: UUID, key: UInt64) {
    let value = try foreignKeyKey(address).withUnsafeBytes { try reader.pointer(of: $0) }
    guard let value else { return (ownLineage(of: address, replica), address.key) }
    guard value.count == 10 else { throw HeartwoodError.damagedStore("the origin of an object is damaged") }
    let place = Int(UInt16(littleEndian: value.loadUnaligned(fromByteOffset: 8, as: UInt16.self)))
    guard place < replica.lineages.count else {
      throw HeartwoodError.damagedStore("the origin of an object is damaged")
    }
    return (
      replica.lineages[place].identifier, UInt64(littleEndian: value.loadUnaligned(as: UInt64.self))
    )
  }

  /// The key here of an object of a lineage; nil if it has never been here.
  ///
  /// - Throws: `.persistentHistoryTokenExpired` for one of this store that it has never had: this is an older copy of it.
  func key(ofObject key: UInt64, root: UInt16, of lineage: UUID, _ replica: ReplicaRecord) throws -> UInt64? {
    guard let place = replica.lineages.firstIndex(where: { $0.identifier == lineage }) else { return nil }
    if let number = try number(foreignObjectKey(place, root, key)) { return number }
    let address = RowAddress(root: root, key: key)
    guard replica.lineages[place].firstKeys != nil, ownLineage(of: address, replica) == lineage else {
      return nil
    }
    guard try hasGiven(address) else {
      throw HeartwoodError.olderCopy(
        "the change set has the object \(key) of this store, which has never had it")
    }
    return key
  }

  /// The stamps of what this store has changed since the last ones that it has, from the history, and the clock after them.
  ///
  /// - Parameter first: The last transaction whose changes are left out.
  /// - Complexity: Linear in the history since then.
  func stampsSince(
    _ replica: ReplicaRecord, after first: UInt64 = 0
  ) throws -> (stamps: [StampKey: StoredStamp], clock: Int64) {
    var found: [StampKey: StoredStamp] = [:]
    var clock = replica.clock
    func advance(to nanoseconds: Int64) { clock = max(nanoseconds, clock == .min ? clock : clock + 1) }
    if first > replica.stamped {
      try historyTimes(after: replica.stamped, reversed: false) { number, nanoseconds in
        guard number <= first else { return false }
        advance(to: nanoseconds)
        return true
      }
    }
    try history(after: max(first, replica.stamped)) { record in
      advance(to: record.nanoseconds)
      let stamp = ChangeStamp(nanoseconds: clock, lineage: replica.ownLineage, number: record.number)
      for change in record.changes { stamps(of: change, stamp) { found[$0] = $1 } }
      return true
    }
    return (found.withoutDeletedObjects, clock)
  }

  func stamps(
    of change: HistoryChange, _ stamp: ChangeStamp, _ body: (StampKey, StoredStamp) -> Void
  ) {
    let address = RowAddress(change.entity, change.key)
    switch change.kind {
    case .insert: body(StampKey(address: address), StoredStamp(stamp: stamp))
    case .delete: body(StampKey(address: address), StoredStamp(stamp: stamp, isDeleted: true))
    case .update:
      let numbers = schema.entity(change.entity).propertyNumbers
      for slot in change.updatedSlots {
        body(StampKey(address: address, property: numbers[slot]), StoredStamp(stamp: stamp))
      }
      for link in change.links {
        let key = StampKey(address: address, property: numbers[link.slot], target: link.target)
        body(key, StoredStamp(stamp: stamp, isDeleted: !link.isAdded))
      }
    }
  }
}

extension [StampKey: StoredStamp] {
  /// Without those of values and links of deleted objects: if one comes back, it has what it comes back with.
  fileprivate var withoutDeletedObjects: Self {
    filter { $0.key.property == nil || self[StampKey(address: $0.key.address)]?.isDeleted != true }
  }
}

extension StoredStamp {
  /// time i64 · lineage's place u16 · number u64 · 1 for a delete u8
  func encoded(_ replica: inout ReplicaRecord) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(stamp.nanoseconds)
    writer.append(UInt16(truncatingIfNeeded: replica.place(of: stamp.lineage)))
    writer.append(stamp.number)
    writer.append(UInt8(isDeleted ? 1 : 0))
    return writer.withUnsafeBytes { Array($0) }
  }

  init(decoding bytes: UnsafeRawBufferPointer, _ replica: ReplicaRecord) throws {
    var reader = ByteReader(bytes)
    do {
      let (nanoseconds, place) = (try reader.readInt64(), Int(try reader.readUInt16()))
      let (number, flag) = (try reader.readUInt64(), try reader.readUInt8())
      guard place < replica.lineages.count, reader.remaining == 0 else {
        throw ByteReader.ShortInput(position: 0)
      }
      stamp = ChangeStamp(
        nanoseconds: nanoseconds, lineage: replica.lineages[place].identifier, number: number)
      isDeleted = flag != 0
    } catch {
      throw HeartwoodError.damagedStore("the stamp of a change is damaged")
    }
  }
}

extension LogStoreTransaction {
  /// Writes stamps and origins, and what is known of other lineages from now on. What the transaction changes beside the change set, such as links to
  /// deleted objects, is a change of this store.
  ///
  /// - Throws: `AppliedChanges.Overtaken` if another save has changed the same meanwhile.
  func note(_ applied: AppliedChanges) throws {
    var replica = try replica()
    var stamps: [StampKey: StoredStamp]
    (stamps, replica.clock) = try stampsSince(replica)
    let isOvertaken =
      replica.stamped > applied.generation
      || applied.stamps.keys.contains { stamps[$0].map { $0.stamp.number > applied.generation } ?? false }
    if isOvertaken { throw AppliedChanges.Overtaken() }
    stamps.merge(applied.stamps) { max($0, $1) }
    replica.clock = max(replica.clock, applied.clock)
    let number = reader.generation.rawValue + 1
    let own = ChangeStamp(
      nanoseconds: max(reader.time, replica.clock == .min ? .min : replica.clock + 1),
      lineage: replica.ownLineage,
      number: number)
    replica.clock = own.nanoseconds
    for change in changes {
      // An object that the set has brought back may be deleted with another one.
      self.stamps(of: change, own) { if applied.stamps[$0]?.isDeleted != $1.isDeleted { stamps[$0] = $1 } }
    }
    stamps.merge(applied.goneLinks) { $1 }
    for (key, isDeleted) in applied.own { stamps[key] = StoredStamp(stamp: own, isDeleted: isDeleted) }
    try put(stamps, &replica)
    for (address, origin) in applied.origins {
      let place = replica.place(of: origin.lineage)
      try put(foreignObjectKey(place, address.root, origin.key), KeySpace.value(address.key))
      let number = UInt16(truncatingIfNeeded: place).littleEndian
      try put(foreignKeyKey(address), KeySpace.value(origin.key) + withUnsafeBytes(of: number) { Array($0) })
    }
    replica.note(applied.known)
    if applied.hasNews { replica.lineages[replica.own].number = number }
    try put(replica, stampedThrough: number)
  }

  /// Begins a lineage: objects that are inserted from now on are of it.
  func beginLineage(_ identifier: UUID) throws {
    var replica = try replica()
    let stamps: [StampKey: StoredStamp]
    (stamps, replica.clock) = try stampsSince(replica)
    try put(stamps, &replica)
    let former = replica.own
    // The position of this store in its former lineage is its newest transaction.
    replica.lineages[former].number = try changeSetPosition(replica)
    var firstKeys: [UInt16: UInt64] = [:]
    for root in schema.rootEntities {
      firstKeys[schema.keyNumber(of: root)] = try number(KeySpace.counterKey(schema.keyNumber(of: root))) ?? 1
    }
    replica.lineages.append(ReplicaRecord.Lineage(identifier: identifier, number: 0, firstKeys: firstKeys))
    replica.own = replica.lineages.count - 1
    replica.start = reader.generation.rawValue
    try put(replica, stampedThrough: reader.generation.rawValue + 1)
  }

  /// Writes when the store's objects were changed, before the history that says so is deleted: other copies will ask.
  ///
  /// - Parameter number: The last transaction whose history is deleted.
  func keepStamps(through number: UInt64) throws {
    var replica = try replica()
    guard replica.stamped > 0, replica.stamped < number else { return }
    let stamps: [StampKey: StoredStamp]
    (stamps, replica.clock) = try stampsSince(replica)
    try put(stamps, &replica)
    try put(replica, stampedThrough: newestHistory())
  }

  private func put(_ stamps: [StampKey: StoredStamp], _ replica: inout ReplicaRecord) throws {
    for (key, stamp) in stamps.withoutDeletedObjects {
      if key.property == nil, stamp.isDeleted { _ = try reader.deleteRange(.prefix(stampKey(key))) }
      try put(stampKey(key), stamp.encoded(&replica))
    }
  }

  /// Writes what is known of other copies. History that has no stamps yet is kept as for a consumer.
  private func put(_ replica: ReplicaRecord, stampedThrough number: UInt64) throws {
    var replica = replica
    replica.stamped = number
    try put(KeySpace.replicaKey, replica.encoded())
    let name = ConsumerRecord.changeSets
    let lagLimit = try consumer(name)?.lagLimit ?? ConsumerRecord.defaultLagLimit
    let record = ConsumerRecord(
      transaction: number, nanoseconds: nil, savedAt: reader.time, lagLimit: lagLimit)
    try put(KeySpace.consumerKey(name), record.encoded())
  }
}
