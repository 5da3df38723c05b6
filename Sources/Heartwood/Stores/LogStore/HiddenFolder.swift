import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// A folder beside a store, in which its successor is made, or which it is moved to.
struct HiddenFolder {
  let url: URL
  var path: String { LogStore.path(of: url) }

  init(beside store: URL, _ suffix: String) {
    // Beside the folder itself, not beside a link to it: the two are exchanged.
    let folder = URL(fileURLWithPath: LogStore.path(of: store))
    url = folder.deletingLastPathComponent().appending(path: ".\(folder.lastPathComponent).\(suffix)")
  }

  /// Removes the folders and files beside a store whose names begin so. What can't be listed or removed stays.
  ///
  /// - Precondition: They are in use nowhere.
  static func removeAll(beside store: URL, _ prefix: String) {
    let first = HiddenFolder(beside: store, prefix).url
    let folder = first.deletingLastPathComponent()
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    where name.hasPrefix(first.lastPathComponent) {
      try? FileManager.default.removeItem(at: folder.appending(path: name))
    }
  }

  /// Removes the folder with the store in it, or with what is left of one that was being made. Does nothing if there is none.
  func remove(busyTimeout: Double, _ fileSystem: any FileSystem) throws {
    try HeartwoodError.translating("the folder \(path) could not be removed", .migration) {
      try Engine.destroy(at: path, busyTimeout: busyTimeout, isPrivate: true, fileSystem: fileSystem)
    }
    if fileSystem.isOnThisMachine { try? FileManager.default.removeItem(at: url) }
  }
}
