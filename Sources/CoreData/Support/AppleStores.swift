import Foundation
import Heartwood
import HeartwoodAppleStores

/// Stores of `NSSQLiteStoreType` that Core Data wrote on Apple's systems.
///
/// Where a program opens one, it is copied once: from `App.sqlite` to the folder `App.sqlite.heartwood` beside it, which is opened from then on.
/// The file, its log and what is beside it stay as they are, and are not read again. A store that is opened read-only is not copied.
enum AppleStores {
  /// The option that says whether a store is copied: `HeartwoodCopiesAppleStoreOption`.
  static func copies(_ options: [AnyHashable: Any]?) -> Bool {
    (options?[HeartwoodCopiesAppleStoreOption] as? NSNumber)?.boolValue ?? options?[
      HeartwoodCopiesAppleStoreOption] as? Bool ?? true
  }

  /// The place of the copy of the store at a place.
  static func copy(ofStoreAt url: URL) -> URL {
    url.deletingLastPathComponent().appending(path: url.lastPathComponent + ".heartwood")
  }

  /// Where the store of a place is: the copy, if there is one. The file may be gone then; a folder at the place is a store of its own.
  static func place(_ url: URL) -> URL {
    let copy = copy(ofStoreAt: url)
    return !isFolder(url) && isStore(copy) ? copy : url
  }

  private static func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
  }

  /// Whether a folder is a store. The files that a destroyed store leaves in its folder are none.
  private static func isStore(_ folder: URL) -> Bool {
    isFolder(folder) && PersistentStoreCoordinator.typeOfPersistentStore(at: folder) != nil
  }

  static func isFile(_ url: URL) -> Bool { AppleSQLiteStore.recognises(url) }

  /// Has a description lead to the copy, which is made if there is none.
  ///
  /// - Throws: Why the store cannot be copied. Nothing is at the place of the copy then.
  static func bring(
    _ description: PersistentStoreDescription, _ options: [AnyHashable: Any]?, for model: ManagedObjectModel
  ) throws {
    guard description.type == .log, let url = description.url, copies(options) else { return }
    AppleSQLiteStore.register()
    let place = copy(ofStoreAt: url)
    if self.place(url) == place {
      description.url = place
    } else if !isFile(url) {
      return
    } else if description.isReadOnly {
      description.type = .appleSQLite
    } else {
      do {
        try copy(url, to: place, description.timeout, for: model)
      } catch {
        // Another process with the same store has made the copy meanwhile.
        guard isStore(place) else { throw error }
      }
      description.url = place
    }
  }

  private static func copy(
    _ url: URL, to place: URL, _ timeout: Double, for program: ManagedObjectModel
  ) throws {
    let coordinator = try PersistentStoreCoordinator(
      checkingStoredProperties: model(ofStoreAt: url, for: program))
    let source = PersistentStoreDescription(url: url)
    source.type = .appleSQLite
    let store = try coordinator.addPersistentStore(with: source)
    defer { try? coordinator.close() }
    let copy = PersistentStoreDescription(url: place)
    copy.timeout = timeout
    let report = try coordinator.copyContents(of: store, to: copy)
    try (store as? AppleSQLiteStore)?.checkLinks()
    for note in (store as? AppleSQLiteStore)?.notes ?? [] { self.note("\(url.path): \(note)") }
    for (name, count) in report.missingDestinations.sorted(by: { $0.key < $1.key }) {
      note(
        "\(url.path): \(count) references of \(name) lead to objects that are not there, and were left out")
    }
  }

  private static func note(_ text: String) {
    FileHandle.standardError.write(Data("CoreData: note: \(text)\n".utf8))
  }

  /// The model with which a file is read: the program's, if the file has what that has; else the one that it keeps, from which the copy is
  /// migrated; else a former version of the program's models.
  private static func model(ofStoreAt url: URL, for program: ManagedObjectModel) throws -> ManagedObjectModel
  {
    if try AppleSQLiteStore.hasAll(of: program, at: url) { return program }
    do {
      return try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url)
    } catch {
      for place in EmbeddedModels.places {
        guard let model = NSManagedObjectModel(contentsOf: place) else { continue }
        model.bindClasses()
        if try AppleSQLiteStore.hasAll(of: model, at: url) { return model }
      }
      throw error
    }
  }

  /// Whether a file that keeps no model has the tables of one; nil for metadata of another store.
  static func isCompatible(_ model: ManagedObjectModel, with metadata: [String: Any]) -> Bool? {
    guard let path = metadata[AppleSQLiteStore.fileWithoutModelKey] as? String else { return nil }
    return (try? AppleSQLiteStore.hasAll(of: model, at: URL(filePath: path))) == true
  }

  /// Removes what a store of Core Data consists of. Nothing if the file is none.
  ///
  /// - Throws: `.persistentStoreOpen` if it is another database.
  static func remove(_ url: URL) throws {
    guard isFile(url) else { return }
    do {
      _ = try AppleSQLiteStore.hasAll(of: ManagedObjectModel(entities: []), at: url)
    } catch let error as HeartwoodError where error.code == .persistentStoreDamaged {
      // A damaged store is one, too.
    }
    let files = FileManager.default
    let folder = url.deletingLastPathComponent()
    for name in ["", "-wal", "-shm", "-journal"].map({ url.lastPathComponent + $0 })
      + [".\(url.deletingPathExtension().lastPathComponent)_SUPPORT"]
    {
      let file = folder.appending(path: name)
      if files.fileExists(atPath: file.path) { try files.removeItem(at: file) }
    }
  }
}

/// Whether a store of Core Data on Apple's systems is copied where a program opens one: a `Bool` as `NSNumber`, true by default. The copy is the
/// folder `NAME.heartwood` beside the file `NAME`. With false such a store is refused, as any other file.
public let HeartwoodCopiesAppleStoreOption = "HeartwoodCopiesAppleStoreOption"

extension PersistentStoreCoordinator {
  /// Opens a store of Heartwood, or the copy of one that Core Data wrote.
  package func addStore(
    _ description: PersistentStoreDescription, _ options: [AnyHashable: Any]?
  ) throws -> PersistentStore {
    description.configuration = StoreTypes.configuration(description.configuration, of: managedObjectModel)
    try AppleStores.bring(description, options, for: managedObjectModel)
    return try addPersistentStore(with: description)
  }

  /// The open store at a place; also the one that was copied from there. Nil if there is none.
  public func persistentStore(for url: URL) -> NSPersistentStore? {
    let places = [url, AppleStores.copy(ofStoreAt: url)].map(\.placeOfStore)
    return places.lazy.compactMap { place in
      self.persistentStores.first { $0.anyURL.placeOfStore == place }
    }.first
  }
}
