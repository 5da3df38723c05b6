import CoreData
import Heartwood

extension NSManagedObjectModel {
  /// The model with which Core Data's names open a store of model classes: an entity for each class, whose objects are of no class of their own.
  ///
  /// - Parameters:
  ///   - types: The classes. Those that their relationships lead to are added.
  ///   - managedObjectModel: A model whose entities are added; nil for none.
  /// - Returns: The model; nil if a container of the classes could not be made, or if both have an entity of one name that differs.
  public static func makeManagedObjectModel(
    for types: [any PersistentModel.Type], mergedWith managedObjectModel: NSManagedObjectModel? = nil
  ) -> NSManagedObjectModel? {
    makeManagedObjectModel(for: Schema(types), mergedWith: managedObjectModel)
  }

  /// The model with which Core Data's names open a store of model classes.
  ///
  /// - Parameters:
  ///   - types: The classes. Those that their relationships lead to are added.
  ///   - managedObjectModel: A model whose entities are added; nil for none.
  /// - Returns: The model; nil if a container of the classes could not be made, or if both have an entity of one name that differs.
  public static func makeManagedObjectModel(
    for types: any PersistentModel.Type..., mergedWith managedObjectModel: NSManagedObjectModel? = nil
  ) -> NSManagedObjectModel? {
    makeManagedObjectModel(for: Schema(types), mergedWith: managedObjectModel)
  }

  /// The model with which Core Data's names open a store of a schema.
  ///
  /// - Parameters:
  ///   - schema: The schema.
  ///   - managedObjectModel: A model whose entities are added; nil for none.
  /// - Returns: The model; nil if a container of the schema could not be made, or if both have an entity of one name that differs.
  public static func makeManagedObjectModel(
    for schema: Schema, mergedWith managedObjectModel: NSManagedObjectModel? = nil
  ) -> NSManagedObjectModel? {
    guard let made = try? GraphModel(schema, objectClass: NSManagedObject.self).model else { return nil }
    guard let managedObjectModel else { return made }
    return NSManagedObjectModel(byMerging: [managedObjectModel, made])
  }
}
