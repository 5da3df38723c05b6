import Foundation
import TestSupport
import Testing

/// The folders of the model and of the graph above it are layers: a file uses types of its own and of lower ones. Objects and contexts refer
/// to each other, as in Core Data; below them no folder knows an object or a context.
struct GraphLayerTests {
  static let model = LayerRules(
    root: "Sources/HeartwoodModel",
    layers: [
      // Values, the model and rows: what is stored, without a store.
      ["", "Memory", "Values", "Values/JSON", "Model", "Model/Xcode", "Identity", "Rows", "Words"],
      // Conditions, as trees and compiled against rows.
      [
        "Predicates", "Predicates/Compilation", "Predicates/Evaluation", "Predicates/Format",
        "Predicates/Patterns", "Predicates/Trees",
      ],
      // Models in files, whose rules and requests may be archives of predicates.
      ["Predicates/Archived", "Model/Compiled", "Model/Files"],
    ])

  static let graph = LayerRules(
    root: "Sources/Heartwood",
    layers: [
      // Stores, without contexts.
      ["", "Collections", "Stores", "Stores/Deriving", "Stores/History"],
      ["Stores/LogStore", "Stores/FileStore", "Stores/Verification"],
      ["Stores/Union"],
      // Events and reports of the work.
      ["Observing", "Fetching/Reports"],
      // Objects, and who owns them.
      [
        "Objects", "Objects/Observation", "Objects/Relationships", "Declarations", "Context", "Conflicts",
        "Coordinator",
      ],
      // From a question to objects.
      ["Fetching", "Fetching/Rows", "Predicates/Typed"],
      // Changed objects, and classes that become models.
      [
        "Objects/Snapshots", "Declarations/Classes", "Deleting", "Merging", "Undoing", "Children",
        "Conflicts/Resolving",
        "Container",
      ],
      ["Saving"],
      // The users of all that.
      ["LiveResults", "History", "Batches"],
      ["ChangeSets"],
      [
        "Migration", "Migration/Inference", "Migration/InPlace", "Migration/Staged", "Migration/Mapping",
        "Migration/Rehearsal",
      ],
      // Kinds of stores of programs.
      ["AtomicStores", "IncrementalStores"],
      // Operations on whole stores of any kind.
      ["Coordinator/WholeStores"],
    ])

  @Test(arguments: [model, graph]) func `folders use only types of their own and of lower layers`(
    rules: LayerRules
  ) throws {
    let violations = try rules.violations(in: PackageFolder.url.path)
    #expect(violations == [])
  }

  @Test(arguments: [model, graph]) func `no layer is larger than eleven thousand lines`(
    rules: LayerRules
  ) throws {
    let sources = try PackageFolder.sources(in: rules.root)
    for layer in rules.layers {
      let lines = sources.reduce(0) { sum, file in
        let folder = file.key.split(separator: "/").dropLast().joined(separator: "/")
        return layer.contains(folder) ? sum + file.value.count { $0 == "\n" } : sum
      }
      #expect(lines <= 11_000, "\(layer.joined(separator: ", "))")
    }
  }
}
