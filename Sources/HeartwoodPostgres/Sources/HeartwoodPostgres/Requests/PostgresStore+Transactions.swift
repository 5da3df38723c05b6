import Foundation
import Heartwood

/// Transactions: they are tried again where that is safe, and each leaves its identifier, by which its outcome is found out.
///
/// A row of `_heartwood_transaction` is written in the same round trip as the commit. It is what the outcome is read from, rather than the server's own
/// number of the transaction: after a failover, the new server gives the numbers that it has not seen to other transactions. To ask is to write the
/// same row as one of an aborted transaction: the server waits for the transaction if it still runs, refuses it if it comes later, and has the
/// answer only when as many servers have it as a commit needs.
extension PostgresStore {
  /// The outcome of a transaction.
  public enum Outcome: Sendable {
    /// It is in the database.
    case committed
    /// It is not in the database, and never will be.
    case aborted
    /// The database cannot be asked now, or has forgotten it: transactions are known for a day.
    case unknown
  }

  /// Asks the database whether a transaction was committed.
  ///
  /// If it still runs, the call waits for it. If it has not come to the database, it is refused from now on. A server is looked for as long as
  /// the URL's `reconnect_limit` says.
  ///
  /// - Parameter id: The identifier of a transaction of this store: that of an error.
  /// - Returns: The outcome; `.unknown` if no server answers, or if the identifier is older than a day.
  /// - Throws: `.persistentStoreOperation` if the database refuses the question.
  public func outcome(of id: PostgresTransactionID) throws -> Outcome {
    var backoff = PostgresBackoff(address.limits.reconnecting)
    let what = "the outcome of transaction \(id) was not told by \(address.text)"
    return try translating(.persistentStoreOperation, what) { try outcome(of: id, &backoff) }
  }

  /// How long transactions are known, in seconds, and how long their rows are kept: longer, as clocks differ.
  private static let memory = (known: 86_400.0, kept: 172_800.0)

  func outcome(of id: PostgresTransactionID, _ backoff: inout PostgresBackoff) throws -> Outcome {
    guard -id.date.timeIntervalSinceNow < Self.memory.known else { return .unknown }
    // A transaction that still runs is waited for as long as a server is.
    let milliseconds = max(1000, Int(backoff.left * 1000))
    while true {
      do {
        return try tryingAgain {
          try pool.withConnection(retries: true, &backoff) { connection in
            try connection.transaction(
              beginning: "\(address.beginning); SET LOCAL lock_timeout = \(milliseconds)"
            ) {
              // This row is committed only when other servers have it, and then they have what was committed before, too.
              let rows = try connection.query(
                "INSERT INTO \(schema.transactionTable) AS t (id, is_aborted) VALUES ($1::uuid, TRUE) "
                  + "ON CONFLICT (id) DO UPDATE SET is_aborted = t.is_aborted RETURNING is_aborted",
                [.uuid(id.uuid)])
              return rows.bytes(0, 0).first == 1 ? .aborted : .committed
            }
          }
        }
      } catch let commit as PostgresCommitFailure {
        guard commit.failure.leavesOutcomeOpen else { throw commit.failure }
        guard backoff.mayTryAgain() else { return .unknown }
      } catch let failure as PostgresFailure {
        guard failure.isConnectionLost || failure.isLockTimeout || failure.isTimeLimit else { throw failure }
        return .unknown
      }
    }
  }

  /// Runs the body in a transaction, in which the store's own reads take part.
  ///
  /// - Parameter repeats: As for `repeating(_:_:)`.
  /// - Throws: As `repeating(_:_:)`.
  func transaction<Result>(
    repeats: @autoclosure () -> Bool, _ body: (PostgresConnection) throws -> Result
  ) throws -> Result {
    let made: Result = try repeating(repeats) { id, backoff, result in
      try pool.apart {
        try pool.withConnection(retries: false, &backoff) { connection in
          try commit(id, connection, beginning: beginning, check: checkBeginning) {
            result = try pool.using(connection) { try body(connection) }
          }
        }
      }
    }
    pruneTransactions()
    return made
  }

  /// Runs the body in a transaction of a connection that leaves its identifier.
  func commit(
    _ id: PostgresTransactionID, _ connection: PostgresConnection, beginning: String,
    check: (PostgresRows) throws -> Void = { _ in }, _ body: () throws -> Void
  ) throws {
    try connection.transaction(
      beginning: beginning, ending: ending(id), check: check, committed: noteCommit, body)
  }

  /// Executes a transaction, and executes it again as a whole where nothing of it is in the database.
  ///
  /// - Parameters:
  ///   - repeats: Whether it may be executed again: if the server ends it to resolve a conflict with another one, and if the connection is lost.
  ///   - attempt: Executes it by its identifier (see `commit(_:_:beginning:check:_:)`), and sets the result before the commit.
  /// - Throws: The error of the attempt; `PostgresFailure`, of a transaction that is not in the database; `PostgresLostCommit`.
  func repeating<Result>(
    _ repeats: () -> Bool,
    _ attempt: (PostgresTransactionID, inout PostgresBackoff, inout Result?) throws -> Void
  ) throws -> Result {
    var conflicts = 1
    var backoff = PostgresBackoff(address.limits.reconnecting)
    while true {
      let id = PostgresTransactionID()
      var result: Result?
      do {
        try attempt(id, &backoff, &result)
        if let result { return result }
      } catch let commit as PostgresCommitFailure where commit.failure.leavesOutcomeOpen {
        let outcome = notesTransactions ? (try? outcome(of: id, &backoff)) ?? .unknown : .unknown
        switch (outcome, result) {
        case (.committed, let result?):
          replicas?.noteCommitOfUnknownPosition()
          return result
        case (.aborted, _):
          guard repeats(), backoff.mayTryAgain() else { throw commit.failure }
        default: throw PostgresLostCommit(transaction: id, description: "\(commit.failure)")
        }
      } catch {
        // The commit was not sent, or the server has refused it.
        let error = (error as? PostgresCommitFailure)?.failure ?? error
        guard let failure = PostgresFailure(causing: error), repeats() else { throw error }
        if failure.isConnectionLost {
          guard !failure.isTimeLimit, !failure.isPermanent, backoff.mayTryAgain() else { throw error }
        } else {
          guard failure.isSerializationFailure || failure.isLockTimeout, conflicts < address.limits.attempts
          else { throw error }
          // Another transaction had locked the same rows in another order; nothing of this one is there.
          PostgresBackoff.pause(after: conflicts)
          conflicts += 1
        }
      }
    }
  }

