import HeartwoodBytes

/// Rows that arrive one after the other.
extension ManagedObjectContext {
  /// Inserts the elements of an asynchronous sequence as rows in one transaction, all or none.
  ///
  /// The rows are kept in memory, as values, until the sequence ends; only then is the transaction begun, so that no other save waits
  /// for the sequence. For rows that need not be inserted together, execute a `BatchInsertRequest` for each part of them.
  ///
  /// - Parameters:
  ///   - rows: The rows, each as in `BatchInsertRequest.init(entityName:rows:)`.
  ///   - entityName: The name of the entity.
  ///   - resultType: What the result contains.
  ///   - validates: Whether the values are checked by the rules of the model.
  ///   - contexts: Contexts that merge the changes before this call returns, each on its queue.
  /// - Throws: What the sequence throws; otherwise as for a batch insert.
  @discardableResult
  @_disfavoredOverload
  public nonisolated(nonsending) func executeBatchInsert<Rows: AsyncSequence>(
    of rows: Rows, entityName: String, resultType: BatchInsertRequestResultType = .statusOnly,
    validates: Bool = false, mergingInto contexts: [ManagedObjectContext] = []
  ) async throws -> BatchInsertResult where Rows.Element: Encodable {
    let reader = try await perform { try self.batchRowReader(entityName) }
    var made: [BatchRow] = []
    for try await row in rows {
      do {
        made.append(try reader.row(RowEncoder.dictionary(of: row)))
      } catch let error as HeartwoodError {
        throw error.inRow(made.count + 1)
      }
    }
    let all = made
    return try await perform {
      let request = BatchInsertRequest(entityName: entityName, made: all)
      request.resultType = resultType
      request.validates = validates
      return try self.execute(request, mergingInto: contexts)
    }
  }

  /// What makes rows of dictionaries outside of a transaction.
  private func batchRowReader(_ entityName: String) throws -> BatchRowReader {
    let store = try objectStore()
    let view = try store.view()
    return BatchRowReader(
      entity: try batchEntity(entityName), store: store.identity, indexes: { view.indexes(of: $0) })
  }
}
