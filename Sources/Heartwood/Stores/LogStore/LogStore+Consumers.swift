import HeartwoodEngine

extension StoreReading {
  /// The consumers that the store has, in the order of their names.
  func consumers() throws -> [(name: String, record: ConsumerRecord)] {
    var found: [(name: String, record: ConsumerRecord)] = []
    try scan(.prefix([KeySpace.consumer])) { key, value in
      let name = try KeySpace.consumerName(of: key)
      found.append((name, try ConsumerRecord(decoding: value, of: name)))
      return true
    }
    return found
  }

  /// The number of transactions with a history after one. O(log n)
  func historyCount(after number: UInt64) throws -> Int {
    guard number < .max else { return 0 }
    return try count(
      KeyRange(from: KeySpace.historyKey(number + 1), through: KeySpace.historyKey(.max)))
  }

  /// The record of a consumer; nil if the store has none of this name.
  func consumer(_ name: String) throws -> ConsumerRecord? {
    let value = try KeySpace.consumerKey(name).withUnsafeBytes { try reader.pointer(of: $0) }
    return try value.map { try ConsumerRecord(decoding: $0, of: name) }
  }
}

extension LogStoreTransaction {
  /// Writes the positions of consumers of this store.
  ///
  /// - Throws: `.persistentStoreSaveConflicts` if a consumer is somewhere else by now, or is not registered any more.
  func advanceConsumers(_ steps: [ConsumerStep]) throws {
    for step in steps where step.storeID == identity.text {
      guard let former = try consumer(step.name) else { throw HeartwoodError.unknownConsumer(step.name) }
      let record = try former.advanced(by: step, at: reader.time)
      try put(KeySpace.consumerKey(step.name), record.encoded())
    }
  }
}

extension LogStore {
  /// Changes the record of a consumer in a transaction of its own.
  ///
  /// - Parameter change: Gets the record, nil for a new consumer, and the ends of the history; returns the record to write, or nil to remove it.
  func changeConsumer(
    _ name: String, _ change: (ConsumerRecord?, HistoryEnds) throws -> ConsumerRecord?
  ) throws {
    try writeWithoutHistory("the consumer \"\(name)\" could not be changed") { transaction in
      let former = try transaction.consumer(name)
      let ends = HistoryEnds(
        newest: try transaction.number(KeySpace.newestHistoryKey) ?? 0,
        deleted: try transaction.number(KeySpace.deletedHistoryKey) ?? 0, time: transaction.reader.time)
      let record = try change(former, ends)
      guard record != former else { return }
      let key = KeySpace.consumerKey(name)
      if let record { try transaction.put(key, record.encoded()) } else { try transaction.delete(key) }
    }
  }
}

extension LogStoreTransaction {
  /// How many records a save deletes at most: more than it adds, so that a history which is too long becomes shorter.
  private static let mostDeleted = 8

  /// Deletes the oldest records that are beyond the limits, as far as no consumer needs them.
  func deleteHistory(_ retention: HistoryRetention, newest: HistoryRecord) throws {
    let all = try consumers().map(\.record)
    if retention.hasNoLimit, all.isEmpty { return }
    let waiting = try all.filter { try historyCount(after: $0.transaction) <= $0.lagLimit }
    let seen = waiting.map(\.transaction).min() ?? .max
    var total = retention.bytes == nil ? 0 : try historyBytes()
    _ = try deleteHistory(
      before: min(newest.number, seen == .max ? .max : seen + 1),
      keepingFrom: { record, bytes in
        let newerCount = retention.count == nil ? 0 : try historyCount(after: record.number)
        let isOver = retention.isOver(record, newest: newest, newerCount, total: total)
        if isOver == true { total -= min(total, UInt64(bytes)) }
        return isOver.map { !$0 }
      }, atMost: Self.mostDeleted)
    if retention.bytes != nil { try note(historyBytes: total, through: newest.number) }
  }

  /// The bytes of all history records. Only saves with a limit of them count, so that others pay nothing: what came since the last count is added, and
  /// all are counted if some were deleted since without it.
  private func historyBytes() throws -> UInt64 {
    let counted = try KeySpace.historyBytesKey.withUnsafeBytes { try reader.pointer(of: $0) }
      .map { try HistoryBytes(decoding: $0) }
    let deleted = try number(KeySpace.deletedHistoryKey) ?? 0
    let known = counted.flatMap { $0.deleted == deleted ? $0 : nil }
    var total = known?.bytes ?? 0
    let start = KeyRange.Bound(KeySpace.historyKey(known?.last ?? deleted), isInclusive: false)
    try scan(KeyRange(lower: start, upper: KeyRange.prefix([KeySpace.history]).upper)) { _, value in
      total += UInt64(value.count)
      return true
    }
    return total
  }

  private func note(historyBytes total: UInt64, through last: UInt64) throws {
    let counted = HistoryBytes(
      bytes: total, deleted: try number(KeySpace.deletedHistoryKey) ?? 0, last: last)
    try put(KeySpace.historyBytesKey, counted.encoded())
  }
}
