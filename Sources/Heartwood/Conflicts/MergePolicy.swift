import Foundation
import HeartwoodBytes

/// How a save resolves conflicts. The raw values are Core Data's.
public enum MergePolicyType: UInt, Sendable {
  /// The save throws.
  case error = 0
  /// Where both sides changed a property, the store's value wins.
  case mergeByPropertyStoreTrump = 1
  /// Where both sides changed a property, the unsaved value wins.
  case mergeByPropertyObjectTrump = 2
  /// The whole object in memory is written.
  case overwrite = 3
  /// The changes of conflicting objects are dropped.
  case rollback = 4

  /// `mergeByPropertyStoreTrump`.
  public static var storeTrump: MergePolicyType { .mergeByPropertyStoreTrump }
  /// `mergeByPropertyObjectTrump`.
  public static var objectTrump: MergePolicyType { .mergeByPropertyObjectTrump }
}

/// The treatment of the destinations that a stored object has, where an unsaved one with its unique values becomes it.
public enum ToManyResolution: Sendable {
  /// They stay, and those of the unsaved object are added.
  case unite
  /// Those of the unsaved object take their place, where it was given destinations on its own side: `item.labels = …`,
  /// `item.$labels.insert(…)`, not `label.items.insert(item)` or `comment.item = item`. Those that the stored object had before are
  /// deleted if the delete rule of the relationship is cascade, and otherwise leave it.
  case replace
}

/// Resolves the conflicts of a save: rows that were changed by others since they were read, and values that must be unique
/// and are not.
///
/// A save that meets conflicts writes nothing. It asks the context's policy to change the conflicting objects, validates them
/// again, and tries once more on the newest rows. To resolve conflicts in another way, subclass it, call `super` first or not at
/// all, and change the objects; objects that are left in conflict meet it again in the next round. If the save fails after that,
/// all objects get back the values and unsaved changes that they had before the policy was asked.
///
/// The two kinds of conflicts are two questions, and a policy may answer them differently. An import that runs beside other programs
/// may want its objects to become the stored ones, and still hear of rows that others have changed meanwhile:
///
/// ```swift
/// context.mergePolicy = MergePolicy(rows: .error, unique: .objectTrump, toMany: .replace)
/// ```
///
/// The effects of the types:
///
/// | conflict | store trump | object trump | overwrite | rollback |
/// | --- | --- | --- | --- | --- |
/// | one side changed a property | that change | that change | the unsaved object | the store's |
/// | both changed it | the store's value | the unsaved value | the unsaved value | the store's |
/// | row deleted elsewhere, edited here | deleted here | inserted again | inserted again | deleted here |
/// | deleted here, edited elsewhere | kept | deleted | deleted | kept |
/// | order changed on both sides | the store's, additions at its end | the unsaved one, merged | the unsaved one, merged | the store's |
/// | deleted here, referred to elsewhere | deleted, and the references by the delete rules | so | so | so |
/// | new reference to what others deleted | dropped | its object is inserted again if its values are here, else dropped | so | dropped |
/// | the same, of a relationship without an inverse | stays, to an inaccessible fault | so | so | so |
/// | inserted again on both sides | the store's | the unsaved values over it | the unsaved object | the store's |
/// | unique value in the store | the new object gives way to the stored one | the new object becomes the stored one, with its own values | as object trump | as store trump |
/// | unique value twice among unsaved objects | the first stays | the last one's values, in the first | as object trump | as store trump |
///
/// The identifier that survives a uniqueness conflict is always that of the stored row. An unsaved object that became one with another
/// leaves the context, and has the identifier of the other. To-many relationships are merged as
/// differences by all of them, unless `ToManyResolution` says otherwise. Rollback drops what belongs to the objects in conflict: values,
/// to-one destinations, orders. A link to an object without a conflict stays, and so do objects whose to-one value leads to one with a
/// conflict. An object that equals two stored ones by two constraints is refused by all types. An object that is kept although it was deleted here has the store's values. Two stored objects of which one is edited to the unique value of the other are not merged: the
/// edit is dropped by store trump and rollback, and object trump and overwrite throw. A new object becomes one of its own entity or of a
/// subentity; all of them throw where it would become one of a superentity, which what refers to it could not have.
open class MergePolicy: NSObject, @unchecked Sendable {
  /// The treatment of rows that others have changed, and if the policy is of one type, of all conflicts.
  public let mergeType: MergePolicyType
  /// The treatment of values that must be unique and are not.
  public let uniqueType: MergePolicyType
  /// The treatment of the destinations of a stored object that an unsaved one becomes.
  public let toMany: ToManyResolution

  /// A policy of one type for all conflicts, which unites to-many relationships.
  public init(merge type: MergePolicyType) {
    (mergeType, uniqueType, toMany) = (type, type, .unite)
  }

  /// A policy of a type for each kind of conflicts.
  ///
  /// - Parameters:
  ///   - rows: The treatment of rows that others have changed or deleted since they were read.
  ///   - unique: The treatment of values that must be unique and are not.
  ///   - toMany: The treatment of the destinations of a stored object that an unsaved one becomes. Without effect where the store's
  ///     values win.
  public init(rows: MergePolicyType, unique: MergePolicyType, toMany: ToManyResolution = .unite) {
    (mergeType, uniqueType, self.toMany) = (rows, unique, toMany)
  }

  /// The save throws: `.managedObjectMerge` or `.managedObjectConstraintMerge`, with the conflicts. The default.
  public static let error = MergePolicy(merge: .error)
  /// Property by property; where both sides changed one, the store's value wins.
  public static let mergeByPropertyStoreTrump = MergePolicy(merge: .mergeByPropertyStoreTrump)
  /// Property by property; where both sides changed one, the unsaved value wins.
  public static let mergeByPropertyObjectTrump = MergePolicy(merge: .mergeByPropertyObjectTrump)
  /// The whole object in memory is written.
  public static let overwrite = MergePolicy(merge: .overwrite)
  /// The changes of conflicting objects are dropped.
  public static let rollback = MergePolicy(merge: .rollback)

  /// Resolves all conflicts of a save: calls `resolve(optimisticLockingConflicts:)`, then `resolve(constraintConflicts:)`.
  ///
  /// - Parameter list: `MergeConflict` and `ConstraintConflict` values.
  /// - Throws: The save throws the same error.
  open func resolve(mergeConflicts list: [Any]) throws {
    let conflicts = list.compactMap { $0 as? MergeConflict }
    if !conflicts.isEmpty { try resolve(optimisticLockingConflicts: conflicts) }
    let constraints = list.compactMap { $0 as? ConstraintConflict }
    if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
  }

  /// Resolves conflicts with rows that others have changed or deleted.
  ///
  /// - Throws: `.managedObjectMerge` for the type `error`.
  open func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
    guard mergeType != .error else { throw HeartwoodError.merge(list) }
    changeObjects(of: list)
  }

  /// Resolves violations of uniqueness constraints.
  ///
  /// - Throws: `.managedObjectConstraintMerge` for the type `error`, and for stored objects that cannot be merged.
  open func resolve(constraintConflicts list: [ConstraintConflict]) throws {
    guard uniqueType != .error else { throw HeartwoodError.constraints(list) }
    try changeObjects(of: list)
  }
}

extension MergePolicy {
  /// Whether it may do anything but throw.
  final var mayChangeObjects: Bool {
    mergeType != .error || uniqueType != .error || type(of: self) != MergePolicy.self
  }
}

extension MergePolicyType {
  /// Whether the store's values win.
  var storeWins: Bool { self == .mergeByPropertyStoreTrump || self == .rollback }
}
