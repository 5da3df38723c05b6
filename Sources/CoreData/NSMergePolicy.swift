import Heartwood

/// How a save resolves conflicts with what others have saved.
public typealias NSMergePolicy = MergePolicy
/// The kinds of merge policies.
public typealias NSMergePolicyType = MergePolicyType
/// A conflict of an object with what others have saved.
public typealias NSMergeConflict = MergeConflict
/// A conflict of objects whose values must be unique.
public typealias NSConstraintConflict = ConstraintConflict

extension MergePolicyType {
  /// Core Data's older name.
  public static let errorMergePolicyType = Self.error
  /// Core Data's older name.
  public static let mergeByPropertyStoreTrumpMergePolicyType = Self.mergeByPropertyStoreTrump
  /// Core Data's older name.
  public static let mergeByPropertyObjectTrumpMergePolicyType = Self.mergeByPropertyObjectTrump
  /// Core Data's older name.
  public static let overwriteMergePolicyType = Self.overwrite
  /// Core Data's older name.
  public static let rollbackMergePolicyType = Self.rollback
}

/// A save with conflicts fails.
public let NSErrorMergePolicy: NSMergePolicy = .error
/// The store's values win, property by property.
public let NSMergeByPropertyStoreTrumpMergePolicy: NSMergePolicy = .mergeByPropertyStoreTrump
/// The context's values win, property by property.
public let NSMergeByPropertyObjectTrumpMergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump
/// The context's objects win as a whole.
public let NSOverwriteMergePolicy: NSMergePolicy = .overwrite
/// The store's objects win as a whole.
public let NSRollbackMergePolicy: NSMergePolicy = .rollback
