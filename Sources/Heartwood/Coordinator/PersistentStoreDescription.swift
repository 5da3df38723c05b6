import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// The location of a store and the options to open it with.
///
/// Set the options before the store is added; later changes have no effect. A description may be passed to other threads, but is
/// not changed by several at a time.
public final class PersistentStoreDescription: @unchecked Sendable {
  /// The folder of the store. `/dev/null`, also with a name below it, means a store in memory, which nothing else sees and which is
  /// deleted when it is closed.
  public var url: URL?

  /// The configuration of the model whose entities the store has; nil for all entities.
  public var configuration: String?

  /// The kind of store: `log` in a folder, `inMemory`, `binary`, `json` or `xml` in one file, or one of a class of the program.
  public var type = PersistentStore.StoreType.log

  /// Whether the store is opened read-only: a save throws, and nothing in the folder is changed.
  public var isReadOnly = false

  /// Seconds to wait at opening and at each save while another process or engine holds the store; then the error is thrown:
  /// `.persistentStoreTimeout` at opening. At least 0, which means not to wait. By default 5, or what `engineOptions` says.
  public var timeout: TimeInterval {
    get { givenTimeout ?? engineOptions?.busyTimeout ?? 5 }
    set { givenTimeout = newValue }
  }
  /// Nil until one is set.
  var givenTimeout: TimeInterval?

  /// Whether `loadPersistentStores` and `addPersistentStore(with:completionHandler:)` return at once and open the store on another thread.
  public var shouldAddStoreAsynchronously = false

  /// Options by key that no property takes. Opening refuses them.
  var refusedOptions: PersistentStore.Options = [:]

  /// Whether a missing store is created. With false, opening a missing store throws.
  public var createsStore = true

  /// Whether an object graph may be created in a store that contains keys and values of an `Engine`, or that is marked for
  /// other content. With false, such a store is refused and nothing is written to it.
  public var acceptsOtherContent = false

  /// When a save is safe from a power failure.
  public var durability = Durability.full

  /// Whether files are read by system calls instead of memory maps. A failing disk then causes errors instead of ending the process. Slower.
  public var isBuffered = false

  /// Whether `Notification.Name.persistentStoreRemoteChange` is posted when this process or another one saves to the store.
  /// Uses one waiting thread while the store is open.
  public var postsRemoteChangeNotifications = false

  /// Whether saves are recorded in the history.
  ///
  /// A store that has a history refuses to be opened without: delete the history first, with
  /// `PersistentHistoryChangeRequest.deleteHistory(before:)`. If another coordinator records a save meanwhile, this one's
  /// later saves are recorded too. History tokens from before a save that was not recorded have expired. Contexts do not follow
  /// the saves of other coordinators that are not recorded.
  public var tracksHistory = true

  /// Which history saves of this coordinator delete again; nil, the default, for none: it is deleted by requests only, see
  /// `PersistentHistoryChangeRequest`.
  public var historyRetention: HistoryRetention?

  /// Whether the history of each save names the program: `PersistentHistoryTransaction.bundleID` and `processID`.
  public var recordsProgramInHistory = true

  /// Whether a store that was written with another model is migrated when it is opened. With false, opening it throws
  /// `.persistentStoreIncompatibleVersionHash`.
  public var shouldMigrateStoreAutomatically = true

  /// Whether a store may be migrated to a model that it had before. With false, opening it throws
  /// `.stagedMigrationBackwardMigration`, so that an earlier version of a program does not delete what a later one has added. A new
  /// version whose model is the same as an earlier one needs a `versionHashModifier`, or true.
  public var allowsMigrationToFormerModel = false

  /// Whether the mapping of a migration is inferred from the two models where there is no other. With false, opening a store of
  /// another model throws `.migrationMissingMappingModel`.
  public var shouldInferMappingModelAutomatically = true

