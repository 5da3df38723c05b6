import BenchmarkHarness
import Heartwood

extension HeartwoodGraphPeer: ValuePeer {
  func batchInsert(_ people: People) throws {
    try inContext { context in
      try context.execute(
        BatchInsertRequest(
          entityName: "Company",
          objects: people.companies.map { ["number": $0.number, "name": $0.name, "city": $0.city] }))
      var remaining = people.persons[...]
      try context.execute(
        BatchInsertRequest(
          entityName: "Person",
          dictionaryHandler: { row in
            guard let person = remaining.popFirst() else { return true }
            row["number"] = person.number
            row["email"] = person.email
            row["name"] = person.name
            row["age"] = person.age
            row["score"] = person.score
            row["joined"] = person.joined
            row["team"] = person.team
            row["company"] = people.companies[person.company].number
            return false
          }))
    }
  }

  func averages() throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      let rows = try context.fetchRows(
        Person.self, columns: { ($0.age, $0.score.average()) }, sort: { [.ascending($0.age)] })
      for (age, average) in rows {
        digest.add(Int(age ?? -1))
        digest.add(rounded: average ?? -1)
      }
      return digest.value
    }
  }

  func streamTwo() throws -> UInt64 {
    try inContext { context in
      var digest = UnorderedDigest()
      try context.enumerateRows(Person.self, columns: { ($0.name, $0.age) }) { name, age in
        digest.add(name ?? "", age ?? -1)
        return true
      }
      return digest.value
    }
  }

  func agesByCity() throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      let rows = try context.fetchRows(
        Person.self, columns: { ($0.company.city, RowFunction.count(), $0.age.sum()) },
        where: { $0.age > 30 }, sort: { [.descending($0.age.sum()), .ascending($0.company.city)] },
        limit: 20)
      for (city, count, sum) in rows {
        digest.add(city ?? "")
        digest.add(count ?? -1)
        digest.add(Int(sum ?? -1))
      }
      return digest.value
    }
  }

  func runningAges() throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      try context.enumerateRows(
        Person.self,
        columns: {
          ($0.number, $0.age.sum().over(partitionedBy: $0.team, orderedBy: .ascending($0.joined)))
        }, sort: { [.ascending($0.joined)] }
      ) { number, sum in
        digest.add(Int(number ?? -1))
        digest.add(Int(sum ?? -1))
        return true
      }
      return digest.value
    }
  }

  func firstPage() throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for person in try context.fetch(
        Person.self, sort: [.ascending(\.name)], limit: 50)
      {
        digest.add(person.name)
      }
      return digest.value
    }
  }

  func ends() throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for (least, greatest) in try context.fetchRows(
        Person.self, columns: { ($0.joined.min(), $0.joined.max()) })
      {
        digest.add(Int(least ?? -1))
        digest.add(Int(greatest ?? -1))
      }
      return digest.value
    }
  }

  func batchRaise(team: Int64) throws {
    try inContext { context in
      let request = BatchUpdateRequest(entityName: "Person")
      request.predicate = Where<Person> { $0.team == team }
      request.set(\Person.score) { $0.score * 1.1 }
      try context.execute(request)
    }
  }

  func batchDelete(team: Int64) throws {
    _ = try inContext { context in
      try context.execute(
        BatchDeleteRequest(fetchRequest: FetchRequest<Person>(where: { $0.team == team })))
    }
  }
}
