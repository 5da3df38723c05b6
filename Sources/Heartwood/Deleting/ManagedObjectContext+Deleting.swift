/// What contexts need of delete rules.
extension ManagedObjectContext {
  /// Marks an object for deletion at the next save.
  func markDeleted(_ object: ManagedObject) { DeletePropagation(self).markDeleted(object) }

  /// Applies the delete rules of the objects that were deleted since they were last applied.
  func propagateDeletes() {
    if !unpropagatedDeletes.isEmpty { DeletePropagation(self).propagateDeletes() }
  }
}
