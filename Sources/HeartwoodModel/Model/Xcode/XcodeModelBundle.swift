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
    let names = Self.currentNames(in: url)
    // An empty list, as some tools write it, is no refusal.
    if names?.isEmpty == true, versions.count > 1,
      let last = versions.max(by: { $0.name.compare($1.name, options: .numeric) == .orderedAscending })
    {
      current = last
      notes = ["\(file) names no version: \(last.name), the last one by its name, is read"]
      return
    }
    let named = names?.first
    let found = try folder.current(
      of: versions, \.name, named: named, by: Self.currentVersionFile, a: "folder")
    current = found
    notes =
      named.map { $0 == found.name } ?? true
      ? [] : ["\(file) names \(named ?? ""), which is no version: \(found.name), the only one, is read"]
  }

  /// The name of the current version, if the list has one; nil without a list.
  private static func currentNames(in url: URL) -> [String]? {
    guard let data = try? Data(contentsOf: url.appending(path: currentVersionFile)),
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    else { return nil }
    guard let name = list[currentVersionKey] as? String else { return [] }
    return [name.hasSuffix(".xcdatamodel") ? String(name.dropLast(".xcdatamodel".count)) : name]
  }
}
