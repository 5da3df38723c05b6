extension FetchRequest {
  /// The objects that the request finds in the context whose block runs: that of `perform` or `performAndWait`, or of an actor of the
  /// context.
  ///
  /// - Throws: `.coreData` outside of such a block; otherwise as `ManagedObjectContext.fetch(_:)`.
  public func execute() throws -> [Object] {
    guard let context = ManagedObjectContext.running.current else {
      throw HeartwoodError(
        .coreData,
        "no block of a context runs on this thread, so that it is not known where to fetch: call execute() inside of perform or "
          + "performAndWait, or fetch with a context")
    }
    return try context.fetch(self)
  }
}
