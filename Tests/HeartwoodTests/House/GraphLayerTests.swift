import Foundation
import TestSupport
import Testing

/// The folders of the graph are layers: a file uses types of its own and of lower ones. Objects and contexts refer to each other, as in
/// Core Data; below them no folder knows an object or a context.
struct GraphLayerTests {
  static let graph = LayerRules(
    root: "Sources/Heartwood",
    layers: [
      // Values, the model and rows: what is stored, without a store.
      ["", "Memory", "Values", "Values/JSON", "Model", "Model/Xcode", "Identity", "Rows", "Words"],
      // Conditions, as trees and compiled against rows.
      [
        "Predicates", "Predicates/Compilation", "Predicates/Evaluation", "Predicates/Format",
        "Predicates/Patterns", "Predicates/Trees",
      ],
      // Models whose rules and requests are archives of predicates.
      ["Predicates/Archived", "Model/Compiled"],
      // Stores, without contexts.
      ["Stores", "Stores/Deriving", "Stores/History"],
      ["Stores/LogStore", "Stores/FileStore", "Stores/Verification"],
      ["Stores/Union"],
      // Objects, and who owns them.
      [
        "Objects", "Objects/Observation", "Objects/Relationships", "Declarations", "Context", "Conflicts",
        "Coordinator", "Fetching/Reports",
      ],
      // From a question to objects.
      ["Fetching", "Fetching/Rows", "Predicates/Typed", "Objects/Snapshots"],
      // What happens to changed objects; how classes become models.
      [
        "Declarations/Classes", "Deleting", "Merging", "Undoing", "Children", "Conflicts/Resolving",
        "Container",
      ],
      ["Saving"],
      // What uses all that.
      ["LiveResults", "History", "Batches"],
      [
        "Migration", "Migration/Inference", "Migration/InPlace", "Migration/Staged", "Migration/Mapping",
        "Migration/Rehearsal",
      ],
      // Kinds of stores of programs.
      ["AtomicStores", "IncrementalStores"],
      // What is done with whole stores of any kind.
      ["Coordinator/WholeStores"],
    ])

  @Test func `the folders of the graph use only types of their own and of lower layers`() throws {
    let violations = try Self.graph.violations(in: PackageFolder.url.path)
    #expect(violations == [])
  }

  @Test func `no layer is larger than eleven thousand lines`() throws {
    let sources = try PackageFolder.sources(in: Self.graph.root)
    for layer in Self.graph.layers {
      let lines = sources.reduce(0) { sum, file in
        let folder = file.key.split(separator: "/").dropLast().joined(separator: "/")
        return layer.contains(folder) ? sum + file.value.count { $0 == "\n" } : sum
      }
      #expect(lines <= 11_000, "\(layer.joined(separator: ", "))")
    }
  }
}
