/// The entities whose attributes the predicates of history requests may test. No store has objects of them.
extension PersistentHistoryTransaction {
  /// The entity of transactions.
  @_disfavoredOverload public static var entityDescription: EntityDescription {
    HistoryEntities.shared.transaction
  }

  /// The entity of transactions.
  ///
  /// - Parameter context: Has no effect: the entity is the same for all contexts.
  public static func entityDescription(with context: ManagedObjectContext) -> EntityDescription? {
    entityDescription
  }

  /// A request for transactions, to be given a predicate and to `PersistentHistoryChangeRequest.fetchHistory(withFetchRequest:)`.
  public static var fetchRequest: FetchRequest<ManagedObject> {
    FetchRequest(entityName: entityDescription.displayName)
  }
}

extension PersistentHistoryChange {
  /// The entity of changes.
  @_disfavoredOverload public static var entityDescription: EntityDescription {
    HistoryEntities.shared.change
  }

  /// The entity of changes.
  ///
  /// - Parameter context: Has no effect: the entity is the same for all contexts.
  public static func entityDescription(with context: ManagedObjectContext) -> EntityDescription? {
    entityDescription
  }

  /// A request for changes, to be given a predicate and to `PersistentHistoryChangeRequest.fetchHistory(withFetchRequest:)`.
  public static var fetchRequest: FetchRequest<ManagedObject> {
    FetchRequest(entityName: entityDescription.displayName)
  }
}

extension PersistentHistoryChangeRequest {
  /// A request for the transactions or changes that satisfy a predicate.
  ///
  /// - Parameter request: `PersistentHistoryTransaction.fetchRequest` or `PersistentHistoryChange.fetchRequest` with a predicate.
  ///   Its other properties have no effect.
  /// - Throws: `.coreData` for a request of another entity.
  public static func fetchHistory(
    withFetchRequest request: FetchRequest<ManagedObject>
  ) throws -> PersistentHistoryChangeRequest {
    let history = fetchHistory(after: nil as PersistentHistoryToken?)
    switch request.entityName {
    case PersistentHistoryTransaction.entityDescription.name: history.transactionPredicate = request.predicate
    case PersistentHistoryChange.entityDescription.name: history.changePredicate = request.predicate
    default:
      throw HeartwoodError(
        .coreData,
        "the history has no entity \(request.entityName ?? "without a name"): begin with the fetchRequest of "
          + "PersistentHistoryTransaction or PersistentHistoryChange")
    }
    return history
  }
}
