/// Makes a class a model: its stored variables become properties of an entity.
@attached(
  member, conformances: PersistentModel,
  names: named(_$storage), named(_$initialValues), named(_$moveInitialValues), named(schemaMetadata),
  named(_$keyPaths), named(_$inheritedKeyPaths), named(_$areEqual), named(init))
@attached(memberAttribute)
@attached(extension, conformances: PersistentModel)
public macro Model() = #externalMacro(module: "SwiftDataMacros", type: "Model")

/// Says how a property of a model is stored.
///
/// - Parameters:
///   - options: Uniqueness, external storage, and the like.
///   - originalName: The name in the former version of the schema; nil if it is the same.
///   - hashModifier: A text that makes the property differ from one that is declared alike, so that a migration runs.
@attached(peer)
public macro Attribute(
  _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SwiftDataMacros", type: "Attribute")

/// Says how the objects that a property of a model leads to are related to it.
///
/// - Parameters:
///   - options: Uniqueness.
///   - deleteRule: The effect of the object's deletion on the related objects.
///   - minimumModelCount: How many there must be at a save; 0 for any number. Of a property with an optional type there may also be none.
///   - maximumModelCount: How many there may be at a save; 0 for any number. A property that leads to several models cannot have 1.
///   - originalName: The name in the former version of the schema; nil if it is the same.
///   - inverse: The property of the related class that leads back. One side names it; where only one property fits, neither need do so.
///   - hashModifier: As of `Attribute`.
@attached(peer)
public macro Relationship(
  _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
  minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
  inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SwiftDataMacros", type: "Relationship")

/// Keeps a property of a model out of the store. It needs a value by default.
@attached(peer)
public macro Transient() = #externalMacro(module: "SwiftDataMacros", type: "Transient")

/// Says that the values of properties, or of several together, are unique among the objects of a model.
///
/// - Parameter constraints: The properties of each constraint.
@freestanding(declaration)
public macro Unique<T: PersistentModel>(_ constraints: [PartialKeyPath<T>]...) =
  #externalMacro(module: "SwiftDataMacros", type: "Unique")

/// Says which properties of a model have indexes.
///
/// - Parameter indices: The properties of each index, the most significant first.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...) =
  #externalMacro(module: "SwiftDataMacros", type: "Index")

/// Says which properties of a model have indexes, and of which kind.
///
/// - Parameter indices: The kind and the properties of each index.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: Schema.Index<T>.Types<T>...) =
  #externalMacro(module: "SwiftDataMacros", type: "Index")

/// Makes an actor one that works with models on a context of its own.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "SwiftDataMacros", type: "ModelActor")

/// A predicate, which takes the place of Foundation's where both are imported. What a store cannot evaluate is an error at its place.
@freestanding(expression)
public macro Predicate<each Input: SendableMetatype>(
  _ body: (repeat each Input) -> Bool
) -> Foundation.Predicate<repeat each Input> =
  #externalMacro(module: "SwiftDataMacros", type: "Predicate")

/// An expression, which takes the place of Foundation's where both are imported.
@freestanding(expression)
public macro Expression<each Input: SendableMetatype, Value>(
  _ body: (repeat each Input) -> Value
) -> Foundation.Expression<repeat each Input, Value> =
  #externalMacro(module: "SwiftDataMacros", type: "Expression")

/// Marks the stored variables of a model, added by `@Model`. Not meant to be written.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _PersistedProperty() = #externalMacro(module: "SwiftDataMacros", type: "PersistedProperty")

/// Marks variables whose values a transformer stores, added by `@Model`. Not meant to be written.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _TransformablePersistedProperty() =
  #externalMacro(module: "SwiftDataMacros", type: "TransformablePersistedProperty")
