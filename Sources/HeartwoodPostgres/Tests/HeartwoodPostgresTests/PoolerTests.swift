import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// A pgbouncer of the tests' own, which gives each transaction any of two sessions of the server.
private final class Pooler {
  let folder: String

  init(_ server: PostgresServer) throws {
    folder = "/tmp/hwpb-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try "\"\(PostgresServer.user)\" \"\"\n".write(
      toFile: folder + "/users", atomically: true, encoding: .utf8)
    try """
    [databases]
    * = host=\(server.folder.path)
    [pgbouncer]
    listen_addr =
    listen_port = 5432
    unix_socket_dir = \(folder)
    auth_type = trust
    auth_file = \(folder)/users
    pool_mode = transaction
    default_pool_size = 2
    max_client_conn = 100
    logfile = \(folder)/log
    pidfile = \(folder)/pid
    """.write(toFile: folder + "/pgbouncer.ini", atomically: true, encoding: .utf8)
    if getuid() == 0 { _ = try PostgresServer.run("chown", ["-R", PostgresServer.user, folder]) }
    let arguments = ["-d", "-q", folder + "/pgbouncer.ini"]
    let output =
      getuid() == 0
      ? try PostgresServer.run(
        "setpriv",
        ["--reuid", PostgresServer.user, "--regid", PostgresServer.user, "--clear-groups"]
          + ["/usr/sbin/pgbouncer"] + arguments)
      : try PostgresServer.run("/usr/sbin/pgbouncer", arguments)
    guard output.status == 0 else { throw PostgresServer.Failure(message: "pgbouncer: \(output.text)") }
  }

  deinit {
    let text = (try? String(contentsOfFile: folder + "/pid", encoding: .utf8)) ?? ""
    if let process = Int32(text.split(separator: "\n").first ?? "") { kill(process, SIGKILL) }
    try? FileManager.default.removeItem(atPath: folder)
  }
}

@Suite struct `A store beside pgbouncer in transaction mode` {
  @Test func `more connections than sessions save and read, and sessions keep nothing`() throws {
    let server = try PostgresServer.shared.get()
    let pooler = try Pooler(server)
    let options = ["pooler": "transaction"]
    let url = server.url(pool: 6, hosts: [pooler.folder], options: options)
    let world = try PostgresWorld(at: url)
    let direct = try PostgresWorld(at: server.url(schema: world.schema))
    let (writers, rounds) = (6, 30)
    try world.countAtOnce(writers: writers, rounds: rounds)
    let reading = direct.context()
    #expect(
      try reading.fetch(Company.self, where: { $0.code == "all" }).first?.size == Int64(writers * rounds))
    #expect(try reading.count(Person.self) == writers * rounds * 3)
    let update = BatchUpdateRequest(entityName: "Person")
    update.propertiesToUpdate = ["age": 7]
    try world.context().execute(update)
    #expect(try direct.context().count(Person.self, where: { $0.age == 7 }) == writers * rounds * 3)
    let behind = world.context()
    let first = try #require(try behind.fetch(Company.self, where: { $0.code == "0 0" }).first)
    #expect(first.people.count == 3)
    // The session of a connection that is closed may go on.
    try direct.container.close()
    try world.wait(
      until:
        "SELECT CASE WHEN count(*) = 0 THEN 1 ELSE 0 END::int8 FROM pg_locks WHERE locktype = 'advisory' AND "
        + "(classid::bigint << 32 | objid::bigint) = hashtextextended('heartwood \(world.schema)', 0)")
  }

  @Test func `a store that others have migrated meanwhile is neither read nor written with the former model`()
    throws
  {
    let server = try PostgresServer.shared.get()
    let pooler = try Pooler(server)
    let url = server.url(hosts: [pooler.folder], options: ["pooler": "transaction"])
    let former = try PostgresWorld(at: url, types: [OlderModel.Person.self])
    let context = former.context()
    let person = OlderModel.Person(context: context)
    person.name = "a"
    try context.save()
    let newer = try PostgresWorld(at: url, types: [NewerModel.Person.self])
    #expect(try newer.context().fetch(NewerModel.Person.self).map(\.rank) == [3])
    let expected = HeartwoodError.Code.persistentStoreIncompatibleVersionHash
    #expect(heartwoodError { _ = try former.context().fetch(OlderModel.Person.self) }?.code == expected)
    person.name = "b"
    #expect(heartwoodError { try context.save() }?.code == expected)
    #expect(try newer.context().fetch(NewerModel.Person.self).map(\.name) == ["a"])
  }

  @Test func `a save waits while others have the store locked for a migration`() throws {
    let server = try PostgresServer.shared.get()
    let pooler = try Pooler(server)
    let url = server.url(hosts: [pooler.folder], options: ["pooler": "transaction", "lock_limit": "30"])
    let former = try PostgresWorld(at: url, types: [OlderModel.Person.self])
    let context = former.context()
    let person = OlderModel.Person(context: context)
    person.name = "a"
    try context.save()
    let beside = try PostgresConnection(PostgresAddress(server.url(schema: former.schema)))
    let key = "hashtextextended('heartwood \(former.schema)', 0)"
    try beside.run("BEGIN; SELECT pg_advisory_xact_lock(\(key))")
    person.name = "b"
    let save = Answer { try context.performAndWait { try context.save() } }
    try PostgresWorld(at: server.url()).wait(
      until: "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    try beside.run("COMMIT")
    try save.get()
    #expect(try former.context().fetch(OlderModel.Person.self).map(\.name) == ["b"])
  }
}

private enum OlderModel {
  final class Person: ManagedObject {
    @Attribute(.indexed) var name = ""
  }
}

private enum NewerModel {
  final class Person: ManagedObject {
    @Attribute(.indexed) var name = ""
    @Attribute var rank: Int64 = 3
  }
}
