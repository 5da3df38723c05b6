// The program in WebAssembly. One call of WASI prints.

@_extern(wasm, module: "wasi_snapshot_preview1", name: "fd_write")
@_extern(c)
private func fileWrite(
  _ file: Int32, _ vectors: UnsafeRawPointer, _ count: Int32, _ written: UnsafeMutableRawPointer
)
  -> Int32

/// The function that WasmKit calls.
@_expose(wasm, "_start")
@_cdecl("_start")
public func start() {
  var vectors = Vectors()
  vectors.run()
  vectors.text.withUnsafeBytes { text in
    var part: (address: UInt32, count: UInt32) = (
      UInt32(UInt(bitPattern: text.baseAddress)), UInt32(text.count)
    )
    var written: UInt32 = 0
    withUnsafeBytes(of: &part) { part in
      withUnsafeMutableBytes(of: &written) { written in
        if let part = part.baseAddress, let written = written.baseAddress {
          _ = fileWrite(1, part, 1, written)
        }
      }
    }
  }
}
