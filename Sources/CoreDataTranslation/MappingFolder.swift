import Foundation

/// A `.xcmappingmodel` folder, or the file that older versions of Xcode have written under that name.
package struct MappingFolder {
  private let name: String
  private let contents: String

  package init(path: String) throws {
    let url = URL(fileURLWithPath: path)
    name = url.deletingPathExtension().lastPathComponent
    var isFolder: ObjCBool = false
    _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    let file = isFolder.boolValue ? url.appending(path: "xcmapping.xml") : url
    let text: String
    do {
      text = try String(contentsOf: file, encoding: .utf8)
    } catch {
      throw TranslationError(
        file: file.path, line: 1, message: "the mapping model cannot be read as text: \(error)")
    }
    contents = Self.withoutModels(text)
  }

  /// Without the archives of the two models, which are large: the program has the models themselves.
  private static func withoutModels(_ text: String) -> String {
    var rest = text[...]
    var kept = ""
    while let name = rest.range(
      of: "<attribute name=\"(source|destination)modeldata\"", options: .regularExpression),
      let end = rest.range(of: "</attribute>", range: name.upperBound..<rest.endIndex)
    {
      kept += rest[..<name.lowerBound]
      rest = rest[end.upperBound...]
    }
    return kept + rest
  }

  /// A class that carries the file, so that migrations find it.
  package var embedding: String {
    """
    final class _EmbeddedMappingModel_\(ModelFolder.identifier(name)): CoreData._EmbeddedMappingModel {
      override class var name: String { \(ModelFolder.raw(name)) }
      override class var contents: String {
        \(ModelFolder.raw(contents))
      }
    }

    """
  }
}
