import CoreDataTranslation
import Foundation

/// Translates the sources of a target, embeds its models and mapping models, and writes the classes of their entities.
///
/// ```
/// CoreDataTranslator --generated FILE [--model FOLDER]... [--mapping FOLDER]... [--source FILE OUTPUT]...
/// CoreDataTranslator --generated FILE [--model FOLDER]... [--mapping FOLDER]... --module NAME [--plain FILE]... [--known MODULE FILE]...
/// ```
///
/// The second form writes accessors for sources that are compiled as they are. `--known` are sources of other modules, whose types they use.
///
/// A file is written only if it differs, so that nothing is compiled again without need. Errors have the form of the compiler's.
@main
struct Translator {
  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      fail("\(error)")
    }
  }

  private static func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(1)
  }

  private static func run(_ arguments: [String]) throws {
    var rest = arguments[...]
    var generated: String?
    var models: [String] = []
    var mappings: [String] = []
    var sources: [(input: String, output: String)] = []
    var module = ""
    var plain: [String] = []
    var known: [(module: String, file: String)] = []
    func value(_ option: String) -> String {
      guard let value = rest.popFirst() else { fail("error: \(option) needs a value") }
      return value
    }
    while let option = rest.popFirst() {
      switch option {
      case "--generated": generated = value(option)
      case "--model": models.append(value(option))
      case "--mapping": mappings.append(value(option))
      case "--source": sources.append((value(option), value(option)))
      case "--module": module = value(option)
      case "--plain": plain.append(value(option))
      case "--known": known.append((value(option), value(option)))
      default: fail("error: unknown option \(option)")
      }
    }
    let read = try sources.map {
      ($0.input, $0.output, [UInt8](try Data(contentsOf: URL(fileURLWithPath: $0.input))))
    }
    let folders = try models.map(ModelFolder.init)
    let classes = try folders.map { ModelClasses(try $0.root()) }
    var index = ClassIndex()
    for made in classes { made.note(in: &index) }
    for (input, _, bytes) in read { Translation.collect(from: bytes, file: input, into: &index) }
    var errors: [TranslationError] = []
    for (input, output, bytes) in read {
      let translated = Translation.translate(bytes, file: input, index: index)
      errors += translated.errors
      try write(translated.text, to: output)
    }
    let accessors = try accessors(module, plain, known, classes.flatMap(\.declared), &errors)
    if !errors.isEmpty { fail(errors.map(\.description).joined(separator: "\n")) }
    guard let generated else { return }
    let embedded = folders.map(\.embedding) + (try mappings.map { try MappingFolder(path: $0).embedding })
    var declared = Set<String>()
    for (_, _, bytes) in read { declared.formUnion(FoundationNames.declared(in: bytes)) }
    for file in plain {
      declared.formUnion(
        FoundationNames.declared(in: [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))))
    }
    let text = head(without: declared) + embedded.joined() + classes.map { $0.text(index) }.joined()
    try write(text + accessors, to: generated)
  }

  private static func accessors(
    _ module: String, _ files: [String], _ known: [(module: String, file: String)], _ classes: [String],
    _ errors: inout [TranslationError]
  ) throws -> String {
    guard !files.isEmpty else { return "" }
    var writer = AccessorWriter(module: module)
    for name in classes { writer.declare(class: name) }
    for (module, file) in known {
      writer.collect([UInt8](try Data(contentsOf: URL(fileURLWithPath: file))), file: file, module: module)
    }
    let read = try files.map { ($0, [UInt8](try Data(contentsOf: URL(fileURLWithPath: $0)))) }
    for (file, bytes) in read { writer.collect(bytes, file: file, module: module) }
    for (file, bytes) in read { writer.write(bytes, file: file) }
    errors += writer.errors
    return writer.text
  }

  /// The lines that the file begins with.
  ///
  /// - Parameter declared: Names that the target declares itself.
  private static func head(without declared: Set<String>) -> String {
    """
    // Made by a plugin of Heartwood. The import is public for targets whose imports are not by default.
    public import CoreData

    \(FoundationNames.declarations(without: declared))

    """
  }

  private static func write(_ text: String, to path: String) throws {
    let data = Data(text.utf8)
    let url = URL(fileURLWithPath: path)
    if let known = try? Data(contentsOf: url), known == data { return }
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: url)
  }
}
