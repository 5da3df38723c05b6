/// Fetch requests of the model and of fetched properties.
extension XcodeModelReader {
  mutating func readRequests(
    _ root: MarkupElement, _ names: Set<String>, into document: inout ModelDocument
  ) {
    var requests: [String: FetchRequestTemplate] = [:]
    for element in root.children where element.name == "fetchRequest" {
      guard let (name, request) = fetchRequest(element) else { continue }
      guard names.contains(request.entityName) else {
        note(
          element,
          "the fetch request \(name) is of \"\(request.entityName)\", which is no entity of the model, and is left out"
        )
        continue
      }
      lines[ManagedObjectModel.place(ofFetchRequest: name)] = element.line
      if requests.updateValue(request, forKey: name) != nil {
        note(element, "two fetch requests are called \(name), of which this one is read")
      }
    }
    document.fetchRequests = requests.isEmpty ? nil : requests
  }

  mutating func fetchRequest(_ element: MarkupElement) -> (name: String, template: FetchRequestTemplate)? {
    var fields = MarkupFields(element)
    guard let name = required("name", &fields, element), let entity = required("entity", &fields, element)
    else {
      return nil
    }
    let owner = "the fetch request \(name)"
    let hasValues = isOn("includesPropertyValues", "includePropertyValues", &fields, element, owner)
    let request = FetchRequestTemplate(
      entityName: entity, predicate: fields.text("predicateString"), sort: [],
      limit: count("fetchLimit", &fields, element, owner) ?? 0, offset: 0,
      batchSize: count("fetchBatchSize", &fields, element, owner) ?? 0,
      includesSubentities: isOn("includesSubentities", "includeSubentities", &fields, element, owner),
      includesPendingChanges: isOn(
        "includesPendingChanges", "includePendingChanges", &fields, element, owner),
      returnsObjectsAsFaults: isOn(
        "returnsObjectsAsFaults", "returnObjectsAsFaults", &fields, element, owner),
      refreshesRefetchedObjects: false, includesPropertyValues: hasValues ? nil : false,
      isDistinct: flag("returnDistinctResults", &fields, element, owner) ? true : nil)
    if let type = fields.text("resultType"), type != "0" {
      note(
        element,
        "resultType=\"\(type)\" of \(owner) has no effect: the program that uses it says what it fetches")
    }
    return (name, request)
  }

  /// A flag that is set unless the file says otherwise, under either of two names.
  private mutating func isOn(
    _ name: String, _ other: String, _ fields: inout MarkupFields, _ element: MarkupElement, _ owner: String
  ) -> Bool {
    guard fields.left[name] != nil else { return flag(other, &fields, element, owner, default: true) }
    let isOn = flag(name, &fields, element, owner, default: true)
    if let text = fields.left[other], flag(other, &fields, element, owner, default: true) != isOn {
      note(element, "\(other)=\"\(text)\" of \(owner) has no effect, as \(name) says otherwise")
    }
    return isOn
  }
}
