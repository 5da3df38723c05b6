import HeartwoodEngine

/// Something that contexts or their store have done, with how much and how long: for logs, counters and spans.
///
/// A `StoreObserver` gets them. Later versions may add cases.
public enum StoreEvent: Sendable {
  /// A context saved to the store, or could not.
  case saved(ExecutedSave)
  /// A save met values that others had saved meanwhile. Its merge policy resolves the conflicts, or the save fails.
  case conflicted(SaveConflicts)
  /// A fetch was executed.
  case fetched(ExecutedFetch)
  /// A property was read whose values were not in memory.
  case faulted(FiredFault)
  /// A context took over what others have saved.
  case merged(MergedChanges)
  /// An event of the store's engine. Only stores of type `log` and `inMemory` have one of their own.
  case engine(EngineEvent)

  /// How long it took; zero for conflicts, whose time is part of the save.
  public var duration: Duration {
    switch self {
    case .saved(let save): save.duration
    case .conflicted: .zero
    case .fetched(let fetch): fetch.duration
    case .faulted(let fault): fault.duration
    case .merged(let merge): merge.duration
    case .engine(let event): event.duration
    }
  }
}

/// A save of a context to its store.
public struct ExecutedSave: Sendable {
  /// The name of the context; nil if it has none.
  public let contextName: String?
  /// The author of the transaction; nil if there is none.
  public let author: String?
  /// How many objects were inserted; 0 if the save failed.
  public let inserted: Int
  /// How many objects were updated; 0 if the save failed.
  public let updated: Int
  /// How many objects were deleted; 0 if the save failed.
  public let deleted: Int
  /// From the call of `save()` until the context has what was written: with hooks, validation, conflicts and notifications.
  public let duration: Duration
  /// The error that the save threw; nil if it succeeded.
  public let failure: (any Error)?
}

/// The conflicts that one attempt of a save met.
public struct SaveConflicts: Hashable, Sendable {
  /// How many objects others had changed, deleted or linked since they were read.
  public let rows: Int
  /// How many values have to be unique, and are there already.
  public let constraints: Int
  /// The names of the objects' entities, in alphabetical order.
  public let entityNames: [String]
}

/// The reading of what an object did not have in memory.
public struct FiredFault: Hashable, Sendable {
  /// The entity of the object.
  public let entityName: String
  /// The to-many relationship whose destinations were read; nil if it was the object's own row.
  public let relationshipName: String?
  /// How long it took, with the rows of other objects that were read with it.
  public let duration: Duration
}

/// A merge of others' changes into a context.
public struct MergedChanges: Hashable, Sendable {
  /// The name of the context; nil if it has none.
  public let contextName: String?
  /// How many inserted objects it was notified of.
  public let inserted: Int
  /// How many updated objects it was notified of.
  public let updated: Int
  /// How many deleted objects it was notified of.
  public let deleted: Int
  /// How long it took.
  public let duration: Duration
}
