import Foundation
import TestSupport
import Testing

/// The files of the graph that handle memory without a length or an owner, each with its reason.
struct GraphUnsafeCodeTests {
  static let graph = UnsafeCodeRules(
    root: "Sources/Heartwood",
    rawMemory: [
      "values in a row, at offsets that were checked when the row was read": [
        "Rows/Column.swift", "Rows/ConvertedRows.swift", "Rows/RowConversion.swift", "Rows/RowFamily.swift",
        "Rows/RowLayout.swift", "Rows/RowView.swift", "Stores/StoreSchema.swift",
        "Rows/RowWriter.swift", "Objects/ManagedObject+Values.swift", "Objects/StoredRow.swift",
        "Values/AttributeValue+Bytes.swift",
        "Values/AttributeValue+Numbers.swift", "Values/AttributeValue.swift",
        "Values/CompositeValue.swift", "Values/NamedReaders.swift", "Values/TransformableValue.swift",
        "Values/TransientValue.swift",
      ],
      "rows that are compared in place": [
        "Context/FrozenChanges.swift", "Fetching/PendingOverlay.swift", "History/HistoryFilter.swift",
        "Predicates/Evaluation/RelationshipTests.swift", "Predicates/Evaluation/RowTest.swift",
        "Predicates/Evaluation/TextBytes.swift", "Predicates/Evaluation/TextPattern.swift",
        "Stores/LogStore/SchemaCache.swift",
      ],
      "property accessors, which find their slot by address": [
        "Declarations/Attribute.swift", "Declarations/ClassRecord.swift", "Declarations/Relationship.swift",
        "Model/AccessTable.swift", "Model/SlotsByName.swift",
      ],
      "objects in tables without reference counting": [
        "Context/IdentityMap.swift", "Identity/ManagedObjectID.swift", "Model/ObjectFactory.swift",
        "Objects/ManagedObject+Accessors.swift", "Objects/ManagedObject+Faulting.swift",
        "Objects/ManagedObject.swift",
        "Objects/Observation/ManagedObject+Observation.swift",
        "Objects/Relationships/RelationshipState.swift", "Context/ContextOccupancy.swift",
        "Fetching/FetchExecution.swift", "Fetching/PendingMatches.swift",
      ],
      "values stored after an object's header": [
        "Context/ContextImage.swift", "Objects/PendingValues.swift",
      ],
      "casts whose type was checked": [
        "Fetching/ManagedObjectContext+FetchExecution.swift", "Objects/Relationships/RelatedObjects.swift",
      ],
    ])

  @Test func `only the listed files of the graph handle raw memory`() throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().path
    #expect(try Self.graph.violations(in: package) == [])
  }
}
