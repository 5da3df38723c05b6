import Foundation
import HeartwoodGenerating
import HeartwoodModel

/// Writes the classes of a model of Xcode, without the graph and the engine, so that the plugin `HeartwoodClasses` is built quickly.
///
/// ```
/// HeartwoodGenerator generate MODEL --mode model --output FILE
/// ```
///
/// These are the arguments of `heartwood`, which the plugin may run in its place.
@main
struct Generator {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 6, [arguments[1], arguments[3], arguments[4], arguments[5]] == form else {
      fail("the arguments are: generate MODEL --mode model --output FILE")
    }
    do {
      try generate(URL(filePath: arguments[2]), to: URL(filePath: arguments[6]))
    } catch {
      fail((error as? HeartwoodError)?.message ?? "\(error)")
    }
  }

  private static let form = ["generate", "--mode", "model", "--output"]

  private static func generate(_ url: URL, to output: URL) throws {
    let file = try ModelFile(url)
    for text in file.notes { write("heartwood: \(text)") }
    let model = try ManagedObjectModel(file, at: url)
    // The generator knows no transformers.
    model.keepsBytesWithoutTransformers()
    var generator = ClassGenerator(model, isPublic: false)
    let sources = generator.sourcesOfModel()
    for text in generator.notes { note(text) }
    if sources.isEmpty { note("nothing is written: \(url.path) asks for no class (codeGenerationType)") }
    try sources.write(to: output)
  }

  private static func note(_ text: String) { write("heartwood: note: \(text)") }

  private static func fail(_ text: String) -> Never {
    write("error: \(text)")
    exit(1)
  }

  private static func write(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
