import GRDB

/// A company as GRDB's documentation writes records: a struct with columns, decoded without `Codable`.
struct CompanyRecord: FetchableRecord, PersistableRecord, Identifiable {
  var id: Int64
  var number: Int64
  var name: String
  var city: String

  static let databaseTableName = "company"
  static let persons = hasMany(PersonRecord.self)

  enum Columns {
    static let id = Column("id")
    static let number = Column("number")
    static let name = Column("name")
    static let city = Column("city")
  }

  init(_ data: People.CompanyData) {
    id = data.number + 1
    number = data.number
    name = data.name
    city = data.city
  }

  init(row: Row) {
    id = row[Columns.id]
    number = row[Columns.number]
    name = row[Columns.name]
    city = row[Columns.city]
  }

  func encode(to container: inout PersistenceContainer) {
    container[Columns.id] = id
    container[Columns.number] = number
    container[Columns.name] = name
    container[Columns.city] = city
  }
}

struct PersonRecord: FetchableRecord, PersistableRecord, Identifiable {
  var id: Int64
  var number: Int64
  var email: String
  var name: String
  var age: Int64
  var score: Double
  var joined: Int64
  var team: Int64
  var companyId: Int64

  static let databaseTableName = "person"

  enum Columns {
    static let id = Column("id")
    static let number = Column("number")
    static let email = Column("email")
    static let name = Column("name")
    static let age = Column("age")
    static let score = Column("score")
    static let joined = Column("joined")
    static let team = Column("team")
    static let companyId = Column("companyId")
  }

  init(_ data: People.PersonData) {
    id = data.number + 1
    number = data.number
    email = data.email
    name = data.name
    age = data.age
    score = data.score
    joined = data.joined
    team = data.team
    companyId = Int64(data.company) + 1
  }

  init(row: Row) {
    id = row[Columns.id]
    number = row[Columns.number]
    email = row[Columns.email]
    name = row[Columns.name]
    age = row[Columns.age]
    score = row[Columns.score]
    joined = row[Columns.joined]
    team = row[Columns.team]
    companyId = row[Columns.companyId]
  }

  func encode(to container: inout PersistenceContainer) {
    container[Columns.id] = id
    container[Columns.number] = number
    container[Columns.email] = email
    container[Columns.name] = name
    container[Columns.age] = age
    container[Columns.score] = score
    container[Columns.joined] = joined
    container[Columns.team] = team
    container[Columns.companyId] = companyId
  }
}
