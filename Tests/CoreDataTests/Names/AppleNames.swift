/// The public names of Apple's Core Data as of its SDK of version 26, as Swift has them, without those of CloudKit, Spotlight, SwiftUI and
/// ubiquity: each type with its members.
enum AppleNames {
  static let types: [(type: String, members: String)] = [
    (
      "NSManagedObject",
      """
      init(entity:insertInto:) init(context:) entity() fetchRequest() contextShouldIgnoreUnmodeledPropertyChanges managedObjectContext entity objectID
      isInserted isUpdated isDeleted hasChanges hasPersistentChangedValues isFault faultingState hasFault(forRelationshipNamed:)
      objectIDs(forRelationshipNamed:) awakeFromFetch() awakeFromInsert() awake(fromSnapshotEvents:) prepareForDeletion() willSave() didSave()
      willTurnIntoFault() didTurnIntoFault() value(forKey:) setValue(_:forKey:) primitiveValue(forKey:) setPrimitiveValue(_:forKey:)
      committedValues(forKeys:) changedValues() changedValuesForCurrentEvent() validateValue(_:forKey:) validateForDelete() validateForInsert()
      validateForUpdate() willAccessValue(forKey:) didAccessValue(forKey:) willChangeValue(forKey:) didChangeValue(forKey:)
      willChangeValue(forKey:withSetMutation:using:) didChangeValue(forKey:withSetMutation:using:) observationInfo mutableSetValue(forKey:)
      mutableOrderedSetValue(forKey:) value(forKeyPath:) setValue(_:forKeyPath:) dictionaryWithValues(forKeys:) setValuesForKeys(_:)
      value(forUndefinedKey:) setValue(_:forUndefinedKey:) setNilValueForKey(_:) keyPathsForValuesAffectingValue(forKey:) description isEqual(_:) hash
      """
    ),
    (
      "NSManagedObjectContext",
      """
      init(concurrencyType:) init(_:) ConcurrencyType ScheduledTaskType NotificationKey perform(_:) perform(schedule:_:) performAndWait(_:) persistentStoreCoordinator parent name
      undoManager hasChanges userInfo concurrencyType object(with:) registeredObject(for:) existingObject(with:) fetch(_:) count(for:) execute(_:)
      insert(_:) delete(_:) refresh(_:mergeChanges:) detectConflicts(for:) processPendingChanges() assign(_:to:) insertedObjects updatedObjects
      deletedObjects registeredObjects undo() redo() reset() rollback() save() refreshAllObjects() propagatesDeletesAtEndOfEvent
      retainsRegisteredObjects shouldDeleteInaccessibleFaults shouldHandleInaccessibleFault(_:for:triggeredByProperty:)
      stalenessInterval mergePolicy
      obtainPermanentIDs(for:) mergeChanges(fromContextDidSave:) mergeChanges(fromRemoteContextSave:into:) queryGenerationToken
      setQueryGenerationFrom(_:) automaticallyMergesChangesFromParent transactionAuthor willSaveObjectsNotification didSaveObjectsNotification
      didSaveObjectIDsNotification didChangeObjectsNotification didMergeChangesObjectIDsNotification observeValue(forKeyPath:of:change:context:) lock() unlock() tryLock()
      """
    ),
    (
      "NSManagedObjectContextConcurrencyType",
      "privateQueueConcurrencyType mainQueueConcurrencyType confinementConcurrencyType"
    ),
    ("NSManagedObjectID", "entity persistentStore isTemporaryID uriRepresentation()"),
    (
      "NSManagedObjectModel",
      """
      init() init(contentsOf:) init(byMerging:) init(byMerging:forStoreMetadata:) mergedModel(from:) mergedModel(from:forStoreMetadata:) entitiesByName entities
      configurations entities(forConfigurationName:) setEntities(_:forConfigurationName:) setFetchRequestTemplate(_:forName:)
      fetchRequestTemplate(forName:) fetchRequestFromTemplate(withName:substitutionVariables:) localizationDictionary
      isConfiguration(withName:compatibleWithStoreMetadata:) fetchRequestTemplatesByName versionIdentifiers entityVersionHashesByName versionChecksum
      checksumsForVersionedModel(at:)
      """
    ),
    (
      "NSEntityDescription",
      """
      entity(forEntityName:in:) insertNewObject(forEntityName:into:) managedObjectModel managedObjectClassName name isAbstract subentitiesByName
      subentities superentity propertiesByName properties userInfo attributesByName relationshipsByName relationships(forDestination:)
      isKindOf(entity:) versionHash versionHashModifier renamingIdentifier indexes uniquenessConstraints compoundIndexes
      coreSpotlightDisplayNameExpression
      """
    ),
    (
      "NSPropertyDescription",
      """
      entity name isOptional isTransient validationPredicates validationWarnings setValidationPredicates(_:withValidationWarnings:) userInfo isIndexed
      versionHash versionHashModifier isIndexedBySpotlight isStoredInExternalRecord renamingIdentifier
      """
    ),
    (
      "NSAttributeDescription",
      """
      AttributeType attributeType type attributeValueClassName defaultValue versionHash valueTransformerName allowsExternalBinaryDataStorage
      preservesValueInHistoryOnDeletion allowsCloudEncryption
      """
    ),
    (
      "NSAttributeType",
      """
      undefinedAttributeType integer16AttributeType integer32AttributeType integer64AttributeType decimalAttributeType doubleAttributeType
      floatAttributeType stringAttributeType booleanAttributeType dateAttributeType binaryDataAttributeType UUIDAttributeType URIAttributeType
      transformableAttributeType objectIDAttributeType compositeAttributeType
      """
    ),
    (
      "NSRelationshipDescription",
      "destinationEntity inverseRelationship maxCount minCount deleteRule isToMany versionHash isOrdered"
    ),
    ("NSDeleteRule", "noActionDeleteRule nullifyDeleteRule cascadeDeleteRule denyDeleteRule"),
    ("NSFetchedPropertyDescription", "fetchRequest"),
    ("NSExpressionDescription", "expression expressionResultType resultType"),
    ("NSDerivedAttributeDescription", "derivationExpression"),
    ("NSCompositeAttributeDescription", "elements"),
    ("NSFetchIndexDescription", "init(name:elements:) name elements entity partialIndexPredicate"),
    (
      "NSFetchIndexElementDescription",
      "init(property:collationType:) property propertyName collationType isAscending indexDescription"
    ),
    ("NSFetchIndexElementType", "binary rTree"),
    (
      "NSPersistentStore",
      """
      StoreType init(persistentStoreCoordinator:configurationName:at:options:) metadataForPersistentStore(with:) setMetadata(_:forPersistentStoreAt:)
      migrationManagerClass() loadMetadata() persistentStoreCoordinator configurationName options url identifier type isReadOnly metadata
      didAdd(to:) willRemove(from:) coreSpotlightExporter
      """
    ),
    (
      "NSPersistentStoreCoordinator",
      """
      init(managedObjectModel:) managedObjectModel persistentStores name persistentStore(for:) url(for:) setURL(_:for:)
      addPersistentStore(ofType:configurationName:at:options:) addPersistentStore(type:configuration:at:options:)
      addPersistentStore(with:completionHandler:) remove(_:) setMetadata(_:for:) metadata(for:) managedObjectID(forURIRepresentation:)
      managedObjectID(for:) execute(_:with:) registeredStoreTypes registerStoreClass(_:forStoreType:) registerStoreClass(_:type:)
      metadataForPersistentStore(ofType:at:options:) metadataForPersistentStore(type:at:options:)
      setMetadata(_:forPersistentStoreOfType:at:options:) setMetadata(_:type:at:options:) elementsDerived(fromExternalRecordAt:)
      metadataForPersistentStore(ofType:at:) setMetadata(_:forPersistentStoreOfType:at:)
      importStore(withIdentifier:fromExternalRecordsDirectoryAt:to:options:ofType:)
      migratePersistentStore(_:to:options:withType:) migratePersistentStore(_:to:options:type:) destroyPersistentStore(at:ofType:options:)
      destroyPersistentStore(at:type:options:)
      replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:ofType:)
      replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:) perform(_:) performAndWait(_:)
      currentPersistentHistoryToken(fromStores:) finishDeferredLightweightMigration() finishDeferredLightweightMigrationTask() lock() unlock() tryLock()
      """
    ),
    (
      "NSPersistentContainer",
      """
      init(name:) init(name:managedObjectModel:) defaultDirectoryURL() name viewContext managedObjectModel persistentStoreCoordinator
      persistentStoreDescriptions loadPersistentStores(completionHandler:) newBackgroundContext() performBackgroundTask(_:)
      """
    ),
    (
      "NSPersistentStoreDescription",
      """
      init(url:) type configuration url options setOption(_:forKey:) isReadOnly timeout sqlitePragmas setValue(_:forPragmaNamed:)
      shouldAddStoreAsynchronously shouldMigrateStoreAutomatically shouldInferMappingModelAutomatically
      """
    ),
    ("NSPersistentStoreRequest", "affectedStores requestType"),
    (
      "NSPersistentStoreRequestType",
      "fetchRequestType saveRequestType batchInsertRequestType batchUpdateRequestType batchDeleteRequestType"
    ),
    (
      "NSSaveChangesRequest",
      "init(inserted:updated:deleted:locked:) insertedObjects updatedObjects deletedObjects lockedObjects"
    ),
    ("NSPersistentStoreResult", ""),
    ("NSPersistentStoreAsynchronousResult", "managedObjectContext operationError progress cancel()"),
    (
      "NSFetchRequest",
      """
      init() init(entityName:) execute() entity entityName predicate sortDescriptors fetchLimit affectedStores resultType includesSubentities
      includesPropertyValues returnsObjectsAsFaults relationshipKeyPathsForPrefetching includesPendingChanges returnsDistinctResults
      propertiesToFetch fetchOffset fetchBatchSize shouldRefreshRefetchedObjects propertiesToGroupBy havingPredicate
      """
    ),
    ("NSFetchRequestResult", ""),
    (
      "NSFetchRequestResultType",
      "managedObjectResultType managedObjectIDResultType dictionaryResultType countResultType"
    ),
    (
      "NSFetchRequestExpression",
      "expression(forFetch:context:countOnly:) requestExpression contextExpression isCountOnlyRequest"
    ),
    (
      "NSAsynchronousFetchRequest",
      "init(fetchRequest:completionBlock:) fetchRequest completionBlock estimatedResultCount"
    ),
    ("NSPersistentStoreAsynchronousFetchResultCompletionBlock", ""),
    ("NSAsynchronousFetchResult", "fetchRequest finalResult"),
    (
      "NSBatchInsertRequest",
      """
      init(entityName:objects:) init(entity:objects:) init(entityName:dictionaryHandler:) init(entity:dictionaryHandler:)
      init(entityName:managedObjectHandler:) init(entity:managedObjectHandler:) entityName entity objectsToInsert dictionaryHandler
      managedObjectHandler resultType
      """
    ),
    ("NSBatchInsertResult", "result resultType"),
    ("NSBatchInsertRequestResultType", "statusOnly objectIDs count"),
    (
      "NSBatchUpdateRequest",
      "init(entityName:) init(entity:) entityName entity predicate includesSubentities resultType propertiesToUpdate"
    ),
    ("NSBatchUpdateResult", "result resultType"),
    (
      "NSBatchUpdateRequestResultType",
      "statusOnlyResultType updatedObjectIDsResultType updatedObjectsCountResultType"
    ),
    ("NSBatchDeleteRequest", "init(fetchRequest:) init(objectIDs:) resultType fetchRequest"),
    ("NSBatchDeleteResult", "result resultType"),
    ("NSBatchDeleteRequestResultType", "resultTypeStatusOnly resultTypeObjectIDs resultTypeCount"),
    (
      "NSFetchedResultsController",
      """
      init(fetchRequest:managedObjectContext:sectionNameKeyPath:cacheName:) performFetch() fetchRequest managedObjectContext sectionNameKeyPath
      cacheName delegate deleteCache(withName:) fetchedObjects object(at:) indexPath(forObject:) sectionIndexTitle(forSectionName:)
      sectionIndexTitles sections section(forSectionIndexTitle:at:)
      """
    ),
    (
      "NSFetchedResultsControllerDelegate",
      """
      controller(_:didChangeContentWith:) controller(_:didChange:at:for:newIndexPath:) controller(_:didChange:atSectionIndex:for:)
      controllerWillChangeContent(_:) controllerDidChangeContent(_:) controller(_:sectionIndexTitleForSectionName:)
      """
    ),
    ("NSFetchedResultsSectionInfo", "name indexTitle numberOfObjects objects"),
    ("NSFetchedResultsChangeType", "insert delete move update"),
    (
      "NSMergePolicy",
      """
      init(merge:) mergeType error rollback overwrite mergeByPropertyObjectTrump mergeByPropertyStoreTrump resolve(mergeConflicts:)
      resolve(optimisticLockingConflicts:) resolve(constraintConflicts:)
      """
    ),
    (
      "NSMergePolicyType",
      """
      errorMergePolicyType mergeByPropertyStoreTrumpMergePolicyType mergeByPropertyObjectTrumpMergePolicyType overwriteMergePolicyType
      rollbackMergePolicyType
      """
    ),
    (
      "NSMergeConflict",
      "init(source:newVersion:oldVersion:cachedSnapshot:persistedSnapshot:) sourceObject objectSnapshot cachedSnapshot persistedSnapshot newVersionNumber oldVersionNumber"
    ),
    (
      "NSConstraintConflict",
      "init(constraint:database:databaseSnapshot:conflicting:conflictingSnapshots:) constraint constraintValues databaseObject databaseSnapshot conflictingObjects conflictingSnapshots"
    ),
    ("NSQueryGenerationToken", "current"),
    (
      "NSPersistentHistoryChangeRequest",
      """
      fetchHistory(after:) fetchHistory(withFetch:) deleteHistory(before:) resultType token fetchRequest
      """
    ),
    ("NSPersistentHistoryResult", "result resultType"),
    (
      "NSPersistentHistoryResultType",
      "statusOnly objectIDs count transactionsOnly changesOnly transactionsAndChanges"
    ),
    ("NSPersistentHistoryToken", ""),
    (
      "NSPersistentHistoryTransaction",
      """
      entityDescription(with:) entityDescription fetchRequest timestamp changes transactionNumber storeID bundleID processID contextName author
      token objectIDNotification()
      """
    ),
    (
      "NSPersistentHistoryChange",
      "entityDescription(with:) entityDescription fetchRequest changeID changedObjectID changeType tombstone transaction updatedProperties"
    ),
    ("NSPersistentHistoryChangeType", "insert update delete"),
    (
      "NSMigrationManager",
      """
      init(sourceModel:destinationModel:) migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)
      migrateStore(from:type:options:mapping:to:type:options:) usesStoreSpecificMigrationManager reset() mappingModel sourceModel destinationModel sourceContext destinationContext
      sourceEntity(for:) destinationEntity(for:) associate(sourceInstance:withDestinationInstance:for:)
      destinationInstances(forEntityMappingName:sourceInstances:) sourceInstances(forEntityMappingName:destinationInstances:) currentEntityMapping
      migrationProgress userInfo cancelMigrationWithError(_:)
      """
    ),
    (
      "NSMappingModel",
      "init(from:forSourceModel:destinationModel:) init(contentsOf:) inferredMappingModel(forSourceModel:destinationModel:) entityMappings entityMappingsByName"
    ),
    (
      "NSEntityMapping",
      """
      name mappingType sourceEntityName sourceEntityVersionHash destinationEntityName destinationEntityVersionHash attributeMappings
      relationshipMappings sourceExpression userInfo entityMigrationPolicyClassName
      """
    ),
    (
      "NSEntityMappingType",
      """
      undefinedEntityMappingType customEntityMappingType addEntityMappingType removeEntityMappingType copyEntityMappingType
      transformEntityMappingType
      """
    ),
    ("NSPropertyMapping", "name valueExpression userInfo"),
    (
      "NSEntityMigrationPolicy",
      """
      begin(_:with:) createDestinationInstances(forSource:in:manager:) endInstanceCreation(forMapping:manager:)
      createRelationships(forDestination:in:manager:) endRelationshipCreation(forMapping:manager:) performCustomValidation(forMapping:manager:)
      end(_:manager:)
      """
    ),
    ("NSStagedMigrationManager", "init(_:) stages container"),
    ("NSMigrationStage", "label"),
    ("NSLightweightMigrationStage", "init(_:) versionChecksums"),
    (
      "NSCustomMigrationStage",
      "init(migratingFrom:to:) currentModel nextModel willMigrateHandler didMigrateHandler"
    ),
    (
      "NSManagedObjectModelReference",
      "init(model:versionChecksum:) init(fileURL:versionChecksum:) init(entityVersionHashes:in:versionChecksum:) init(name:in:versionChecksum:) resolvedModel versionChecksum"
    ),
    (
      "NSAtomicStore",
      """
      init(persistentStoreCoordinator:configurationName:at:options:) load() save() newCacheNode(for:) updateCacheNode(_:from:) cacheNodes()
      addCacheNodes(_:) willRemoveCacheNodes(_:) cacheNode(for:) objectID(for:withReferenceObject:) newReferenceObject(for:) referenceObject(for:)
      """
    ),
    ("NSAtomicStoreCacheNode", "init(objectID:) objectID propertyCache value(forKey:) setValue(_:forKey:)"),
    (
      "NSIncrementalStore",
      """
      loadMetadata() execute(_:with:) newValuesForObject(with:with:) newValue(forRelationship:forObjectWith:with:) identifierForNewStore(at:)
      obtainPermanentIDs(for:) managedObjectContextDidRegisterObjects(with:) managedObjectContextDidUnregisterObjects(with:)
      newObjectID(for:referenceObject:) referenceObject(for:)
      """
    ),
    (
      "NSIncrementalStoreNode",
      "init(objectID:withValues:version:) update(withValues:version:) objectID version value(for:)"
    ),
    (
      "NSSnapshotEventType",
      "undoInsertion undoDeletion undoUpdate rollback refresh mergePolicy"
    ),
    ("NSCoreDataCoreSpotlightDelegate", ""),
    ("NSPersistentCloudKitContainer", ""),
  ]

