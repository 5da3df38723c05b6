import Foundation

@testable import Heartwood

enum Continent: String, AttributeValue, CaseIterable {
  case africa, europe
}

enum Rank: Int16, AttributeValue {
  case low = 1
  case high = 2
}

class Place: ManagedObject {
  @Attribute(.indexed) var title = ""
  @Attribute var rank = Rank.low
  var drawing: [Int] = []
  @Relationship(inverse: \Note.about) var notes: [Note]

  var label: String { "\(title) \(rank)" }
  var loud: String { title.uppercased() }
  var alias: String { title }
}

final class Country: Place {
  @Attribute(.unique) var code = ""
  @Attribute([.indexed, .preservesValueInHistoryOnDeletion]) var population: Int64?
  @Attribute var continent = Continent.europe
  @Attribute var area: Double
  @Attribute var id = UUID()
  @Relationship(inverse: { $0.country }, deleteRule: .cascade) var cities: Set<City>
  @Relationship(inverse: { $0.neighbours }) var neighbours: Set<Country>
  @Relationship var capital: City?
}

final class City: Place {
  @Attribute var small: Int16 = 0
  @Attribute var medium: Int32 = 0
  @Attribute var plain = 0
  @Attribute var share: Float = 0
  @Attribute var price: Decimal?
  @Attribute var isCoastal = false
  @Attribute var founded: Date?
  @Attribute var seal: Data?
  @Attribute var site: URL?
  @Attribute var token: UUID?
  @Relationship(inverse: { $0.cities }) var country: Country?
}

final class Note: ManagedObject {
  @Attribute var text: String?
  @Relationship var about: Place?
}

let declaredTypes: [ManagedObject.Type] = [Place.self, Country.self, City.self, Note.self]

func modelError(_ types: [ManagedObject.Type]) -> String? {
  do {
    _ = try ManagedObjectModel(types: types)
    return nil
  } catch {
    return error.message
  }
}

func heartwoodMessage(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch {
    return (error as? HeartwoodError)?.message ?? "\(error)"
  }
}
