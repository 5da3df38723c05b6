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

/// Refuses values before it has decoded all.
private struct Stamp: Codable, Equatable {
  var kind: String
  var value: Int

  init(kind: String, value: Int) { (self.kind, self.value) = (kind, value) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    kind = try container.decode(String.self, forKey: .kind)
    guard kind == "air" else {
      throw DecodingError.dataCorruptedError(forKey: .kind, in: container, debugDescription: "no kind")
    }
    value = try container.decode(Int.self, forKey: .value)
  }
}

/// Cannot be encoded below zero.
private struct Fee: Codable, Equatable {
  var cents = 0

  init(_ cents: Int) { self.cents = cents }

  func encode(to encoder: any Encoder) throws {
    guard cents >= 0 else {
      throw EncodingError.invalidValue(cents, .init(codingPath: [], debugDescription: "less than zero"))
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(cents, forKey: .cents)
  }
}

/// Relies on what it has written: a value, an element, a number in a text, one character.
private struct Grades: Codable, Equatable {
  var value: Int
  var all: [Int]
  var amount: Decimal
  var mark: Character
  var first: Int

  enum CodingKeys: CodingKey { case value, all, amount, mark }

  init(_ value: Int, _ all: [Int], _ amount: Decimal, _ mark: Character) {
    (self.value, self.all, self.amount, self.mark) = (value, all, amount, mark)
    first = all[0]
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    guard let amount = Decimal(string: try values.decode(String.self, forKey: .amount)) else {
      preconditionFailure("no number")
    }
    self.init(
      try values.decode(Int.self, forKey: .value), try values.decode([Int].self, forKey: .all), amount,
      Character(try values.decode(String.self, forKey: .mark)))
    precondition((1...5).contains(value))
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(value, forKey: .value)
    try values.encode(all, forKey: .all)
    try values.encode("\(amount)", forKey: .amount)
    try values.encode("\(mark)", forKey: .mark)
  }
}

/// Contains itself.
private struct Branch: Codable, Equatable {
  var name: String
  var branches: [Branch]
}

@Model
private final class Report {
  var grades: Grades
  var tree: Branch
  init(_ grades: Grades, _ tree: Branch) { (self.grades, self.tree) = (grades, tree) }
}

@Model
private final class Letter {
  var sender: Contact
  var shipment = Shipment()
  var locale: Locale?
  var stamp: Stamp?
  var fee: Fee?
  init(_ sender: Contact) { self.sender = sender }
}

struct CodingKeyTests {
  // SWD-02
  @Test func `structures that refuse values while they are decoded are stored whole`() throws {
    let context = try Library.context(of: Letter.self)
    let letter = Letter(Contact(firstName: "Ada"))
    letter.stamp = Stamp(kind: "air", value: 80)
    context.insert(letter)
    try context.save()
    #expect(letter.stamp?.value == 80)
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Letter>())
    #expect(found.map(\.stamp) == [Stamp(kind: "air", value: 80)])
  }

  // SWD-02
  @Test func `structures may rely on what they have written while they are decoded`() throws {
    let context = try Library.context(of: Report.self)
    let grades = Grades(4, [4, 2], 12.5, "x")
    let tree = Branch(
      name: "a", branches: [Branch(name: "b", branches: []), Branch(name: "c", branches: [])])
    context.insert(Report(grades, tree))
    try context.save()
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Report>())
    #expect(found.map(\.grades) == [grades] && found.map(\.tree) == [tree])
  }

  // SWD-02
  @Test func `a structure that cannot be encoded is an error of the save`() throws {
    let context = try Library.context(of: Letter.self)
    let letter = Letter(Contact(firstName: "Ada"))
    letter.fee = Fee(5)
    context.insert(letter)
    try context.save()
    letter.fee = Fee(-1)
    #expect {
      try context.save()
    } throws: {
      SwiftDataError.modelValidationFailure ~= $0 && "\($0)".contains("less than zero")
    }
    #expect(letter.fee == Fee(5))
  }

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
