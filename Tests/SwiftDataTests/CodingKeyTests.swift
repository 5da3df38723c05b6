import Foundation
import SwiftData
import Testing

private struct Contact: Codable, Equatable {
  var firstName: String
  var phone: Phone?

  enum CodingKeys: String, CodingKey {
    case firstName = "first-name"
    case phone
  }

  struct Phone: Codable, Equatable { var number: String }
}

private struct Shipment: Codable, Equatable {
  var weight = 0
  var contact: Contact?
}

@Model
private final class Letter {
  var sender: Contact
  var shipment = Shipment()
  var locale: Locale?
  init(_ sender: Contact) { self.sender = sender }
}

struct CodingKeyTests {
  // SWD-02
  @Test func `structures whose coding keys no store can have as names are stored as one value`() throws {
    let context = try Library.context(of: Letter.self)
    let contact = Contact(firstName: "Ada", phone: .init(number: "1"))
    let letter = Letter(contact)
    letter.shipment = Shipment(weight: 3, contact: contact)
    letter.locale = Locale(identifier: "de_DE")
    context.insert(letter)
    try context.save()
    let other = ModelContext(context.container)
    let found = try #require(
      try other.fetch(FetchDescriptor<Letter>(predicate: #Predicate { $0.shipment.weight == 3 })).first)
    #expect(found.sender == contact && found.shipment == letter.shipment)
    #expect(found.locale?.identifier == "de_DE")
    found.sender.firstName = "Bea"
    try other.save()
    #expect(
      try ModelContext(context.container).fetch(FetchDescriptor<Letter>()).first?.sender.firstName == "Bea")
  }
}
