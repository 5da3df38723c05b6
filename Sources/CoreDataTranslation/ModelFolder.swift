import Foundation

/// A `.xcdatamodeld` or `.xcdatamodel` folder.
package struct ModelFolder {
  let name: String
  /// The versions by their names, without their endings.
  let versions: [(name: String, contents: String)]
  let current: String

  package init(path: String) throws {
    let url = URL(fileURLWithPath: path)
    name = url.deletingPathExtension().lastPathComponent
    if url.pathExtension == "xcdatamodel" {
      versions = [(name, try Self.contents(url))]
      current = name
      return
    }
    let folders = try FileManager.default.contentsOfDirectory(atPath: path).filter {
      $0.hasSuffix(".xcdatamodel")
    }.sorted()
    guard !folders.isEmpty else {
      throw TranslationError(file: path, line: 1, message: "the model has no version")
    }
    versions = try folders.map { (String($0.dropLast(12)), try Self.contents(url.appending(path: $0))) }
    // The only version, as `XcodeModelBundle` reads it. Of several, the last one by its name if the list names none.
    let last = versions.map(\.name).max { $0.compare($1, options: .numeric) == .orderedAscending }
    let named = versions.count == 1 ? nil : try Self.current(url)
    current = named ?? last ?? name
    guard versions.contains(where: { [current] in $0.name == current }) else {
      throw TranslationError(file: path, line: 1, message: "the current version \(current) is missing")
    }
  }

  /// The name of the current version, which a property list has.
  private static func current(_ url: URL) throws -> String? {
    guard let data = try? Data(contentsOf: url.appending(path: ".xccurrentversion")),
      let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
      let name = list["_XCCurrentVersionName"] as? String
    else { return nil }
    return name.hasSuffix(".xcdatamodel") ? String(name.dropLast(12)) : name
  }

  private static func contents(_ url: URL) throws -> String {
    do {
      return try String(contentsOf: url.appending(path: "contents"), encoding: .utf8)
    } catch {
      throw TranslationError(file: url.path, line: 1, message: "the file contents cannot be read: \(error)")
    }
  }

  /// The root of the current version.
  package func root() throws -> Markup {
    guard let text = versions.first(where: { $0.name == current })?.contents, let root = Markup.root(of: text)
    else {
      throw TranslationError(file: name, line: 1, message: "the model is no XML")
    }
    return root
  }

  /// A class that carries the files of the model, so that containers find it by its name.
  package var embedding: String {
    let texts = versions.map { "(name: \(Self.raw($0.name)), contents: \(Self.raw($0.contents)))" }.joined(
      separator: ",\n    ")
    return """
      final class _EmbeddedModel_\(Self.identifier(name)): CoreData._EmbeddedModel {
        override class var name: String { \(Self.raw(name)) }
        override class var currentVersion: String { \(Self.raw(current)) }
        override class var versions: [(name: String, contents: String)] {
          [
          \(texts)
          ]
        }
      }

      """
  }

  static func identifier(_ name: String) -> String {
    String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }

  /// A literal that nothing in the text ends.
  static func raw(_ text: String) -> String {
    var hashes = "#"
    while text.contains("\"" + hashes) || text.contains("\\" + hashes) { hashes += "#" }
    guard text.contains("\n") else { return "\(hashes)\"\(text)\"\(hashes)" }
    // Three quotes in the text end nothing, as the hashes do not follow them.
    return "\(hashes)\"\"\"\n\(text)\n\"\"\"\(hashes)"
  }
}
