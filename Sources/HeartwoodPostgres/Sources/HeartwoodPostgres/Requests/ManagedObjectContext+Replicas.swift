import Foundation
import Heartwood

/// The contexts that read replicas.
private final class ReplicaReaders: @unchecked Sendable {
  static let shared = ReplicaReaders()

  private final class Reader {
    weak var context: ManagedObjectContext?
    init(_ context: ManagedObjectContext) { self.context = context }
  }

  private let lock = NSLock()
  private var readers: [ObjectIdentifier: Reader] = [:]

  func contains(_ context: ManagedObjectContext) -> Bool {
    lock.withLock { readers[ObjectIdentifier(context)]?.context === context }
  }

  func set(_ context: ManagedObjectContext, _ reads: Bool) {
    lock.withLock {
      readers = readers.filter { $0.value.context != nil }
      readers[ObjectIdentifier(context)] = reads ? Reader(context) : nil
    }
  }
}

extension ManagedObjectContext {
  /// Whether fetches, faults and relationships of the context are read from the replicas of a ``PostgresStore``, which its URL names as `replicas`. False by
  /// default.
  ///
  /// They may be older than those of the primary, by `replica_lag` at most, and have what this process has saved. A context with unsaved
  /// changes reads the primary, and a save compares with it: an object that was read too old is a conflict.
  public var readsReplicas: Bool {
    get { ReplicaReaders.shared.contains(self) }
    set { ReplicaReaders.shared.set(self, newValue) }
  }
}
