import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// A server that takes TLS connections over TCP, with a certificate that it has signed itself.
@Suite(.serialized) struct `A server with TLS` {
  private struct World {
    let server: PostgresServer
    let port: Int
    let folder: URL

    init() throws {
      server = try PostgresServer()
      port = try Self.freePort()
      folder = server.folder.appending(path: "keys")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for name in ["right", "wrong"] {
        let key = folder.appending(path: "\(name).key").path
        let output = try PostgresServer.run(
          "openssl",
          [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2",
            "-keyout", key, "-out", root(name), "-subj", "/CN=localhost", "-addext",
            "subjectAltName=DNS:localhost",
          ])
        guard output.status == 0 else { throw PostgresServer.Failure(message: output.text) }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
      }
      if getuid() == 0 {
        _ = try PostgresServer.run("chown", ["-R", PostgresServer.user, folder.path])
      }
      try use("right")
    }

    func root(_ name: String) -> String { folder.appending(path: "\(name).crt").path }

    /// Starts the server again with a certificate; nil for none.
    func use(_ name: String?) throws {
      let settings =
        name.map { "-c ssl=on -c ssl_cert_file=\(root($0)) -c ssl_key_file=\(folder.path)/\($0).key" } ?? ""
      try server.program("pg_ctl", ["-D", server.folder.path + "/data", "-m", "fast", "-w", "stop"])
      try server.start(listeningAt: port, settings)
    }

    private static func freePort() throws -> Int {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { Foundation.close(listener) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
        }
      }
      guard isBound else { throw PostgresServer.Failure(message: "there is no free port") }
      return Int(UInt16(bigEndian: address.sin_port))
    }

    func url(_ host: String, root name: String, mode: String = "verify-full") throws -> URL {
      let text =
        "postgres://\(PostgresServer.user):secret@\(host):\(port)/postgres?schema=tls&sslmode=\(mode)&sslrootcert=\(root(name))"
        + "&reconnect_limit=600"
      return try #require(URL(string: text))
    }
  }

  @Test func `a certificate that is not the right one is an error at once, which names it`() throws {
    let world = try World()
    let store = try PostgresWorld(at: world.url("localhost", root: "right"))
    let context = store.context()
    _ = context.makePerson("a")
    try context.save()
    #expect(
      try store.sql("SELECT count(*) FROM pg_stat_ssl WHERE ssl").integer(0, 0) > 0)
    // The server gives up sessions that the network has lost.
    #expect(
      try store.store.pool.withConnection(retries: true) {
        try $0.query("SELECT setting FROM pg_settings WHERE name = 'tcp_keepalives_idle'").text(0, 0)
      } == "30")
    let wrong = [
      (try world.url("localhost", root: "wrong"), "certificate"),
      (try world.url("127.0.0.1", root: "right"), "does not match host name"),
    ]
    // A server is not looked for as long as the URL says.
    for (url, word) in wrong {
      let error = heartwoodError { _ = try PostgresWorld(at: url) }
      #expect(error?.code == .persistentStoreOpen, "\(String(describing: error))")
      #expect(error?.message.contains(word) == true, "\(String(describing: error))")
      #expect(error?.message.contains("secret") == false)
    }
    // Another certificate than before, while the store is open.
    try world.use("wrong")
    _ = context.makePerson("b")
    let save = heartwoodError { try context.save() }
    #expect(
      save?.code == .persistentStoreSave && save?.isOutcomeUnknown == false, "\(String(describing: save))")
    #expect(save?.message.contains("certificate") == true)
    try world.use(nil)
    let plain = heartwoodError { try context.save() }
    #expect(plain?.code == .persistentStoreSave, "\(String(describing: plain))")
    #expect(plain?.message.contains("does not support SSL") == true, "\(String(describing: plain))")
    try world.use("right")
    try context.save()
    #expect(try store.context().count(Person.self) == 2)
    try store.container.close()
  }
}
