import Foundation
import Heartwood

/// The model that a path names: of a file, of Xcode, or of a store.
enum ModelArgument {
  /// Whether a path names a model of Xcode or a store, and no JSON file.
  static func isGraphModel(_ path: String) -> Bool {
    isXcodeModel(path) || FileManager.default.fileExists(atPath: path + "/anchor")
  }

  static func isXcodeModel(_ path: String) -> Bool {
    ["xcdatamodel", "xcdatamodeld"].contains(CommandStore.url(path).pathExtension)
  }

  /// - Parameter console: Where notes are written of what a model of Xcode has and is not read; nil for nowhere.
  static func model(_ path: String, _ console: (any Console)? = nil) throws(CommandFailure)
    -> ManagedObjectModel
  {
    if isXcodeModel(path) {
      guard FileManager.default.fileExists(atPath: path) else {
        throw CommandFailure(.noInput, "\(path): there is no such model")
      }
      return try GraphFailure.catching(path) {
        try ManagedObjectModel(contentsOf: CommandStore.url(path)) {
          console?.writeNote("heartwood: \($0)\n")
        }
      }
    }
    if CommandStore.exists(path) {
      return try GraphFailure.catching(path) {
        try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: CommandStore.url(path))
      }
    }
    return try InputFile.naming(path) { () throws(CommandFailure) in
      let root = JSONPlace(path: "", value: try ImportDocument.parse(InputFile.read(path)))
      let section = try root.optionalMember("model") ?? root
      return try DocumentModel(reading: section).graphModel()
    }
  }
}

extension JSONPlace {
  /// A member of an object; nil if it is missing or this is no object.
  fileprivate func optionalMember(_ name: String) throws(CommandFailure) -> JSONPlace? {
    guard case .object = value else { return nil }
    return try member(name)
  }
}
