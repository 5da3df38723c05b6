import Foundation

/// A folder of its own, gone with the object.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "heartwood-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  /// The place of a store in it.
  var store: URL { url.appending(path: "Store.heartwood") }

  deinit { try? FileManager.default.removeItem(at: url) }
}
