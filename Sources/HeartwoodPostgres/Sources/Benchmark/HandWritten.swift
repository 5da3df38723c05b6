import CLibPQ
import Foundation

/// The same work by hand: statements of many rows, prepared once, with values as texts, and results as values of a Swift type.
final class HandWritten {
  struct Person {
    var id: Int64
    var name: String
    var mail: String
    var age: Int64
    var score: Double
    var born: Double
    var team: Int64?
  }

  private let connection: OpaquePointer
  private static let rows = 1000

  init(_ parameters: [(String, String)]) {
    let text = parameters.map { "\($0.0)='\($0.1)'" }.joined(separator: " ")
    connection = PQconnectdb(text)
    guard PQstatus(connection) == CONNECTION_OK else {
      fatalError(String(cString: PQerrorMessage(connection)))
    }
    _ = PQsetNoticeProcessor(connection, { _, _ in }, nil)
  }

  func close() { PQfinish(connection) }

  @discardableResult
  private func checked(_ result: OpaquePointer?) -> OpaquePointer {
    let status = PQresultStatus(result)
    guard let result, status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
      fatalError(String(cString: PQerrorMessage(connection)))
    }
    return result
  }

  func run(_ sql: String) { PQclear(checked(PQexec(connection, sql))) }

  func create() {
    run("DROP SCHEMA IF EXISTS hand CASCADE")
    run("CREATE SCHEMA hand")
    // The same columns, indexes and reference as the store's tables.
    run("CREATE TABLE hand.team (id bigint PRIMARY KEY)")
    run("INSERT INTO hand.team SELECT generate_series(1, 10)")
    run(
      "CREATE TABLE hand.person (id bigint PRIMARY KEY, version bigint NOT NULL, name text COLLATE \"C\", mail text COLLATE \"C\", "
        + "age bigint, score double precision, born double precision, team bigint REFERENCES hand.team (id) DEFERRABLE INITIALLY DEFERRED)"
    )
    run("CREATE INDEX ON hand.person (age)")
    run("CREATE INDEX ON hand.person (team)")
    for (name, prefix, columns) in [("insert", "INSERT INTO hand.person VALUES ", 8)] {
      let rows = (0..<Self.rows).map { row in
        "(" + (1...columns).map { "$\(row * columns + $0)" }.joined(separator: ",") + ")"
      }
      PQclear(checked(PQprepare(connection, name, prefix + rows.joined(separator: ","), 0, nil)))
    }
    let values = (0..<Self.rows).map {
      "($\($0 * 3 + 1)::bigint,$\($0 * 3 + 2)::bigint,$\($0 * 3 + 3)::bigint)"
    }
    PQclear(
      checked(
        PQprepare(
          connection, "update",
          "UPDATE hand.person p SET age = v.age, version = p.version + 1 FROM (VALUES \(values.joined(separator: ","))) v(id, version, age) "
            + "WHERE p.id = v.id AND p.version = v.version", 0, nil)))
  }

  private func execute(_ name: String, _ values: [String?]) -> OpaquePointer {
    var pointers: [UnsafeMutablePointer<CChar>?] = []
    pointers.reserveCapacity(values.count)
    for value in values { pointers.append(value.flatMap { strdup($0) }) }
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: UnsafePointer<CChar>?.self) {
        checked(PQexecPrepared(connection, name, Int32(values.count), $0.baseAddress, nil, nil, 0))
      }
    }
  }

  func insert(_ people: [Person]) {
    run("BEGIN")
    for first in stride(from: 0, to: people.count, by: Self.rows) {
      var values: [String?] = []
      for person in people[first..<first + Self.rows] {
        values += [
          "\(person.id)", "1", person.name, person.mail, "\(person.age)", "\(person.score)", "\(person.born)",
          person.team.map { "\($0)" },
        ]
      }
      PQclear(execute("insert", values))
    }
    run("COMMIT")
  }

  func update(_ people: [Person]) {
    run("BEGIN")
    for first in stride(from: 0, to: people.count, by: Self.rows) {
      var values: [String?] = []
      for person in people[first..<first + Self.rows] { values += ["\(person.id)", "1", "\(person.age)"] }
      let result = execute("update", values)
      guard String(cString: PQcmdTuples(result)) == "\(Self.rows)" else { fatalError("rows were changed") }
      PQclear(result)
    }
    run("COMMIT")
  }

  func fetch(where condition: String = "TRUE") -> [Person] {
    let result = checked(
      PQexec(
        connection,
        "SELECT id, name, mail, age, score, born, team FROM hand.person WHERE \(condition) ORDER BY id"))
    defer { PQclear(result) }
    var people: [Person] = []
    people.reserveCapacity(Int(PQntuples(result)))
    for row in 0..<PQntuples(result) {
      func text(_ column: Int32) -> String { String(cString: PQgetvalue(result, row, column)) }
      people.append(
        Person(
          id: Int64(text(0)) ?? 0, name: text(1), mail: text(2), age: Int64(text(3)) ?? 0,
          score: Double(text(4)) ?? 0, born: Double(text(5)) ?? 0,
          team: PQgetisnull(result, row, 6) != 0 ? nil : Int64(text(6))))
    }
    return people
  }
}
