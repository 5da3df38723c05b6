#if canImport(ObjectiveC)
  @_exported import CoreData
#endif
