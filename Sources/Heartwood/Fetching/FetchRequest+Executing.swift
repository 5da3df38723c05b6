extension FetchRequest where Object: ManagedObject {
  /// The objects that the request finds in the context whose block runs: that of `perform` or `performAndWait`, or of an actor of the
  /// context.
  ///
  /// - Throws: `.coreData` outside of such a block; otherwise as `ManagedObjectContext.fetch(_:)`.
  public func execute() throws -> [Object] { try Self.runningContext().fetch(self) }
}

extension FetchRequest where Object == ManagedObjectID {
  /// The identifiers that the request finds in the context whose block runs.
  ///
  /// - Throws: As `execute()` of a request for objects.
  public func execute() throws -> [ManagedObjectID] { try Self.runningContext().fetch(self) }
}

extension FetchRequest where Object == [String: Any] {
  /// The dictionaries of the request in the context whose block runs.
  ///
  /// - Throws: As `execute()` of a request for objects.
  public func execute() throws -> [[String: Any]] { try Self.runningContext().fetch(self) }
}

extension FetchRequest where Object == Int {
  /// The number of objects that the request finds in the context whose block runs, in an array of one element.
  ///
  /// - Throws: As `execute()` of a request for objects.
  public func execute() throws -> [Int] { try Self.runningContext().fetch(self) }
}

extension FetchRequest {
  private static func runningContext() throws(HeartwoodError) -> ManagedObjectContext {
    if let context = ManagedObjectContext.running.current { return context }
    throw HeartwoodError(
      .coreData,
      "no block of a context runs on this thread, so that it is not known where to fetch: call execute() inside of perform or "
        + "performAndWait, or fetch with a context")
  }
}
