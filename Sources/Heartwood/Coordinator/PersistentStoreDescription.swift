import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// The location of a store and the options to open it with.
///
/// Set the options before the store is added; later changes have no effect.
public final class PersistentStoreDescription {
  /// The folder of the store. `/dev/null` means a store in memory, which no other process sees and which is deleted when it
  /// is closed.
  public var url: URL?

  /// The kind of store: `log` on disk, or `inMemory`.
  public var type = PersistentStore.StoreType.log

  /// Whether the store is opened read-only: a save throws, and nothing in the folder is changed.
  public var isReadOnly = false

  /// Whether a missing store is created. With false, opening a missing store throws.
  public var createsStore = true

  /// Whether an object graph may be created in a store that contains keys and values of an `Engine`, or that is marked for
  /// other content. With false, such a store is refused and nothing is written to it.
  public var acceptsOtherContent = false

  /// When a save is safe from a power failure.
  public var durability = Durability.full

  /// Whether files are read by system calls instead of memory maps. A failing disk then causes errors instead of ending the
  /// process. Slower.
  public var isBuffered = false

  /// Whether `Notification.Name.persistentStoreRemoteChange` is posted when this process or another one saves to the store.
  /// Uses one waiting thread while the store is open.
  public var postsRemoteChangeNotifications = false

  /// Whether the history of each save names the program: `PersistentHistoryTransaction.bundleID` and `processID`.
  public var recordsProgramInHistory = true

  /// The file system of the folder: by default this machine's; tests can set a simulated one.
  public var fileSystem: any FileSystem = PosixFileSystem()

  /// Further options of the engine: sizes, worker, clock and random numbers; nil for the defaults. Tests that must be
  /// reproducible set their own.
  public var engineOptions: EngineOptions?

  /// A description of the store in this folder, with default options.
  public init(url: URL) { self.url = url }

  /// Where the store is: a store in memory is nowhere else than at `/dev/null`, whatever its URL.
  var place: URL? { type == .inMemory ? URL(fileURLWithPath: "/dev/null") : url }

  /// A description of a store in memory.
  public init() { url = URL(fileURLWithPath: "/dev/null") }
}

extension PersistentStoreDescription: CustomStringConvertible {
  /// The kind and the location.
  public var description: String { "\(type.rawValue) store at \(url?.path ?? "no place")" }
}
