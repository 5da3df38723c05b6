import HeartwoodBytes

/// How far a consumer of the history has come, as a store has it.
///
/// ```
/// format u8 (1) · number of the last transaction it has seen varint · that one's time in the history i64, or the least number for none
/// time of this record i64 · most transactions that are kept for it varint
/// ```
struct ConsumerRecord: Sendable, Equatable {
  /// The number of the last transaction that the consumer has seen.
  var transaction: UInt64
  /// The time in the history of that transaction, in nanoseconds since 1970; nil if it has none.
  var nanoseconds: Int64?
  /// When the position was saved, in nanoseconds since 1970.
  var savedAt: Int64
  /// How many transactions retention keeps for the consumer at most.
  var lagLimit: UInt64

  static let defaultLagLimit: UInt64 = 1_000_000
  /// The name under which a store that exchanges change sets is a consumer of its own history.
  static let changeSets = "change sets"
}

extension ConsumerRecord {
  private static let format: UInt8 = 1
  private static let noTime = Int64.min

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.appendVarint(transaction)
    writer.append(nanoseconds ?? Self.noTime)
    writer.append(savedAt)
    writer.appendVarint(lagLimit)
    return writer.withUnsafeBytes { Array($0) }
  }

  /// - Throws: `.persistentStoreDamaged` if the bytes are no record.
  init(decoding bytes: UnsafeRawBufferPointer, of name: String) throws(HeartwoodError) {
    func damaged(_ what: String) -> HeartwoodError {
      .damagedStore("the position of the consumer \"\(name)\" is damaged: \(what)")
    }
    do {
      var reader = ByteReader(bytes)
      guard try reader.readUInt8() == Self.format else { throw damaged("its format is not known") }
      transaction = try reader.readVarint()
      let time = try reader.readInt64()
      nanoseconds = time == Self.noTime ? nil : time
      savedAt = try reader.readInt64()
      lagLimit = try reader.readVarint()
      guard reader.remaining == 0 else { throw damaged("it has extra bytes at its end") }
    } catch let error as HeartwoodError {
      throw error
    } catch {
      throw damaged("it ends too early")
    }
  }
}

/// The ends of a store's history when a record of a consumer is changed.
struct HistoryEnds {
  /// The number of the newest transaction.
  let newest: UInt64
  /// The number of the newest transaction whose history is deleted.
  let deleted: UInt64
  /// The time, in nanoseconds since 1970.
  let time: Int64
}

extension ConsumerRecord {
  /// The record after a step.
  ///
  /// - Throws: `.persistentStoreSaveConflicts` if the consumer is somewhere else by now.
  func advanced(by step: ConsumerStep, at time: Int64) throws(HeartwoodError) -> ConsumerRecord {
    guard transaction == step.from else {
      throw HeartwoodError(
        .persistentStoreSaveConflicts,
        "the consumer \"\(step.name)\" is at transaction \(transaction) by now, and the save completes its work since \(step.from): "
          + "another process or task has done the same work; roll back, and take the next batch")
    }
    return ConsumerRecord(
      transaction: step.transaction, nanoseconds: step.nanoseconds, savedAt: time, lagLimit: lagLimit)
  }
}

/// A position that is saved with a transaction: only if the consumer is where it was when the transactions up to there were read.
struct ConsumerStep: Sendable, Equatable {
  /// The identifier of the store.
  let storeID: String
  let name: String
  /// The number of the last transaction before those that were read.
  let from: UInt64
  /// The last transaction that was read.
  let transaction: UInt64
  let nanoseconds: Int64?
}

extension HeartwoodError {
  static func unknownConsumer(_ name: String) -> HeartwoodError {
    HeartwoodError(
      .persistentHistoryTokenExpired,
      "the store has no consumer \"\(name)\" any more: it was unregistered, or the store was replaced; register it again, and read "
        + "what it needs anew")
  }
}