  /// Constants and functions of the module.
  static let globals = """
    NSSQLiteStoreType NSXMLStoreType NSBinaryStoreType NSInMemoryStoreType NSStoreTypeKey NSStoreUUIDKey NSReadOnlyPersistentStoreOption
    NSValidateXMLStoreOption NSPersistentStoreTimeoutOption NSSQLitePragmasOption NSSQLiteAnalyzeOption NSSQLiteManualVacuumOption
    NSIgnorePersistentStoreVersioningOption NSMigratePersistentStoresAutomaticallyOption NSInferMappingModelAutomaticallyOption
    NSStoreModelVersionHashesKey NSStoreModelVersionIdentifiersKey NSPersistentStoreOSCompatibility NSPersistentStoreConnectionPoolMaxSizeKey
    NSPersistentHistoryTrackingKey NSBinaryStoreSecureDecodingClasses NSBinaryStoreInsecureDecodingCompatibilityOption
    NSPersistentStoreForceDestroyOption NSPersistentStoreFileProtectionKey NSPersistentStoreRemoteChangeNotificationPostOptionKey
    NSPersistentStoreDeferredLightweightMigrationOptionKey NSPersistentStoreStagedMigrationManagerOptionKey
    NSPersistentStoreModelVersionChecksumKey NSCoreDataCoreSpotlightExporter NSAddedPersistentStoresKey NSRemovedPersistentStoresKey
    NSUUIDChangedPersistentStoresKey NSPersistentStoreURLKey NSPersistentHistoryTokenKey NSExternalRecordsFileFormatOption
    NSExternalRecordsDirectoryOption NSExternalRecordExtensionOption NSEntityNameInPathKey NSStoreUUIDInPathKey NSStorePathKey
    NSModelPathKey NSObjectURIKey NSXMLExternalRecordType NSBinaryExternalRecordType
    NSErrorMergePolicy NSMergeByPropertyStoreTrumpMergePolicy NSMergeByPropertyObjectTrumpMergePolicy NSOverwriteMergePolicy NSRollbackMergePolicy
    NSInsertedObjectsKey NSUpdatedObjectsKey NSDeletedObjectsKey NSRefreshedObjectsKey NSInvalidatedObjectsKey NSInvalidatedAllObjectsKey
    NSInsertedObjectIDsKey NSUpdatedObjectIDsKey NSDeletedObjectIDsKey NSRefreshedObjectIDsKey NSInvalidatedObjectIDsKey
    NSManagedObjectContextQueryGenerationKey NSManagedObjectContextWillSave NSManagedObjectContextDidSave NSManagedObjectContextObjectsDidChange
    NSManagedObjectContextDidSaveObjectIDs NSManagedObjectContextDidMergeChangesObjectIDs NSPersistentStoreCoordinatorStoresWillChange
    NSPersistentStoreCoordinatorStoresDidChange NSPersistentStoreCoordinatorWillRemoveStore NSPersistentStoreRemoteChange
    NSMigrationManagerKey NSMigrationSourceObjectKey NSMigrationDestinationObjectKey NSMigrationEntityMappingKey NSMigrationPropertyMappingKey
    NSMigrationEntityPolicyKey NSFetchRequestExpressionType NSCoreDataVersionNumber
    NSDetailedErrorsKey NSValidationObjectErrorKey NSValidationKeyErrorKey NSValidationPredicateErrorKey NSValidationValueErrorKey
    NSAffectedStoresErrorKey NSAffectedObjectsErrorKey NSPersistentStoreSaveConflictsErrorKey NSSQLiteErrorDomain
    NSManagedObjectValidationError NSManagedObjectConstraintValidationError NSValidationMultipleErrorsError
    NSValidationMissingMandatoryPropertyError NSValidationRelationshipLacksMinimumCountError NSValidationRelationshipExceedsMaximumCountError
    NSValidationRelationshipDeniedDeleteError NSValidationNumberTooLargeError NSValidationNumberTooSmallError NSValidationDateTooLateError
    NSValidationDateTooSoonError NSValidationInvalidDateError NSValidationStringTooLongError NSValidationStringTooShortError
    NSValidationStringPatternMatchingError NSValidationInvalidURIError NSManagedObjectContextLockingError
    NSPersistentStoreCoordinatorLockingError NSManagedObjectReferentialIntegrityError NSManagedObjectExternalRelationshipError
    NSManagedObjectMergeError NSManagedObjectConstraintMergeError NSPersistentStoreInvalidTypeError NSPersistentStoreTypeMismatchError
    NSPersistentStoreIncompatibleSchemaError NSPersistentStoreSaveError NSPersistentStoreIncompleteSaveError
    NSPersistentStoreSaveConflictsError NSCoreDataError NSPersistentStoreOperationError NSPersistentStoreOpenError NSPersistentStoreTimeoutError
    NSPersistentStoreUnsupportedRequestTypeError NSPersistentStoreIncompatibleVersionHashError NSMigrationError
    NSMigrationConstraintViolationError NSMigrationCancelledError NSMigrationMissingSourceModelError NSMigrationMissingMappingModelError
    NSMigrationManagerSourceStoreError NSMigrationManagerDestinationStoreError NSEntityMigrationPolicyError NSSQLiteError
    NSInferredMappingModelError NSExternalRecordImportError NSPersistentHistoryTokenExpiredError NSManagedObjectModelReferenceNotFoundError
    NSStagedMigrationFrameworkVersionMismatchError NSStagedMigrationBackwardMigrationError
    """
}
