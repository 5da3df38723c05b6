import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Makes a store in a folder beside its place, and moves it there when it is whole: a crash leaves nothing at the place, or the whole store.
///
/// The folder that a crash leaves is removed when a store is made for the place again. Of two processes, one waits until the other is done.
struct StoreMaking {
  private let path: String
  private let timeout: Double
  private let fileSystem: any FileSystem

  /// - Parameters:
  ///   - path: The place of the store, where none is.
  ///   - description: The description that the store is made with.
  init(at path: String, _ description: PersistentStoreDescription) {
    self.path = path
    timeout = description.timeout
    fileSystem = description.fileSystem
  }

  /// - Parameters:
  ///   - prepare: Called when no other process makes a store for the place; throws if there is one.
  ///   - fill: Makes the store in the folder, and closes it.
  /// - Throws: `.persistentStoreTimeout` if another process makes a store there for all of the timeout; what `prepare` and `fill` throw.
  func run<Result>(_ prepare: () throws -> Void, _ fill: (URL) throws -> Result) throws -> Result {
    let lock = try PlaceLock.acquire(at: path, timeout: timeout, fileSystem)
    defer { lock.release() }
    try prepare()
    let beside = HiddenFolder(beside: URL(fileURLWithPath: path), "copying")
    try beside.remove(busyTimeout: 0, fileSystem)
    do {
      let result = try fill(beside.url)
      try fileSystem.putInPlace(beside.path, path)
      return result
    } catch {
      try? beside.remove(busyTimeout: 0, fileSystem)
      throw error
    }
  }
}

extension PersistentStoreCoordinator {
  /// Makes a store at a place where none is, and fills it. A crash, and an error of `fill`, leave nothing there.
  ///
  /// - Parameters:
  ///   - description: The place and the kind of the store, which comes with this library. The coordinator has no store of the place.
  ///   - fill: Gets the store, open in this coordinator, from which it is removed afterwards. Where it is meanwhile is not its place.
  /// - Throws: `.persistentStoreOperation` if a store is at the place; `.persistentStoreTimeout` if another process makes one there; the errors of
  ///   opening and saving; what `fill` throws.
  package func makeStore<Result>(
    with description: PersistentStoreDescription, _ fill: (PersistentStore) throws -> Result
  ) throws -> Result {
    guard let url = description.url else {
      throw HeartwoodError(.persistentStoreOpen, "a store on disk needs a URL: pass its place")
    }
    let made = PersistentStoreDescription(copying: description)
    (made.isReadOnly, made.createsStore) = (false, true)
    guard !url.isOfMemory else { return try filling(made, fill) }
    if let format = StoreFileFormat(rawValue: description.type.rawValue) {
      (made.type, made.url) = (.inMemory, URL(fileURLWithPath: "/dev/null"))
      return try filling(made) { store in
        let result = try fill(store)
        try store.contents.write(format, at: url, LogStoreOptions(description))
        return result
      }
    }
    let path = LogStore.path(of: url)
    // Closing makes durable what was saved.
    made.durability = .deferred
    return try StoreMaking(at: path, description).run {
      guard try Engine.containsStore(at: path, fileSystem: description.fileSystem) else { return }
      throw HeartwoodError(
        .persistentStoreOperation,
        "a store was made at \(path) meanwhile; choose another place, or remove it first")
    } _: { folder in
      made.url = folder
      return try filling(made, fill)
    }
  }

  private func filling<Result>(
    _ description: PersistentStoreDescription, _ fill: (PersistentStore) throws -> Result
  ) throws -> Result {
    let store = try addPersistentStore(with: description)
    let result: Result
    do {
      result = try fill(store)
    } catch {
      // The first error is the one to report.
      try? remove(store)
      throw error
    }
    try remove(store)
    return result
  }
}

extension FileSystem {
  /// Gives a folder the name of one beside it that is missing or has no store, durably.
  ///
  /// - Throws: `.exists` if a store is there, `.notAStore` if other things are.
  fileprivate func putInPlace(_ folder: String, _ place: String) throws {
    guard try !Engine.containsStore(at: place, fileSystem: self) else {
      throw EngineError(.exists, "a store was made here meanwhile; open it", file: place)
    }
    if isOnThisMachine {
      // Who waits for its files of coordination finds that the folder is another one.
      if FileManager.default.fileExists(atPath: place) { try FileManager.default.removeItem(atPath: place) }
      try FileManager.default.moveItem(atPath: folder, toPath: place)
    } else {
      if (try? openDirectory(place)) == nil { try createDirectory(place) }
      try exchangeDirectories(folder, place)
    }
    try openDirectory(URL(fileURLWithPath: place).deletingLastPathComponent().path).sync()
  }
}
