/// Notes for the next save of a context: the things that it writes or reports beside changed objects. A rollback and a reset drop all of it.
struct NextSave {
  /// The error of a change that was made on an object that has left the context for another one; the save throws it.
  var lostEdit: HeartwoodError?
  /// The stores that new objects are assigned to, by their temporary keys.
  var assignedStores: [UInt64: StoreIdentity] = [:]
  /// The authors of what children have saved here since the last save; nil for those without one.
  var authorsOfChildren: Set<String?> = []
  /// The positions of consumers of the history that the save writes.
  var completedSteps: [ConsumerStep] = []
}