  /// Runs the body, and runs it again if another transaction was in the way.
  func tryingAgain<Result>(_ body: () throws -> Result) throws -> Result {
    var attempt = 1
    while true {
      do {
        return try body()
      } catch {
        let failure = (error as? PostgresCommitFailure)?.failure ?? error as? PostgresFailure
        guard let failure, failure.isSerializationFailure, attempt < address.limits.attempts else {
          throw error
        }
        PostgresBackoff.pause(after: attempt)
        attempt += 1
      }
    }
  }

  /// Runs the body in a transaction of a connection that sees one moment; in the current one if there is one.
  func reading<Result>(_ connection: PostgresConnection, _ body: () throws -> Result) throws -> Result {
    guard connection.isIdle else { return try body() }
    let lock = isHeldByMigration ? nil : PostgresSchemaLock(schema, address).statementsOfTransaction
    let beginning = "\(PostgresAddress.reading)\(lock.map { "; \($0)" } ?? "")"
    return try connection.transaction(beginning: beginning, check: checkBeginning, body)
  }

  /// The statements that begin a transaction.
  private var beginning: String {
    var statements = [address.beginning]
    if let limit = address.limits.lock {
      statements.append("SET LOCAL lock_timeout = \(max(1, Int(limit * 1000)))")
    }
    if !isHeldByMigration, let lock = PostgresSchemaLock(schema, address).statementsOfTransaction {
      statements.append(lock)
    }
    return statements.joined(separator: "; ")
  }

  /// Checks the answer to the statements that begin a transaction.
  private func checkBeginning(_ rows: PostgresRows) throws {
    guard !isHeldByMigration, PostgresSchemaLock(schema, address).isOfTransactions else { return }
    try checkModel(rows.count == 0 ? nil : rows.text(0, 0), pool.expectedModel)
  }

  /// The statements that commit a transaction, with its identifier.
  private func ending(_ id: PostgresTransactionID) -> String {
    var statements = ["COMMIT"]
    if notesTransactions {
      statements.insert("INSERT INTO \(schema.transactionTable) (id) VALUES ('\(id)')", at: 0)
    }
    if replicas != nil { statements.append(PostgresReplicas.position) }
    return statements.joined(separator: "; ")
  }

  private func noteCommit(_ rows: PostgresRows) {
    if let replicas, rows.count > 0 { replicas.noteCommit(rows.text(0, 0)) }
  }

  /// Deletes the rows of old transactions, now and then.
  private func pruneTransactions() {
    // If it fails, a later transaction does it.
    if notesTransactions, Int.random(in: 0..<500) == 0 { try? deleteOldTransactions() }
  }

  /// Deletes some rows of transactions that were made too long ago to be asked for.
  func deleteOldTransactions() throws {
    let oldest = PostgresTransactionID.first(at: Date(timeIntervalSinceNow: -Self.memory.kept))
    // Others may delete them, too.
    _ = try pool.withConnection(retries: false) { connection in
      try connection.query(
        "DELETE FROM \(schema.transactionTable) WHERE id IN (SELECT id FROM \(schema.transactionTable) "
          + "WHERE id < $1::uuid AND made < now() - interval '\(Int(Self.memory.kept)) s' ORDER BY id LIMIT 5000 FOR UPDATE SKIP LOCKED)",
        [.uuid(oldest.uuid)])
    }
  }

  /// The error of a failed transaction for the caller of a save or a batch.
  func transactionError(_ error: any Error, _ what: String) -> any Error {
    if let lost = error as? PostgresLostCommit {
      return HeartwoodError(
        .persistentStoreSave,
        "\(what): the connection was lost while the server committed it, so that it may be there: ask the store for the outcome of "
          + "transaction \(lost.transaction) before you save again: \(lost)", underlying: lost,
        isOutcomeUnknown: true)
    }
    guard let failure = error as? PostgresFailure else { return error }
    let code: HeartwoodError.Code
    let why: String
    if failure.isTimeLimit || failure.isLockTimeout {
      code = .persistentStoreTimeout
      why = "it has taken longer than a limit of the store, and nothing of it is there: "
    } else if failure.isConnectionLost {
      code = .persistentStoreSave
      why = "the connection to the server was lost, and nothing of it is there: "
    } else if failure.isSerializationFailure {
      code = .persistentStoreSaveConflicts
      why = "others have saved the same rows meanwhile; save again: "
    } else {
      (code, why) = (.persistentStoreSave, "")
    }
    return HeartwoodError(code, "\(what): \(why)\(failure)", underlying: failure)
  }
}
