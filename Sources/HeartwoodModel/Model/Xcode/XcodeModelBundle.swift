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
  /// What the folder says and is not so, a sentence each.
  package let notes: [String]

  /// - Throws: `.coreData` if the folder cannot be read, has no versions, or it is not known which one is current.
  package init(_ url: URL) throws(HeartwoodError) {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      throw HeartwoodError(.coreData, "the model \(url.path) cannot be read: \(error)", underlying: error)
    }
    versions = names.filter { $0.hasSuffix(".xcdatamodel") }.map { name in
      Version(name: String(name.dropLast(".xcdatamodel".count)), url: url.appending(path: name))
    }.sorted { $0.name < $1.name }
    let named = Self.currentName(in: url)
    guard let found = versions.first(where: { $0.name == named }) ?? (versions.count == 1 ? versions[0] : nil)
    else {
      let have =
        versions.isEmpty ? "no version" : "the versions \(versions.map(\.name).joined(separator: ", "))"
      throw HeartwoodError(
        .coreData,
        "the model \(url.path) has \(have), and \(Self.currentVersionFile) names \(named.map { "\"\($0)\"" } ?? "none") as the current one: "
          + "name the folder of a version")
    }
    current = found
    notes =
      named.map { $0 == found.name } ?? true
      ? []
      : [
        "\(url.path)/\(Self.currentVersionFile) names \(named ?? ""), which is no version: \(found.name), the only one, is read"
      ]
  }

  private static func currentName(in url: URL) -> String? {
    guard let data = try? Data(contentsOf: url.appending(path: currentVersionFile)),
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
      let name = list[currentVersionKey] as? String
    else { return nil }
    return name.hasSuffix(".xcdatamodel") ? String(name.dropLast(".xcdatamodel".count)) : name
  }
}
