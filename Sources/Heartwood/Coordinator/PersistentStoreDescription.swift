import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Where a store is and how to open it.
///
/// Set what is needed before the store is added; later changes have no effect on it.
public final class PersistentStoreDescription {
  /// The folder of the store. `/dev/null` means a store in memory, which nobody else sees and which is
  /// gone when it is closed.
  public var url: URL?

  /// The kind of store. This version has one kind on disk, and the same one in memory.
  public var type = PersistentStore.StoreType.log

  /// Whether the store can be read only: saving throws, and nothing in the folder is changed.
  public var isReadOnly = false

  /// Whether a missing store is made. With false, opening what is not there throws.
  public var createsStore = true

  /// Whether a graph is begun in a store that holds keys and values of an `Engine`, or is marked to hold something
  /// else. Without it, such a store is refused and nothing is written to it.
  public var acceptsOtherContent = false

  /// When a save is safe against a power cut.
  public var durability = Durability.full

  /// Whether the store's files are read with reads instead of memory maps, so that a failing disk gives
  /// errors and does not end the process. Slower.
  public var isBuffered = false

  /// Whether `Notification.Name.persistentStoreRemoteChange` is posted when something is saved to the store, in this process
  /// or in another. A thread waits for it as long as the store is open.
  public var postsRemoteChangeNotifications = false

  /// Where the folder is: the files of this machine, unless a test brings a disk of its own.
  public var fileSystem: any FileSystem = PosixFileSystem()

  /// What else the engine is told: its sizes, its worker, its clock and its random numbers; nil for the usual.
  /// A test whose every run has to be the same brings its own.
  public var engineOptions: EngineOptions?

  /// A description of the store in this folder, with the usual choices.
  public init(url: URL) { self.url = url }

  /// A description of a store in memory.
  public init() { url = URL(fileURLWithPath: "/dev/null") }
}

extension PersistentStoreDescription: CustomStringConvertible {
  /// The kind and the place.
  public var description: String { "\(type.rawValue) store at \(url?.path ?? "no place")" }
}
