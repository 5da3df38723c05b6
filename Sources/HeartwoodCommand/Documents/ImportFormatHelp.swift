import Heartwood

/// The description of the import format in the help texts.
enum ImportFormatHelp {
  static let text = """
    file format
      {"model": {...}, "objects": [{"@id": "Country/FR", "name": "France", "capital": {"@ref": "City/Paris"},
      "neighbours": [{"@ref": "Country/BE"}]}, ...]}, or only the list of objects.
      "@id" is the entity and any key of your choice; {"@ref": ...} refers to another object of the file by its "@id".
      {"@find": {"code": "FR"}} refers to the object with this value of a unique attribute, in the file or in the store;
      there are several values where attributes are unique together. An element of a composite attribute is named
      with it: {"address.code": 7}. It counts where the whole is given beside it, also as null.
      "@entity" instead of "@id" does for objects that nothing refers to. "@uri", which heartwood show writes, is ignored.
      Without a model, whole numbers become integer64, numbers with fractions double, other values string or boolean, and
      references relationships without an inverse. Dates are ISO 8601 strings or seconds since 2001, data is base 64;
      both need a model. Numbers that JSON does not have are "NaN", "Infinity" and "-Infinity"; a decimal may be a string
      such as "1.50".
      The first line of a CSV file names properties of its entity: name, address.city (of a composite attribute),
      continent.name (the continent with this name), @id, @entity. An empty field is no value, and "" an empty text or
      empty data. Seconds since 2001 have a point or an exponent there: 725846400.0. Elements of a composite attribute
      that have no column stay as they are in objects that are updated. A column of the whole of it has objects in JSON:
      {} for a value whose elements have columns of their own.
      A column continent has the @id of an object of the same file; those of the store are found by what is unique, as
      in the column continent.name, which heartwood fetch --columns continent.name writes. Where attributes are unique
      together, each has a column: shelf.room,shelf.place.

    model
      {"entities": {"Country": {
        "attributes": {"code": {"type": "string", "unique": true}},
        "relationships": {"cities": {"destination": "City", "toMany": true, "inverse": "country",
                                     "deleteRule": "cascade"}}}}}
      types: \(DocumentType.allCases.dropLast(2).map(\.rawValue).joined(separator: ", ")),
             transformable (with "transformer", its name, and "valueClass")
      of an attribute: optional, unique, indexed, fullText, preservesValueInHistoryOnDeletion,
                       preservesValueInHistoryOnUpdate, default, allowsExternalStorage, transient, validationRules,
                       derived (the expression of a value that the
                       store computes: "canonical:(name)", "cities.@count")
      of a composite attribute: elements, attributes by name; its value is an object, {"city": "Lyon", "code": null},
                       and elements that it does not name have their defaults. Constraints and indexes are those of
                       the entity, and name address.city; up to \(CompositeAttributeDescription.greatestDepth) composites are one in the other
      of a relationship: destination, toMany, ordered, optional, min, max, inverse, deleteRule
      delete rules: \(DocumentDeleteRule.allCases.map(\.rawValue).joined(separator: ", "))
      of an entity: superentity, abstract, uniquenessConstraints (lists of names of attributes and relationships to
                    one), indexes and rangeIndexes (lists of lists of names; an index may also be of expressions such as
                    "lowercase:(name)"), partialIndexes (indexes of some objects only: {"properties": ["due"],
                    "where": "isDone == NO"}; "kind" may be ranges or words)
      for programs: className, userInfo, versionHashModifier, fetchedProperties; versionIdentifiers, configurations
                    and fetchRequests of the model. Names and directions of indexes have no effect, and are not kept.
      What ManagedObjectModel.encodedDocument() returns is a model, too.
    """
}
