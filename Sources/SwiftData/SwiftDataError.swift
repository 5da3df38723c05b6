import Foundation
import Heartwood

/// An error of a container or a context. Errors are told apart by `~=`, as in `catch SwiftDataError.modelValidationFailure`; the description says what
/// happened and what to do.
public struct SwiftDataError: Error, Equatable, Hashable, Sendable, CustomStringConvertible, LocalizedError {
  enum Kind: String, Sendable {
    case unsupportedPredicate, unsupportedSortDescriptor, unsupportedKeyPath
    case includePendingChangesWithBatchSize, sortingPendingChangesWithIdentifiers
    case duplicateConfiguration, configurationFileNameContainsInvalidCharacters, configurationFileNameTooLong
    case configurationSchemaNotFoundInContainerSchema
    case loadIssueModelContainer, modelValidationFailure, missingModelContext, backwardMigration,
      unknownSchema
    case historyTokenExpired, invalidTransactionFetchRequest
  }

  let kind: Kind
  private let text: String?
  /// The graph's own error; nil for others.
  public let underlyingError: (any Error)?

  init(_ kind: Kind, _ text: String? = nil, underlying: (any Error)? = nil) {
    self.kind = kind
    self.text = text
    underlyingError = underlying
  }

  /// A predicate has a part that a store cannot evaluate.
  public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
  /// A sort descriptor compares something that is no property.
  public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)
  /// A key path reads something that is no property.
  public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
  /// Unsaved changes cannot be in results that are fetched in batches.
  public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
  /// Identifiers of unsaved models cannot be sorted.
  public static let sortingPendingChangesWithIdentifiers = SwiftDataError(
    .sortingPendingChangesWithIdentifiers)
  /// Two configurations of a container are of one store.
  public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
  /// The name of a configuration cannot be that of a file.
  public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
    .configurationFileNameContainsInvalidCharacters)
  /// The name of a configuration is too long for that of a file.
  public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
  /// A configuration has models that the container does not have.
  public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
    .configurationSchemaNotFoundInContainerSchema)
  /// A container cannot be opened.
  public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)
  /// A model is not as its schema requires.
  public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
  /// A model has no context.
  public static let missingModelContext = SwiftDataError(.missingModelContext)
  /// A store would be migrated to an earlier version.
  public static let backwardMigration = SwiftDataError(.backwardMigration)
  /// A store is of a version that the plan does not have.
  public static let unknownSchema = SwiftDataError(.unknownSchema)
  /// The history after a token was deleted.
  public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
  /// A predicate or an order of a history request cannot be evaluated.
  public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)

  /// Whether both are of the same kind.
  public static func == (left: SwiftDataError, right: SwiftDataError) -> Bool { left.kind == right.kind }
  /// Hashes the kind.
  public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

  /// Whether an error is of the kind.
  public static func ~= (pattern: SwiftDataError, error: any Error) -> Bool {
    (error as? SwiftDataError)?.kind == pattern.kind
  }

  /// The kind, and what happened.
  public var description: String {
    let reason = text ?? underlyingError.map { "\($0)" }
    return "SwiftDataError.\(kind.rawValue)" + (reason.map { ": \($0)" } ?? "")
  }

  /// The description.
  public var errorDescription: String? { description }
}
