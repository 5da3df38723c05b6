import Foundation
import TestSupport
import Testing

/// The folders of the graph are layers. Objects and contexts refer to each other, as in Core Data, so that the upper ones are one
/// layer; below them no folder knows a context.
struct GraphLayerTests {
  static let graph = LayerRules(
    root: "Sources/Heartwood",
    layers: [
      // Values, the model and rows: what is stored, without a store.
      ["", "Memory", "Values", "Values/JSON", "Model", "Model/Xcode", "Identity", "Rows", "Words"],
      // Conditions, as trees and compiled against rows.
      [
        "Predicates", "Predicates/Archived", "Predicates/Compilation", "Predicates/Evaluation",
        "Predicates/Format", "Predicates/Patterns", "Predicates/Trees",
        // Models whose rules and requests are archives of predicates.
        "Model/Compiled",
      ],
      // Stores, without contexts.
      ["Stores", "Stores/Deriving", "Stores/History"],
      ["Stores/LogStore", "Stores/FileStore", "Stores/Verification"],
      ["Stores/Union"],
      // Objects and contexts.
      [
        "AtomicStores", "IncrementalStores", "Declarations", "Predicates/Typed", "Objects",
        "Objects/Observation",
        "Objects/Snapshots",
        "Objects/Relationships", "Conflicts", "Deleting", "Fetching", "Fetching/Rows", "History", "Context",
        "Coordinator", "LiveResults", "Batches",
        "Migration", "Migration/Inference", "Migration/InPlace", "Migration/Staged", "Migration/Mapping",
        "Migration/Rehearsal",
      ],
    ],
    exceptions: [
      ownType("Attribute"), ownType("Relationship"),
      indexed("Model/FrozenEntity.swift", "IndexedExpressions"),
      indexed("Model/Xcode/XcodeModelReader+Indexes.swift", "FormatParser"),
      rule("Model/ValidationRule.swift", "FormatPredicate"),
      rule("Model/ValidationRule.swift", "RegularExpression"),
    ])

  @Test func `the folders of the graph use only types of their own and of lower layers`() throws {
    let violations = try Self.graph.violations(in: PackageFolder.url.path)
    #expect(violations == [])
  }

  private static func ownType(_ type: String) -> LayerRules.Exception {
    LayerRules.Exception(file: "Model/ModelDocument.swift", type: type, reason: "a nested type of this name")
  }

  private static func rule(_ file: String, _ type: String) -> LayerRules.Exception {
    LayerRules.Exception(file: file, type: type, reason: "validation rules are conditions")
  }

  private static func indexed(_ file: String, _ type: String) -> LayerRules.Exception {
    LayerRules.Exception(file: file, type: type, reason: "indexes may be of expressions")
  }
}
