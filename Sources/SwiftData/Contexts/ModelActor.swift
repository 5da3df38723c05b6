import Dispatch
import Heartwood
import HeartwoodBytes
import HeartwoodFiles

/// An actor that works with models on a context of its own. `@ModelActor` makes an actor one.
public protocol ModelActor: Actor {
  /// The container.
  nonisolated var modelContainer: ModelContainer { get }
  /// The executor of the actor's jobs.
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  /// The context of the actor.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// Runs the actor's jobs on the context's queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    if let serial = modelExecutor as? any SerialModelExecutor { return serial.asUnownedSerialExecutor() }
    programError("the executor of a model actor is a SerialModelExecutor")
  }

  /// The model of an identifier; nil if it is of another class, or if there is no row.
  public subscript<T: PersistentModel>(id: PersistentIdentifier, as type: T.Type) -> T? {
    guard let model = modelContext.model(for: id) as? T, let object = model._$storage.object else {
      return nil
    }
    // One that is known to the context may have been deleted by others.
    guard object.objectID.isTemporaryID || modelContext.objects.hasRow(of: object) else { return nil }
    return model
  }
}

/// An executor that runs jobs with a context.
public protocol ModelExecutor: Executor {
  /// The context.
  var modelContext: ModelContext { get }
}

/// An executor that runs jobs with a context one after the other.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// Runs the jobs of an actor on a queue of its own.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
  /// The context. It is used by the actor's jobs only, which run one after the other.
  public let modelContext: ModelContext
  private let queue = DispatchQueue(label: "SwiftData model actor")

  /// An executor for a context that nothing else uses.
  public init(modelContext: ModelContext) { self.modelContext = modelContext }

  /// Runs a job on the queue, after which the context may save by itself.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { [self] in
      job.runSynchronously(on: executor)
      modelContext.endJob()
    }
  }

  /// The executor, as actors have it.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
