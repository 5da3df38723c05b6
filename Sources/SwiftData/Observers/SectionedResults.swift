/// Results in sections.
public struct SectionedResults<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection {
  private let sections: [ResultsSection<Element, SectionTitle>]
  private let places: [SectionTitle: Int]

  /// - Parameter models: In an order in which those of a section are together.
  init(_ models: [Element], by title: (Element) -> SectionTitle?) {
    var sections: [ResultsSection<Element, SectionTitle>] = []
    var places: [SectionTitle: Int] = [:]
    for model in models {
      guard let name = title(model) else { continue }
      if let place = places[name] {
        sections[place].models.append(model)
      } else {
        places[name] = sections.count
        sections.append(ResultsSection(title: name, models: [model]))
      }
    }
    self.sections = sections
    self.places = places
  }

  /// The index of the first section: 0.
  public var startIndex: Int { 0 }
  /// The number of sections.
  public var endIndex: Int { sections.count }
  /// The section at a position.
  public subscript(position: Int) -> ResultsSection<Element, SectionTitle> { sections[position] }

  /// The section of a title; nil if there is none.
  public subscript(sectionTitle title: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
    places[title].map { sections[$0] }
  }
}

/// Models with the same title.
public struct ResultsSection<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection,
  Identifiable
{
  /// The value that the models of the section have in common.
  public let title: SectionTitle
  fileprivate var models: [Element]

  /// The title.
  public var id: SectionTitle { title }
  /// The index of the first model: 0.
  public var startIndex: Int { 0 }
  /// The number of models.
  public var endIndex: Int { models.count }
  /// The model at a position.
  public subscript(position: Int) -> Element { models[position] }
}
