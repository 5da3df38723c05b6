import Foundation

/// The description of a save in the history.
struct TransactionInfo: Sendable {
  var author: String?
  var contextName: String?
  /// Nil for the current time of the store's clock.
  var date: Date?
  /// Nil if the history does not name the program.
  var program: SavingProgram?
  /// Whether the save is recorded in the history. It is recorded anyway if the store has a history.
  var tracksHistory = true

  /// The positions of consumers of the history that are saved with the transaction.
  var consumers: [ConsumerStep] = []
  /// The changes of a change set; nil for a save of the program.
  var appliedChanges: AppliedChanges?
  /// Which history is deleted with the transaction; nil for none.
  var retention: HistoryRetention?
}
