import Foundation

/// The servers that only read, and how far they must be to be read.
///
/// A replica is read if it has everything that this store has committed, and what the primary had at a moment that is not longer ago than the bound. The
/// primary is asked for its position now and then; a replica says its own in the same round trip in which it reads.
final class PostgresReplicas: @unchecked Sendable {
  /// The statement that reads the position of the primary in its log.
  static let position = "SELECT pg_current_wal_insert_lsn()::text"

  private struct Replica {
    let pool: PostgresPool
    /// When it is tried again after it could not be read.
    var resting = 0.0
  }

  private let lock = NSLock()
  private var replicas: [Replica]
  private var next = 0
  private let primary: PostgresPool
  private let bound: Double
  /// The position of the last commit of this store.
  private var committed: UInt64 = 0
  /// Positions of the primary, with moments at which it had not come further.
  private var samples: [(moment: Double, position: UInt64)] = []
  /// How long a replica that could not be read is not tried, in seconds.
  private static let rest = 2.0

  init(_ address: PostgresAddress, _ primary: PostgresPool) {
    self.primary = primary
    bound = address.replicaLag
    replicas = address.replicas.map { place in
      // A lock of a replica does not keep a migration of the primary away: the model is checked by each read.
      Replica(pool: PostgresPool(address.ofReplica(place)) { _, _ in })
    }
  }

  /// Notes the position of the primary's log after a commit of this store.
  func noteCommit(_ position: String) {
    guard let position = Self.number(position) else { return }
    lock.withLock { committed = max(committed, position) }
  }

  /// Notes that this store has committed something, at a position that it was not told: the primary is asked for a later one before the next read.
  func noteCommitOfUnknownPosition() { lock.withLock { samples = [] } }

  /// The rows of a statement, and the digest of the model in the same snapshot or a later one; nil if no replica may be read.
  ///
  /// - Throws: `CancellationError`; `PostgresFailure` of a time limit, or if the primary cannot be asked for its position.
  func query(
    _ sql: String, _ parameters: [PostgresParameter], digest: String, isCancelled: (() -> Bool)?
  ) throws -> (rows: PostgresRows, digest: PostgresRows)? {
    for _ in 0..<replicas.count {
      guard let (place, pool) = choose() else { return nil }
      let wanted = Self.text(try requiredPosition())
      do {
        let found = try pool.withConnection(retries: true) { connection in
          try connection.cancelling(when: isCancelled) {
            try connection.queryAll([
              (
                "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= $1::text::pg_lsn",
                [.text(wanted)]
              ), (sql, parameters), (digest, []),
            ])
          }
        }
        if found[0].bytes(0, 0).first == 1 { return (found[1], found[2]) }
        // It is behind: the others may not be.
      } catch let failure as PostgresFailure where !failure.isTimeLimit {
        // It is gone, or replays what the statement reads.
        if failure.isConnectionLost { rest(place) }
      }
    }
    return nil
  }

  private func choose() -> (Int, PostgresPool)? {
    lock.withLock {
      let now = PostgresBackoff.now
      for _ in replicas.indices {
        next = (next + 1) % replicas.count
        if replicas[next].resting <= now { return (next, replicas[next].pool) }
      }
      return nil
    }
  }

  private func rest(_ place: Int) {
    lock.withLock { replicas[place].resting = PostgresBackoff.now + Self.rest }
  }

  /// The position that a replica must have replayed.
  private func requiredPosition() throws -> UInt64 {
    func known() -> UInt64? {
      lock.withLock {
        let now = PostgresBackoff.now
        samples.removeAll { $0.moment < now - bound }
        // One in time before the last one is too old.
        guard let first = samples.first, let last = samples.last, last.moment >= now - bound / 4 else {
          return nil
        }
        return max(first.position, committed)
      }
    }
    if let position = known() { return position }
    let moment = PostgresBackoff.now
    let rows = try primary.withConnection(retries: true) { try $0.query(Self.position) }
    let position = Self.number(rows.text(0, 0)) ?? .max
    return lock.withLock {
      samples.append((moment, position))
      samples.sort { $0.moment < $1.moment }
      return max(samples.first?.position ?? position, committed)
    }
  }

  func close() {
    for replica in lock.withLock({ replicas }) { replica.pool.close() }
  }

  /// The number of a position such as `16/B374D848`.
  static func number(_ text: String) -> UInt64? {
    let parts = text.split(separator: "/").map { UInt64($0, radix: 16) }
    guard parts.count == 2, let high = parts[0], let low = parts[1] else { return nil }
    return high << 32 | low
  }

  static func text(_ position: UInt64) -> String {
    "\(String(position >> 32, radix: 16))/\(String(position & 0xFFFF_FFFF, radix: 16))"
  }
}
