import Foundation

/// A folder with the versions of a model.
struct ModelFolder {
  private let url: URL
  /// The names of what is in it.
  let names: [String]

  /// - Throws: `.coreData` if the folder cannot be read.
  init(_ url: URL) throws(HeartwoodError) {
    self.url = url
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      throw HeartwoodError(.coreData, "the model \(url.path) cannot be read: \(error)", underlying: error)
    }
  }

  /// The current version: the one that is named so, or the only one.
  ///
  /// - Parameters:
  ///   - versions: The versions in the folder.
  ///   - name: The name of a version.
  ///   - named: The name of the current one, as the folder has it.
  ///   - file: The file that names it.
  ///   - kind: Whether a version is a file or a folder, for the message.
  /// - Throws: `.coreData` if there is no version, or it is not known which one is current.
  func current<Version>(
    of versions: [Version], _ name: (Version) -> String, named: String?, by file: String, a kind: String
  ) throws(HeartwoodError) -> Version {
    if let found = versions.first(where: { name($0) == named }) { return found }
    if versions.count == 1 { return versions[0] }
    let have = versions.isEmpty ? "no version" : "the versions \(versions.map(name).joined(separator: ", "))"
    throw HeartwoodError(
      .coreData,
      "the model \(url.path) has \(have), and \(file) names \(named.map { "\"\($0)\"" } ?? "none") as the current one: "
        + "name the \(kind) of a version")
  }
}
