import Foundation
import Heartwood
import HeartwoodAppleStores

/// The model that a path names: of a file, of Xcode, compiled or not, or of a store.
enum ModelArgument {
  /// Whether a path names a model of Xcode or a store of any kind, and no other JSON file.
  static func isGraphModel(_ path: String) -> Bool {
    isXcodeModel(path) || FileManager.default.fileExists(atPath: path + "/anchor")
      || CommandStore.isFile(path)
  }

  static func isXcodeModel(_ path: String) -> Bool {
    ["xcdatamodel", "xcdatamodeld", "mom", "momd"].contains(CommandStore.url(path).pathExtension)
  }

  /// - Parameter console: Where notes are written of what a model of Xcode has and is not read; nil for nowhere.
  static func model(_ path: String, _ console: (any Console)? = nil) throws(CommandFailure)
    -> ManagedObjectModel
  {
    if isXcodeModel(path) {
      guard FileManager.default.fileExists(atPath: path) else {
        guard !InputFile.isHidden(path) else { throw InputFile.notPermitted(path) }
        throw CommandFailure(.noInput, "\(path): there is no such model")
      }
      return try GraphFailure.catching(path) {
        let model = try ManagedObjectModel(contentsOf: CommandStore.url(path)) {
          console?.writeNote("heartwood: \($0)\n")
        }
        // The command knows no transformers.
        model.keepsBytesWithoutTransformers()
        return model
      }
    }
    if CommandStore.exists(path) {
      return try GraphFailure.catching(path) {
        try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: CommandStore.url(path))
      }
    }
    let document = try ModelFile.read(path)
    return try InputFile.naming(path) { () throws(CommandFailure) in try document.graphModel() }
  }
}

extension ModelArgument {
  /// The model of a path with which a store of Core Data was written: of several versions in a folder, the one that has what the store has; the
  /// current one if none has.
  static func model(
    _ path: String, ofStoreAt store: String, _ console: any Console
  ) throws -> ManagedObjectModel {
    let current = try model(path, console)
    let url = CommandStore.url(store)
    guard ["xcdatamodeld", "momd"].contains(CommandStore.url(path).pathExtension),
      try !AppleSQLiteStore.hasAll(of: current, at: url)
    else { return current }
    for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    where ["xcdatamodel", "mom"].contains(CommandStore.url(name).pathExtension) {
      guard let version = try? model("\(path)/\(name)"), try AppleSQLiteStore.hasAll(of: version, at: url)
      else {
        continue
      }
      console.writeNote("heartwood: note: \(store) was written with the version \(name)\n")
      return version
    }
    return current
  }
}

/// A file that contains only a model, or an import file with a model.
enum ModelFile {
  static func read(_ path: String) throws(CommandFailure) -> DocumentModel {
    try InputFile.naming(path) { () throws(CommandFailure) in
      let root = JSONPlace(path: "", value: try ImportDocument.parse(InputFile.read(path)))
      if let section = try root.member("model") { return try DocumentModel(reading: section) }
      return try DocumentModel(reading: root)
    }
  }
}
