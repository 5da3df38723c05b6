/// Results that follow a context.
extension ManagedObjectContext {
  /// The results of a request as this context changes; see `LiveQuery`.
  public func liveQuery<Object: ManagedObject>(_ request: FetchRequest<Object>) -> LiveQuery<Object> {
    LiveQuery(request, in: self)
  }

  /// The rows of a fetch as this context changes; see `LiveRows`.
  public func liveRows<Row>(_ fetch: RowFetch<Row>) -> LiveRows<Row> { LiveRows(fetch, in: self) }
}
