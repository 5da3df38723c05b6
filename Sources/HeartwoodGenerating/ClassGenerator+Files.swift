import Foundation
import HeartwoodModel

extension ClassGenerator {
  /// The sources of the entities that have a class, each as its model says for Xcode.
  package mutating func sourcesOfModel() -> [Source] {
    sources { entity in entity.codeGenerationType.flatMap { Mode(rawValue: $0) } }
  }
}

extension [ClassGenerator.Source] {
  /// Writes the sources: as one file if its name ends in `.swift`, otherwise each as a file in a folder, which is made if it is missing.
  ///
  /// A file that has not changed is not written.
  ///
  /// - Throws: An error of Foundation if a file cannot be written; `SourceFileRefusal` for a link, a device, and all else that is no
  ///   regular file.
  package func write(to url: URL) throws {
    guard url.pathExtension != "swift" else {
      return try Self.write(map(\.text).joined(separator: "\n"), to: url)
    }
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    for source in self { try Self.write(source.text, to: url.appending(path: source.fileName)) }
  }

  private static func write(_ text: String, to file: URL) throws {
    let type = try? FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
    guard type == nil || type == .typeRegular else { throw SourceFileRefusal(path: file.path) }
    guard (try? Data(contentsOf: file)) != Data(text.utf8) else { return }
    try Data(text.utf8).write(to: file, options: .atomic)
  }
}

/// Says that a source would replace something else than a file.
package struct SourceFileRefusal: LocalizedError {
  let path: String

  package var errorDescription: String? {
    "\(path) is not a regular file: remove it, or choose another place"
  }
}
