/// The public names of Apple's SwiftData as of its SDK of version 26, and what version 27 adds, as Swift has them: each type with its
/// members, those that protocols of other modules require left out.
enum AppleSwiftDataNames {
  static let types: [(type: String, members: String)] = [
    (
      "PersistentModel",
      """
      Root init(backingData:) persistentBackingData schemaMetadata persistentModelID id modelContext hasChanges isDeleted
      getValue(forKey:) setValue(forKey:to:) getTransformableValue(forKey:) setTransformableValue(forKey:to:) createBackingData()
      """
    ),
    (
      "BackingData",
      """
      Model persistentModelID metadata init(for:) getValue(forKey:) setValue(forKey:to:) getTransformableValue(forKey:)
      setTransformableValue(forKey:to:)
      """
    ),
    ("RelationshipCollection", "PersistentElement"),
    (
      "PersistentIdentifier",
      "id entityName storeIdentifier identifier(for:entityName:primaryKey:) init(from:) encode(to:)"
    ),
    (
      "ModelContainer",
      """
      init(for:migrationPlan:configurations:) schema migrationPlan configurations mainContext deleteAllData() erase() remoteChange
      """
    ),
    (
      "ModelConfiguration",
      """
      init(isStoredInMemoryOnly:) init(for:isStoredInMemoryOnly:)
      init(_:schema:isStoredInMemoryOnly:allowsSave:groupContainer:cloudKitDatabase:) init(_:schema:url:allowsSave:cloudKitDatabase:)
      name schema url isStoredInMemoryOnly allowsSave groupContainer cloudKitDatabase groupAppContainerIdentifier cloudKitContainerIdentifier id GroupContainer
      CloudKitDatabase debugDescription validate()
      """
    ),
    ("ModelConfiguration.GroupContainer", "automatic none identifier(_:)"),
    ("ModelConfiguration.CloudKitDatabase", "automatic none private(_:)"),
    (
      "ModelContext",
      """
      init(_:) container autosaveEnabled undoManager author editingState hasChanges insertedModelsArray changedModelsArray
      deletedModelsArray insert(_:) delete(_:) delete(model:where:includeSubclasses:) save() rollback() processPendingChanges()
      transaction(block:) model(for:) registeredModel(for:) fetch(_:) fetch(_:batchSize:) fetchCount(_:) fetchIdentifiers(_:)
      fetchIdentifiers(_:batchSize:) enumerate(_:batchSize:allowEscapingMutations:block:) fetchHistory(_:) deleteHistory(_:) willSave
      didSave NotificationKey debugDescription
      """
    ),
    (
      "ModelContext.NotificationKey",
      "queryGeneration invalidatedAllIdentifiers insertedIdentifiers updatedIdentifiers deletedIdentifiers"
    ),
    (
      "FetchDescriptor",
      """
      init(predicate:sortBy:) predicate sortBy fetchLimit fetchOffset includePendingChanges propertiesToFetch
      relationshipKeyPathsForPrefetching
      """
    ),
    ("FetchResultsCollection", "startIndex endIndex"),
    ("ModelActor", "modelContainer modelExecutor modelContext unownedExecutor subscript(id:as:)"),
    ("ModelExecutor", "modelContext"),
    ("SerialModelExecutor", ""),
    ("DefaultSerialModelExecutor", "init(modelContext:) modelContext enqueue(_:) asUnownedSerialExecutor()"),
    (
      "Schema",
      """
      init() init(_:version:) init(versionedSchema:) entities entitiesByName version encodingVersion schemaEncodingVersion save(to:) load(from:) entity(for:)
      entityName(for:) Version Entity Attribute CompositeAttribute Relationship Index Unique PropertyMetadata init(from:) encode(to:)
      debugDescription
      """
    ),
    ("Schema.Version", "init(_:_:_:) major minor patch description"),
    (
      "Schema.Entity",
      """
      init(_:) init(_:subentities:properties:) name superentity superentityName subentities properties storedProperties
      storedPropertiesByName inheritedProperties inheritedPropertiesByName attributes attributesByName relationships
      relationshipsByName uniquenessConstraints indices init(from:) encode(to:) debugDescription
      """
    ),
    (
      "SchemaProperty",
      "name originalName valueType isAttribute isRelationship isTransient isOptional isUnique"
    ),
    (
      "Schema.Attribute",
      """
      init(_:originalName:hashModifier:) init(name:originalName:options:valueType:defaultValue:hashModifier:) name originalName options
      valueType defaultValue hashModifier isAttribute isRelationship isTransient isOptional isUnique isTransformable Option
      """
    ),
    (
      "Schema.Attribute.Option",
      """
      unique externalStorage allowsCloudEncryption preserveValueOnDeletion ephemeral spotlight codable transformable(by:)
      """
    ),
    ("Schema.CompositeAttribute", "properties"),
    (
      "Schema.Relationship",
      """
      init(_:deleteRule:minimumModelCount:maximumModelCount:originalName:inverse:hashModifier:) name originalName options valueType
      destination inverseName keypath inverseKeyPath deleteRule minimumModelCount maximumModelCount hashModifier isToOneRelationship
      isAttribute isRelationship isTransient isOptional isUnique Option DeleteRule
      """
    ),
    ("Schema.Relationship.Option", "unique"),
    ("Schema.Relationship.DeleteRule", "noAction nullify cascade deny"),
    (
      "Schema.Index",
      """
      init(_:) indices Types name originalName valueType isAttribute isRelationship isTransient isOptional isUnique CodingKeys
      init(from:) encode(to:) debugDescription
      """
    ),
    ("Schema.Index.Types", "binary rtree"),
    (
      "Schema.Unique",
      """
      init(_:) constraints name originalName valueType isAttribute isRelationship isTransient isOptional isUnique CodingKeys
      init(from:) encode(to:) debugDescription
      """
    ),
    (
      "Schema.PropertyMetadata",
      "init(name:keypath:defaultValue:metadata:) name keypath defaultValue metadata"
    ),
    ("VersionedSchema", "models versionIdentifier"),
    ("SchemaMigrationPlan", "schemas stages"),
    ("MigrationStage", "lightweight custom"),
    ("HistoryDescriptor", "init(predicate:) predicate fetchLimit sortBy"),
    (
      "HistoryTransaction",
      "TokenType token timestamp transactionIdentifier author changes storeIdentifier"
    ),
    ("HistoryChange", "insert update delete changedPersistentIdentifier"),
    ("HistoryInsert", "Model transactionIdentifier changeIdentifier changedPersistentIdentifier"),
    (
      "HistoryUpdate",
      "Model PropertyUpdate transactionIdentifier changeIdentifier changedPersistentIdentifier updatedAttributes"
    ),
    ("HistoryDelete", "Model transactionIdentifier changeIdentifier changedPersistentIdentifier tombstone"),
    ("HistoryTombstone", "subscript(_:) makeIterator()"),
    ("HistoryToken", "TokenType tokenValue"),
    ("HistoryProviding", "HistoryType historyType fetchHistory(_:) deleteHistory(_:)"),
    ("DefaultHistoryToken", "tokenValue id init(from:) encode(to:)"),
    (
      "DefaultHistoryTransaction",
      """
      token timestamp transactionIdentifier author changes storeIdentifier bundleIdentifier processIdentifier
      """
    ),
    ("DefaultHistoryInsert", "transactionIdentifier changeIdentifier changedPersistentIdentifier"),
    (
      "DefaultHistoryUpdate",
      "transactionIdentifier changeIdentifier changedPersistentIdentifier updatedAttributes"
    ),
    ("DefaultHistoryDelete", "transactionIdentifier changeIdentifier changedPersistentIdentifier tombstone"),
    (
      "DataStore",
      """
      Configuration Snapshot configuration identifier schema init(_:migrationPlan:) fetch(_:) fetchCount(_:) fetchIdentifiers(_:)
      save(_:) erase() initializeState(for:) invalidateState(for:) cachedSnapshots(for:editingState:)
      """
    ),
    ("DataStoreConfiguration", "Store name schema validate()"),
    (
      "DataStoreSnapshot",
      "persistentIdentifier init(from:relatedBackingDatas:) copy(persistentIdentifier:remappedIdentifiers:)"
    ),
    ("DataStoreSnapshotCodingKey", "persistentIdentifier modeledProperty stringValue intValue"),
    ("DataStoreFetchRequest", "descriptor editingState"),
    (
      "DataStoreFetchResult",
      "init(descriptor:fetchedSnapshots:relatedSnapshots:) descriptor fetchedSnapshots relatedSnapshots"
    ),
    ("DataStoreSaveChangesRequest", "editingState inserted updated deleted"),
    (
      "DataStoreSaveChangesResult",
      """
      init(for:remappedIdentifiers:snapshotsToReregister:) storeIdentifier remappedIdentifiers snapshotsToReregister
      """
    ),
    ("DataStoreBatching", "delete(_:)"),
    ("DataStoreBatchDeleteRequest", "predicate editingState includeSubclasses"),
    ("DataStoreError", "unsupportedFeature preferInMemoryFilter preferInMemorySort invalidPredicate"),
    ("DataStoreSnapshotValue", ""),
    ("EditingState", "id author"),
    (
      "DefaultStore",
      """
      name configuration identifier schema init(_:migrationPlan:) fetch(_:) fetchCount(_:) fetchIdentifiers(_:) save(_:) erase()
      initializeState(for:) invalidateState(for:) cachedSnapshots(for:editingState:) fetchHistory(_:) deleteHistory(_:) delete(_:)
      """
    ),
    (
      "DefaultSnapshot",
      """
      persistentIdentifier init(from:relatedBackingDatas:) copy(persistentIdentifier:remappedIdentifiers:) init(from:) encode(to:)
      """
    ),
    (
      "SwiftDataError",
      """
      unsupportedPredicate unsupportedSortDescriptor unsupportedKeyPath includePendingChangesWithBatchSize
      sortingPendingChangesWithIdentifiers duplicateConfiguration configurationFileNameContainsInvalidCharacters
      configurationFileNameTooLong configurationSchemaNotFoundInContainerSchema loadIssueModelContainer modelValidationFailure
      missingModelContext backwardMigration unknownSchema historyTokenExpired invalidTransactionFetchRequest
      """
    ),
    (
      "ResultsObserver",
      """
      init(fetchDescriptor:modelContext:isolation:) init(filterBy:sortBy:modelContext:isolation:)
      init(fetchDescriptor:sectionBy:modelContext:isolation:) init(filterBy:sortBy:sectionBy:modelContext:isolation:)
      init(fetchDescriptor:modelContainer:isolation:) init(filterBy:sortBy:modelContainer:isolation:) results sections
      """
    ),
    (
      "HistoryObserver",
      "init(historyTokens:observedModels:authors:modelContainer:isolation:) eventCounter historyTokens"
    ),
  ]

  /// Macros; an attribute stands for each way to use it.
  static let macros = """
    @Model @ModelActor @Attribute @Relationship @Transient @Unique @Index @_PersistedProperty @_TransformablePersistedProperty @Query
    """

  /// Members of SwiftUI's types, which cannot be named without SwiftUI.
  static let ofSwiftUI = "modelContainer \\.modelContext"
}
