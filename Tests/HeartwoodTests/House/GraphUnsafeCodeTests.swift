import Foundation
import GraphTestSupport
import TestSupport
import Testing

/// The files of the model and of the graph that handle memory without a length or an owner, each with its reason.
struct GraphUnsafeCodeTests {
  static let model = UnsafeCodeRules(
    root: "Sources/HeartwoodModel",
    rawMemory: [
      "types that the other files use instead": [
        "Memory/AccessTable.swift", "Memory/CheckedCasts.swift", "Memory/KeyPathTable.swift",
        "Memory/PlainTable.swift", "Memory/RowFields.swift", "Memory/RowSlab.swift",
        "Memory/UnownedReference.swift",
      ],
      "places on the stack of the caller": ["Predicates/Evaluation/Place.swift"],
      "a list of constants, known by its address": ["Predicates/Evaluation/ConstantLists.swift"],
      "an owner, which clears it when it ends": [
        "Model/EntityDescription.swift", "Model/FetchIndexDescription.swift",
      ],
      "texts compared eight bytes at a time": ["Predicates/Evaluation/TextBytes.swift"],
      "a table of words on the stack": ["Words/TextWords.swift"],
    ],
    uncheckedSendable: [
      "one queue or one migration uses it": ["Values/OpaqueValue.swift"],
      "set by the program before it is used, then not changed": [
        "Model/AttributeDescription.swift", "Model/CompositeAttributeDescription.swift",
        "Model/EntityDescription.swift", "Model/FetchIndexDescription.swift",
        "Model/ManagedObjectModel.swift", "Model/PropertyDescription.swift",
        "Model/RelationshipDescription.swift", "Model/DerivedAttributeDescription.swift",
        "Model/FetchedPropertyDescription.swift",
      ],
      "never changes": [
        "Memory/AccessTable.swift", "Memory/KeyPathTable.swift", "Memory/PlainTable.swift",
        "Model/FrozenEntity.swift", "Predicates/ConditionExpression.swift", "Values/CompositeValue.swift",
        "Values/NamedReaders.swift", "Predicates/Compilation/Derivation.swift",
        "Predicates/Compilation/IndexedExpression.swift", "Predicates/Compilation/IndexCondition.swift",
      ],
      "a lock or an atomic guards it": ["Rows/ConvertedRows.swift"],
      "a weak reference": [
        "Identity/ObjectReference.swift", "Predicates/Evaluation/RelevanceReader.swift",
      ],
    ])

  static let graph = UnsafeCodeRules(
    root: "Sources/Heartwood",
    rawMemory: [
      "where wrappers are in an object": ["Declarations/Classes/InstanceMemory.swift"],
      "objects in a table without reference counting": ["Context/IdentityMap.swift"],
      "values stored after an object's header": ["Objects/PendingValues.swift"],
      "the initialiser of a class that is known at run time": ["Objects/ObjectMaking.swift"],
    ],
    uncheckedSendable: [
      "one thread uses it": ["Stores/LogStore/TransactionView.swift"],
      "one queue or one migration uses it": [
        "AtomicStores/AtomicStoreCacheNode.swift", "IncrementalStores/IncrementalStoreNode.swift",
        "Context/ManagedObjectContext.swift", "Declarations/Recording.swift",
        "Fetching/AsynchronousFetchRequest.swift", "Fetching/DetachedFetch.swift",
        "LiveResults/LiveQuery.swift", "LiveResults/LiveRows.swift",
        "Migration/Inference/InferredChanges.swift", "Migration/Mapping/EntityMigrationPolicy.swift",
        "Migration/Mapping/MigrationManager.swift",
      ],
      "set by the program before it is used, then not changed": [
        "AtomicStores/AtomicStore.swift", "IncrementalStores/IncrementalStore.swift",
        "Container/PersistentContainer.swift", "Coordinator/PersistentStore.swift",
        "Coordinator/PersistentStoreDescription.swift", "Conflicts/MergePolicy.swift",
        "Migration/Mapping/EntityMapping.swift", "Migration/Mapping/MappingModel.swift",
        "Migration/Mapping/PropertyMapping.swift", "Migration/Staged/MigrationStage.swift",
      ],
      "never changes": [
        "Coordinator/PersistentStoreCoordinator+Following.swift", "Conflicts/ConstraintConflict.swift",
        "Conflicts/MergeConflict.swift", "Stores/FrozenRows.swift",
        "Context/ParentView.swift", "Saving/Validation.swift", "Declarations/Classes/ClassRecord.swift",
        "Declarations/Classes/PathResolution.swift", "Fetching/FetchedBatches.swift",
        "Fetching/SharedRequest.swift", "Objects/Observation/AccessProbe.swift",
      ],
      "a lock or an atomic guards it": [
        "Context/ContextOccupancy.swift", "Context/MainQueue.swift",
        "Context/ContextSequences.swift", "IncrementalStores/IncrementalView.swift",
      ],
      "a weak reference": [
        "AtomicStores/AtomicStoreSaving.swift", "IncrementalStores/IncrementalContents.swift",
        "Context/ContextFollowers.swift", "Coordinator/OpenStores.swift",
      ],
      "a token of Foundation, which any thread may use": ["Coordinator/StoreNotifications.swift"],
    ])

  @Test(arguments: [model, graph]) func `only the listed files of the graph use unsafe code`(
    rules: UnsafeCodeRules
  ) throws {
    let violations = try rules.violations(in: PackageFolder.url.path)
    #expect(violations == [])
  }
}
