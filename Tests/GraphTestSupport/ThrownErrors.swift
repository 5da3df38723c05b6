import Heartwood

/// The `HeartwoodError` that `body` throws, if any.
package func heartwoodError(_ body: () throws -> Void) -> HeartwoodError? {
  do {
    try body()
    return nil
  } catch {
    return error as? HeartwoodError
  }
}

/// The text of the error that `body` throws, if any.
package func heartwoodMessage(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch {
    return (error as? HeartwoodError)?.message ?? "\(error)"
  }
}

/// The message with which the model of `types` is refused, if it is.
package func modelError(_ types: [ManagedObject.Type]) -> String? {
  do {
    _ = try ManagedObjectModel(types: types)
    return nil
  } catch {
    return error.message
  }
}
