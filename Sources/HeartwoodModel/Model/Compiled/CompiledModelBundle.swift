import Foundation
import HeartwoodArchives

/// A `.momd` folder: the versions of a model that Apple's tools have compiled, each a `.mom` file, of which one is current.
///
/// Files that end in `.omo` are another form of the current version, and not read.
package struct CompiledModelBundle {
  /// A version of the model.
  package struct Version {
    package let name: String
    package let url: URL
    /// Core Data's version hashes of the entities, as stores that it wrote have them; empty if the folder does not say.
    package let hashes: [String: Data]
  }

  static let infoFile = "VersionInfo.plist"

  /// Sorted by name.
  package let versions: [Version]
  package let current: Version

  /// - Throws: `.coreData` if the folder cannot be read, has no versions, or it is not known which one is current.
  package init(_ url: URL) throws(HeartwoodError) {
    let folder = try ModelFolder(url)
    let info = Self.info(in: url)
    let hashes = info["NSManagedObjectModel_VersionHashes"]?.dictionary ?? [:]
    versions = folder.names.filter { $0.hasSuffix(".mom") }.map { file in
      let name = String(file.dropLast(".mom".count))
      return Version(
        name: name, url: url.appending(path: file),
        hashes: (hashes[name]?.dictionary ?? [:]).compactMapValues(\.data))
    }.sorted { $0.name < $1.name }
    let named = info["NSManagedObjectModel_CurrentVersionName"]?.string
    let found = try folder.current(of: versions, \.name, named: named, by: Self.infoFile, a: "file")
    current = found
  }

  /// The version whose entities have exactly these version hashes of Core Data, as the metadata of a store has them; nil if none has.
  package func version(withHashes hashes: [String: Data]) -> Version? {
    versions.first { !$0.hashes.isEmpty && $0.hashes == hashes }
  }

  private static func info(in url: URL) -> [String: PropertyList] {
    guard let data = try? Data(contentsOf: url.appending(path: infoFile)) else { return [:] }
    return (try? PropertyList(data))?.dictionary ?? [:]
  }
}
