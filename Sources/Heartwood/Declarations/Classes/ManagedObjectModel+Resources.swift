import Foundation

/// Models among the resources of a program.
extension ManagedObjectModel {
  private static let endings = ["xcdatamodeld", "xcdatamodel", "momd", "mom", "json"]

  /// The model with a name in bundles, or in the bundles of packages beside or in them.
  ///
  /// - Throws: `.coreData` if there is none, or it is not valid.
  convenience init(named name: String, in bundles: [Bundle]) throws {
    let folders = bundles.flatMap(Self.folders)
    for folder in folders {
      for ending in Self.endings {
        let place = folder.appending(path: "\(name).\(ending)")
        if FileManager.default.fileExists(atPath: place.path) {
          try self.init(contentsOf: place)
          return
        }
      }
    }
    let names = Set(folders.flatMap(Self.names)).sorted()
    let found = names.isEmpty ? "no model is there" : "there are \(names.joined(separator: ", "))"
    throw HeartwoodError(
      .coreData,
      "there is no model called \(name) among the resources of the program, in "
        + "\(bundles.map(\.bundlePath).joined(separator: ", ")): \(found); add \(name).xcdatamodeld to the resources of the target, or "
        + "give the container a model")
  }

  /// The folders of a bundle's resources, and of the bundles in it.
  private static func folders(of bundle: Bundle) -> [URL] {
    var found: [URL] = []
    for folder in [bundle.resourceURL, bundle.bundleURL].compactMap({ $0 }) where !found.contains(folder) {
      found.append(folder)
      let entries = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      found += (entries ?? []).filter { ["resources", "bundle"].contains($0.pathExtension) }
        .sorted { $0.path < $1.path }
    }
    return found
  }

  private static func names(in folder: URL) -> [String] {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return entries.filter { name in endings.prefix(4).contains { name.hasSuffix(".\($0)") } }
  }
}
