import HeartwoodFiles

/// Decides whether a request comes from the page that the user has opened, and from no other page or program.
///
/// The address has a random token, which no other page knows. A page of another site that reaches this port by a name of its own has that
/// name in `Host`; requests that its scripts make have its origin in `Origin`, and `Sec-Fetch-Site` says where a request comes from.
package struct Admission: Sendable {
  private let port: UInt16
  /// The first part of every path.
  package let token: String

  package init(port: UInt16, token: String) {
    (self.port, self.token) = (port, token)
  }

  /// A token of 128 random bits.
  package static func randomToken(_ entropy: some Entropy = SystemEntropy()) -> String {
    [entropy.next(), entropy.next()].map(FileName.digits).joined()
  }

  /// The address of the page.
  package var address: String { "http://127.0.0.1:\(port)/\(token)/" }

  /// Checks a request.
  ///
  /// - Returns: The parts of its path behind the token.
  /// - Throws: A refusal, which does not say what the token is.
  package func path(of head: RequestHead) throws(Refusal) -> ArraySlice<String> {
    let hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
    guard let host = head.fields["host"]?.lowercased(), hosts.contains(host) else {
      throw Refusal(.forbidden, "this is answered under the address of this computer itself only")
    }
    if let origin = head.fields["origin"], origin.lowercased() != "http://\(host)" {
      throw Refusal(.forbidden, "another page asks for this")
    }
    if let site = head.fields["sec-fetch-site"], !["same-origin", "none"].contains(site) {
      throw Refusal(.forbidden, "another page asks for this")
    }
    if let place = head.fields["sec-fetch-dest"], Self.embeddings.contains(place) {
      throw Refusal(.forbidden, "this page is not shown inside another one")
    }
    guard let given = head.target.segments.first, Self.isEqual(given, token) else {
      throw Refusal(.forbidden, "the address is incomplete: open the one that heartwood browse has printed")
    }
    return head.target.segments.dropFirst()
  }

  private static let embeddings = ["iframe", "frame", "object", "embed", "fencedframe"]

  /// Compares two texts in a time that does not depend on where they differ.
  static func isEqual(_ given: String, _ secret: String) -> Bool {
    let (given, secret) = (Array(given.utf8), Array(secret.utf8))
    guard given.count == secret.count else { return false }
    return zip(given, secret).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
