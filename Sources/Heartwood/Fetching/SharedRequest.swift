/// A copied request.
///
/// Unchecked, because it is read only after it was made.
struct SharedRequest<Object: ManagedObject>: @unchecked Sendable {
  let request: FetchRequest<Object>
}
