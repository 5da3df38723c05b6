import Foundation

/// A `.xcdatamodeld` folder: the versions of a model, each a `.xcdatamodel` folder, of which one is current.
package struct XcodeModelBundle {
  package struct Version {
    package let name: String
    package let url: URL
  }

  package static let currentVersionFile = ".xccurrentversion"
  package static let currentVersionKey = "_XCCurrentVersionName"

  /// Sorted by name.
  package let versions: [Version]
  package let current: Version
  /// The statements of the folder that are not true, a sentence each.
  package let notes: [String]

  /// - Throws: `.coreData` if the folder cannot be read, has no versions, or it is not known which one is current.
  package init(_ url: URL) throws(HeartwoodError) {
    let folder = try ModelFolder(url)
    versions = folder.names.filter { $0.hasSuffix(".xcdatamodel") }.map { name in
      Version(name: String(name.dropLast(".xcdatamodel".count)), url: url.appending(path: name))
    }.sorted { $0.name < $1.name }
    let file = "\(url.path)/\(Self.currentVersionFile)"
    let list = Self.currentVersionList(in: url)
    let named = list.flatMap(Self.currentName)
    // Xcode makes the list only when another version is chosen; some tools write one without a name, or lose it.
    if named == nil, versions.count > 1,
      let last = versions.max(by: { $0.name.compare($1.name, options: .numeric) == .orderedAscending })
    {
      current = last
      notes = [
        "\(file) \(list == nil ? "is missing" : "names no version"): \(last.name), the last one by its name, is read"
      ]
      return
    }
    let found = try folder.current(
      of: versions, \.name, named: named, by: Self.currentVersionFile, a: "folder")
    current = found
    notes =
      named.map { $0 == found.name } ?? true
      ? [] : ["\(file) names \(named ?? ""), which is no version: \(found.name), the only one, is read"]
  }

  private static func currentVersionList(in url: URL) -> [String: Any]? {
    guard let data = try? Data(contentsOf: url.appending(path: currentVersionFile)) else { return nil }
    return try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
  }

  private static func currentName(_ list: [String: Any]) -> String? {
    guard let name = list[currentVersionKey] as? String else { return nil }
    return name.hasSuffix(".xcdatamodel") ? String(name.dropLast(".xcdatamodel".count)) : name
  }
}
