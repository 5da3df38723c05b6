import Foundation

/// Models in the program as folders and files, as Xcode puts them into a bundle: for programs that look for them by themselves. They are written
/// when one is first asked for, to a temporary folder that the end of the process removes.
final class EmbeddedFolders: @unchecked Sendable {
  static let shared = EmbeddedFolders()

  private let lock = NSLock()
  private var root: URL?
  private var written: Set<String> = []

  /// The folder of a model: one file for each version, with the ending `mom`, and `VersionInfo.plist`.
  ///
  /// - Returns: Nil if it cannot be written.
  func folder(of model: EmbeddedModels.Found) -> URL? {
    lock.withLock {
      guard let root = madeRoot() else { return nil }
      let path = "\(model.module)/\(model.name).momd"
      let folder = root.appending(path: path)
      guard written.insert(path).inserted else { return folder }
      do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for version in model.versions {
          try Data(version.contents.utf8).write(to: folder.appending(path: "\(version.name).mom"))
        }
        let info: [String: Any] = [
          "NSManagedObjectModel_CurrentVersionName": model.currentVersion,
          "NSManagedObjectModel_VersionHashes": Dictionary(
            model.versions.map { ($0.name, [String: Any]()) }, uniquingKeysWith: { first, _ in first }),
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: info, format: .xml, options: 0)
        try data.write(to: folder.appending(path: "VersionInfo.plist"))
        return folder
      } catch {
        return nil
      }
    }
  }

  /// The module, the model and the version of a place in the temporary folder; nil for other places.
  func parts(of url: URL) -> (module: String, model: String, version: String?)? {
    guard let root = lock.withLock({ root }), url.isFileURL else { return nil }
    let path = url.standardizedFileURL.path
    let prefix = root.standardizedFileURL.path + "/"
    guard path.hasPrefix(prefix) else { return nil }
    let names = path.dropFirst(prefix.count).split(separator: "/").map(String.init)
    guard names.count > 1, names[1].hasSuffix(".momd") else { return nil }
    let version = names.count > 2 && names[2].hasSuffix(".mom") ? String(names[2].dropLast(4)) : nil
    return (names[0], String(names[1].dropLast(5)), version)
  }

  private func madeRoot() -> URL? {
    if let root { return root }
    let made = FileManager.default.temporaryDirectory
      .appending(path: "heartwood-models-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString)")
    guard (try? FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)) != nil
    else {
      return nil
    }
    root = made
    atexit { EmbeddedFolders.shared.removeAll() }
    return made
  }

  private func removeAll() {
    if let root = lock.withLock({ root }) { try? FileManager.default.removeItem(at: root) }
  }
}
