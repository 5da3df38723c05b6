import Foundation

/// A PostgreSQL server of the tests' own, in a temporary folder, which listens on a Unix socket only.
final class PostgresServer: @unchecked Sendable {
  /// The one that tests share.
  static let shared = Result { try PostgresServer() }

  let folder: URL
  /// Whether commits wait for the disk; without, the tests are quicker.
  private let isDurable: Bool
  static let user = "postgres"

  init(isDurable: Bool = false) throws {
    self.isDurable = isDurable
    // The path of a socket has at most 107 bytes.
    folder = URL(fileURLWithPath: "/tmp/hwpg-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if getuid() == 0 { _ = try Self.run("chown", [Self.user, folder.path]) }
    try program(
      "initdb", ["-D", data, "-U", Self.user, "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8"])
    try start()
    Self.servers.append(self)
    atexit { PostgresServer.stopAll() }
  }

  /// A server that replays what another one commits.
  init(standbyOf primary: PostgresServer) throws {
    isDurable = true
    folder = URL(fileURLWithPath: "/tmp/hwpg-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if getuid() == 0 { _ = try Self.run("chown", [Self.user, folder.path]) }
    let source = "host=\(primary.folder.path) user=\(Self.user) application_name=standby"
    try program("pg_basebackup", ["-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", source])
    try start()
    Self.servers.append(self)
    atexit { PostgresServer.stopAll() }
  }

  /// Makes a standby the primary.
  func promote() throws { try program("pg_ctl", ["-D", data, "-w", "-t", "60", "promote"]) }

  nonisolated(unsafe) private static var servers: [PostgresServer] = []

  private static func stopAll() {
    for server in servers {
      try? server.program("pg_ctl", ["-D", server.data, "-m", "immediate", "stop"])
      try? FileManager.default.removeItem(at: server.folder)
    }
    servers = []
  }

  private var data: String { folder.path + "/data" }

  /// - Parameters:
  ///   - port: A port of TCP, on this machine only; nil for the Unix socket alone.
  ///   - settings: More options of the server.
  func start(listeningAt port: Int? = nil, _ settings: String = "") throws {
    let network = port.map { "-c listen_addresses=localhost -c port=\($0)" } ?? "-c listen_addresses="
    var options = "\(network) -c unix_socket_directories=\(folder.path) -c max_connections=200 \(settings)"
    if !isDurable { options += " -c fsync=off -c synchronous_commit=off -c full_page_writes=off" }
    try program("pg_ctl", ["-D", data, "-w", "-t", "60", "-l", folder.path + "/log", "-o", options, "start"])
  }

  /// Ends all processes of the server at once, as a power cut does.
  func kill() throws {
    let text = try String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8)
    guard let first = text.split(separator: "\n").first, let process = Int32(first) else { return }
    // The postmaster's children end when it does.
    Foundation.kill(process, SIGKILL)
    // A process whose parent does not wait for it stays known.
    for _ in 0..<1000 where Foundation.kill(process, 0) == 0 { usleep(1000) }
  }

  /// Starts the server again after it was killed: waits until the last of its processes is gone.
  func restart() throws {
    try? FileManager.default.removeItem(atPath: data + "/postmaster.pid")
    for _ in 0..<100 {
      if (try? start()) != nil { return }
      usleep(100_000)
    }
    try start()
  }

  /// The URL of a schema of its own.
  ///
  /// - Parameters:
  ///   - hosts: The folders of sockets in the place of the server's own.
  ///   - options: Other parameters of the URL.
  func url(
    schema: String = "s" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased(),
    pool: Int = 4, hosts: [String] = [], options: [String: String] = [:]
  ) -> URL {
    var parts = URLComponents()
    parts.scheme = "postgres"
    parts.host = ""
    parts.path = "/postgres"
    parts.queryItems = [
      URLQueryItem(name: "host", value: hosts.isEmpty ? folder.path : hosts.joined(separator: ",")),
      URLQueryItem(name: "user", value: Self.user),
      URLQueryItem(name: "schema", value: schema), URLQueryItem(name: "pool", value: "\(pool)"),
    ]
    parts.queryItems? += options.sorted { $0.key < $1.key }.map {
      URLQueryItem(name: $0.key, value: $0.value)
    }
    return parts.url!
  }

  // MARK: Programs

  func program(_ name: String, _ arguments: [String]) throws {
    let path = try Self.programs() + "/" + name
    // The server refuses to run as root.
    let output =
      getuid() == 0
      ? try Self.run(
        "setpriv", ["--reuid", Self.user, "--regid", Self.user, "--clear-groups", path] + arguments)
      : try Self.run(path, arguments)
    guard output.status == 0 else { throw Failure(message: "\(name): \(output.text)") }
  }

  struct Failure: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
  }

  private static func programs() throws -> String {
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    guard let newest = versions.compactMap(Int.init).max() else {
      throw Failure(message: "there is no PostgreSQL in /usr/lib/postgresql: apt-get install -y postgresql")
    }
    return "/usr/lib/postgresql/\(newest)/bin"
  }

  /// By a shell: Foundation's processes wait for those that they have started, as the server is.
  static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, text: String) {
    let place = "/tmp/hwpg-out-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: place) }
    let words = ([program] + arguments).map { "'\($0.replacingOccurrences(of: "'", with: "'\\''"))'" }
    let status = system("cd /tmp && \(words.joined(separator: " ")) >\(place) 2>&1 </dev/null")
    return (status, (try? String(contentsOfFile: place, encoding: .utf8)) ?? "")
  }
}
