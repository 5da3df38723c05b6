import Foundation
import TestSupport
import Testing

/// The files with unsafe code of the modules with Apple's names, of their macros, and of the reader of Apple's stores.
struct FaceUnsafeCodeTests {
  static let coreData = UnsafeCodeRules(
    root: "Sources/CoreData",
    rawMemory: [
      "an object as a C argument or as text": [
        "NSManagedObject.swift", "Foundation/PredicateText.swift", "Foundation/CVarArg.swift",
      ],
      "the type of a result, which Swift does not see": [
        "NSFetchedResultsController.swift", "NSManagedObjectContext.swift", "RequestCasts.swift",
        "Stores/StoreFetch.swift",
      ],
      "Foundation's own signature": [
        "Unavailable.swift", "Foundation/AutoreleasingUnsafeMutablePointer.swift",
        "Foundation/ArchivedDecimal.swift", "Foundation/ArgumentLists.swift",
        "Support/RelationshipOrderedSet.swift", "Support/FoundationValue.swift",
      ],
      "classes are found in the program's files": ["Support/ProgramClasses.swift"],
    ],
    uncheckedSendable: [
      "a class of Apple's that is Sendable, over one that is": [
        "NSPersistentContainer.swift", "NSExpressionDescription.swift", "Migration/NSMigrationManager.swift",
        "Migration/NSEntityMigrationPolicy.swift", "Stores/NSIncrementalStore.swift",
        "Stores/NSAtomicStore.swift", "Support/EmbeddedMappingModels.swift",
      ],
      "a block runs on another queue": ["NSManagedObjectContext.swift"],
      "one thread at a time has it": ["Foundation/InMemoryCondition.swift"],
      "a lock guards it": [
        "Foundation/ObjectLocks.swift", "Foundation/ValueTransformer.swift",
        "Foundation/NSKeyValueObserving.swift", "Foundation/Selector.swift", "Support/ClassEntities.swift",
        "Support/InspectedObject.swift", "Support/KeyValueObservers.swift", "Support/EmbeddedFolders.swift",
        "Support/ProgramClasses.swift", "Stores/StoreFetch.swift",
      ],
      "never changes": [
        "Support/ValidationErrors.swift", "Support/FoundationValue.swift",
        "Foundation/NotificationCenter+Sequence.swift",
      ],
    ])

  static let swiftData = UnsafeCodeRules(
    root: "Sources/SwiftData",
    rawMemory: [
      "the class of an object or a model, which was asked for before": [
        "Fetching/ModelFetch.swift", "Fetching/FetchedModels.swift", "Models/ModelRelations.swift",
        "Models/RelatedValues.swift",
      ],
      "a reference without a count": [
        "Models/ModelObject.swift", "Models/ModelStorage.swift", "Models/ModelClass.swift",
      ],
      "a value of the thread": ["Models/ModelMaking.swift"],
      "a value of a type that is known at run time only": [
        "Models/StructureFields.swift", "Models/PlaceholderValue.swift",
      ],
      "a key path that is Sendable": ["History/History.swift"],
    ],
    uncheckedSendable: [
      "used on its context's queue": [
        "Models/ModelObject.swift", "Contexts/ModelActor.swift", "Contexts/ModelObjectContext.swift",
        "Contexts/ModelContext.swift", "DataStores/DataStoreOpening.swift", "DataStores/BridgedStore.swift",
      ],
      "Apple's description, which a program changes on one thread": [
        "Schema/Schema.swift", "Schema/SchemaAttribute.swift", "Schema/SchemaRelationship.swift",
        "Schema/SchemaEntity.swift", "Schema/SchemaTraits.swift", "Migration/Migration.swift",
        "Fetching/FetchDescriptor.swift",
      ],
      "never changes": [
        "Fetching/ModelPredicate.swift", "DataStores/SnapshotContents.swift", "Models/ValueCoding.swift",
        "Models/CompositeCoding.swift", "Models/IntegerCoding.swift", "Models/FractionCoding.swift",
        "History/DefaultHistory.swift", "Containers/ModelRegistry.swift",
      ],
      "a lock or an atomic guards it": [
        "Models/ModelClass.swift", "Observers/HistoryObserver.swift", "Containers/OpenModelStores.swift",
        "Containers/ContainerContents.swift", "Containers/ModelContainer.swift",
      ],
    ])

  static let appleStores = UnsafeCodeRules(
    root: "Sources/HeartwoodAppleStores", rawMemory: [:],
    uncheckedSendable: [
      "a subclass of a store, which is": ["AppleSQLiteStore.swift"],
      "never changes": ["Tables/EntityTable.swift", "Tables/StoreTables.swift"],
      "a lock guards it": ["Reading/ReadingNotes.swift", "Reading/ObjectKeys.swift"],
    ])

  static let macros = UnsafeCodeRules(
    root: "Sources/SwiftDataMacros",
    rawMemory: ["reads and writes the messages of the compiler": ["MacroProgram.swift"]],
    uncheckedSendable: [:])

  @Test(arguments: [coreData, swiftData, appleStores, macros])
  func `only the listed files of the modules with Apple's names use unsafe code`(rules: UnsafeCodeRules)
    throws
  {
    #expect(try rules.violations(in: PackageFolder.url.path) == [])
  }
}
