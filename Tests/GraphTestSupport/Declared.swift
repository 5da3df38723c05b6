import Foundation

@testable import Heartwood

package enum Continent: String, AttributeValue, CaseIterable {
  case africa, europe
}

package enum Rank: Int16, AttributeValue {
  case low = 1
  case high = 2
}

package class Place: ManagedObject {
  @Attribute(.indexed) package var title = ""
  @Attribute package var rank = Rank.low
  package var drawing: [Int] = []
  @Relationship(inverse: \Note.about) package var notes: [Note]

  package var label: String { "\(title) \(rank)" }
  package var loud: String { title.uppercased() }
  package var alias: String { title }
}

package final class Country: Place {
  @Attribute(.unique) package var code = ""
  @Attribute([.indexed, .preservesValueInHistoryOnDeletion]) package var population: Int64?
  @Attribute package var continent = Continent.europe
  @Attribute package var area: Double
  @Attribute package var id = UUID()
  @Relationship(inverse: { $0.country }, deleteRule: .cascade) package var cities: Set<City>
  @Relationship(inverse: { $0.neighbours }) package var neighbours: Set<Country>
  @Relationship package var capital: City?
}

package final class City: Place {
  @Attribute package var small: Int16 = 0
  @Attribute package var medium: Int32 = 0
  @Attribute package var plain = 0
  @Attribute package var share: Float = 0
  @Attribute package var price: Decimal?
  @Attribute package var isCoastal = false
  @Attribute package var founded: Date?
  @Attribute package var seal: Data?
  @Attribute package var site: URL?
  @Attribute package var token: UUID?
  @Relationship(inverse: { $0.cities }) package var country: Country?
}

package final class Note: ManagedObject {
  @Attribute package var text: String?
  @Relationship package var about: Place?
}

package let declaredTypes: [ManagedObject.Type] = [Place.self, Country.self, City.self, Note.self]
