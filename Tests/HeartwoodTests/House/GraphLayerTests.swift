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
      conflict("ConstraintConflict"), conflict("MergeConflict"),
      objectClass("Model/AttributeDescription+Transforming.swift"),
      objectClass("Model/EntityDescription.swift"), objectClass("Model/FrozenEntity.swift"),
      objectClass("Model/ManagedObjectModel.swift"), objectClass("Model/ObjectFactory.swift"),
      making("Model/ObjectFactory.swift"),
      objectClass("Predicates/Compilation/KeyPathNames.swift"),
      declaration("Model/FrozenEntity.swift", "BoundClass"),
      declaration("Model/ModelFreezing.swift", "BoundClass"),
      declaration("Model/ManagedObjectModel.swift", "BoundClass"),
      declaration("Model/FrozenEntity.swift", "PropertyRecord"),
      declaration("Values/Value+Declared.swift", "PropertyRecord"),
      ownType("Attribute"), ownType("Relationship"),
      rule("Model/FrozenEntity.swift", "CompiledRules"),
      indexed("Model/FrozenEntity.swift", "IndexedExpressions"),
      indexed("Model/Xcode/XcodeModelReader+Indexes.swift", "FormatParser"),
      rule("Model/ValidationRule.swift", "FormatPredicate"),
      rule("Model/ValidationRule.swift", "RegularExpression"),
      constant("Predicates/ConditionExpression.swift"), constant("Predicates/Format/PredicateArgument.swift"),
    ])

  @Test func `the folders of the graph use only types of their own and of lower layers`() throws {
    let violations = try Self.graph.violations(in: PackageFolder.url.path)
    #expect(violations == [])
  }

  private static func conflict(_ type: String) -> LayerRules.Exception {
    LayerRules.Exception(file: "HeartwoodError.swift", type: type, reason: "errors carry their conflicts")
  }

  private static func objectClass(_ file: String) -> LayerRules.Exception {
    LayerRules.Exception(
      file: file, type: "ManagedObject", reason: "an entity names the class of its objects")
  }

  private static func declaration(_ file: String, _ type: String) -> LayerRules.Exception {
    LayerRules.Exception(file: file, type: type, reason: "a frozen entity has what its class declares")
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

  private static func making(_ file: String) -> LayerRules.Exception {
    LayerRules.Exception(file: file, type: "ObjectMaking", reason: "a factory makes objects of a class")
  }

  private static func constant(_ file: String) -> LayerRules.Exception {
    LayerRules.Exception(file: file, type: "ManagedObject", reason: "an object may be a constant")
  }
}