  /// Whether a migration leaves the rows whose layout changes as they are: they are converted when they are read, and
  /// `PersistentStoreCoordinator.finishDeferredLightweightMigration()` writes them again. With false, opening the store writes them
  /// again. Core Data's option is false by default, and defers other work.
  public var defersLightweightMigration = true

  /// Whether rows that a migration has left in their former layout are written again in the background once the store is open. See
  /// `PersistentStoreCoordinator.finishDeferredLightweightMigration(completion:)`.
  public var finishesDeferredMigrationInBackground = false

  /// Gets what each fetch did: its plan, how many rows it read and returned, and its time; nil for standard error if the environment variable
  /// `HEARTWOOD_FETCH_DEBUG` is 1, or 2 for the steps of plans on lines of their own, and for none otherwise. It is called on the thread that
  /// fetches. Counting and taking the time make fetches slower.
  public var fetchLog: (@Sendable (ExecutedFetch) -> Void)?

  /// Gets what contexts and the store do: saves, conflicts, fetches, faults, merges, and the work of the engine; nil for nothing, which costs
  /// next to nothing. Where a coordinator has several stores, that of the first gets what contexts do.
  public var observer: StoreObserver?

  /// Gets a line for each step of a migration, with its time; nil for standard error if the environment variable
  /// `HEARTWOOD_MIGRATION_DEBUG` is 1, and for none otherwise. It is called on the thread that migrates, in its
  /// transaction: it must not wait for a save of the store.
  public var migrationLog: (@Sendable (String) -> Void)?
  /// Gets a line for each thing that opening the store has found odd, and that is no error, such as a forgotten inverse in the declarations of the
  /// model's classes; nil for standard error, where each line is written once in the process. It is called on the thread that opens the store.
  public var noteLog: (@Sendable (String) -> Void)?
  /// Is notified after every thousand rows of a migration how far the step is that is done; called as `migrationLog`.
  public var migrationProgress: (@Sendable (MigrationProgress) -> Void)?

  /// How a store of another model is migrated.
  var migration = MigrationChoice()

  /// The engine of a store in memory that has something already: for one opening, so that copies do not have it.
  var filled: Engine?

  /// Whether the store is opened for a handler of a stage.
  var isInStage = false
  /// The entities that the store has of a stage's version; nil for those of `configuration`.
  var stageConfiguration: StoreConfiguration?
  /// Whether saves leave the writing of a store of a class that derives from `AtomicStore` to who has opened it.
  var defersWriting = false
  /// The stage whose handler has still to run after the migration that opening the store does; nil for none.
  var pendingStage: String?

  /// The file system of the folder: by default this machine's; tests can set a simulated one.
  public var fileSystem: any FileSystem = PosixFileSystem()

  /// Further options of the engine: sizes, worker, clock and random numbers; nil for the defaults. Tests that must be reproducible set their own.
  public var engineOptions: EngineOptions?

  /// A description of the store in this folder, with default options.
  public init(url: URL) { self.url = url }

  /// Where the store is: a store in memory is nowhere else than at `/dev/null`, whatever its URL.
  var place: URL? { type == .inMemory || url?.isOfMemory == true ? URL(fileURLWithPath: "/dev/null") : url }

  /// A description of a store in memory.
  public init() { url = URL(fileURLWithPath: "/dev/null") }
}

extension URL {
  /// Whether a store at this place is in memory: at `/dev/null`, or with a name below it.
  package var isOfMemory: Bool { path == "/dev/null" || path.hasPrefix("/dev/null/") }
}

/// How a store of another model is migrated, as the types of `Migration` say it, which are above coordinators: nil to infer it.
struct MigrationChoice {
  var mapping: AnyObject?
  var stages: AnyObject?
  var finder: Any?
}

extension PersistentStoreDescription: CustomStringConvertible {
  /// The kind and the location.
  public var description: String { "\(type.rawValue) store at \(url?.path ?? "no place")" }
}
