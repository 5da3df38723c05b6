import HeartwoodBytes

/// An actor that runs on the queue of a context, so that its methods use the context and its objects without closures.
///
/// ```swift
/// actor Importer: ModelActor {
///   let modelExecutor: ContextExecutor
///   init(_ container: PersistentContainer) { modelExecutor = ContextExecutor(container.newBackgroundContext()) }
///
///   func add(_ name: String) throws -> ManagedObjectID {
///     let country = Country(context: modelContext)
///     country.name = name
///     try modelContext.save()
///     return country.objectID
///   }
/// }
/// ```
///
/// Managed objects are not `Sendable`, so that the compiler keeps them inside of the actor; identifiers and snapshots may
/// leave it. Pending changes are processed at each suspension and at the end of each method.
public protocol ModelActor: Actor {
  /// The executor of the actor's context.
  nonisolated var modelExecutor: ContextExecutor { get }
}

extension ModelActor {
  /// The executor that runs the actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { modelExecutor.asUnownedSerialExecutor() }

  /// The context of the actor.
  public var modelContext: ManagedObjectContext { modelExecutor.modelContext }

  /// The object with an identifier, if it is of the class; nil otherwise.
  ///
  /// A fault is made without reading the store, as `ManagedObjectContext.object(with:)` does.
  public subscript<Object: ManagedObject>(id: ManagedObjectID, as type: Object.Type) -> Object? {
    modelContext.object(with: id) as? Object
  }
}

/// Runs the jobs of an actor on the queue of a context, each as an event of the context.
public final class ContextExecutor: SerialExecutor {
  /// The context. Use it in the actor only.
  public let modelContext: ManagedObjectContext

  /// An executor on a context's queue.
  public init(_ modelContext: ManagedObjectContext) { self.modelContext = modelContext }

  /// Schedules a job of the actor.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    modelContext.enqueue { [modelContext] in
      modelContext.asEvent { job.runSynchronously(on: executor) }
    }
  }

  /// This executor.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Ends the program unless the caller is on the context's queue.
  public func checkIsolated() {
    guard modelContext.isOnQueue else {
      programError("the caller is not on the queue of the actor's context")
    }
  }
}
