/// The hashes by which generated code finds properties: those of `_PropertyHash` in Heartwood, which this module does not import.
package enum PropertyHash {
  /// The hash of a name.
  package static func of(_ name: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash ^= hash >> 32
    return hash == 0 ? 1 : hash
  }

  /// A name and its hash as arguments: `"name", 0x1234`.
  package static func arguments(_ name: String) -> String {
    "\"\(name.replacing("\"", with: "\\\""))\", 0x\(String(of(name), radix: 16))"
  }
}
