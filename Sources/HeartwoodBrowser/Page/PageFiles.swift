/// The files of the page, which are in the program itself.
package enum PageFiles {
  /// The answer to a request of a file; nil if there is no such file.
  ///
  /// - Parameter path: The parts behind the token.
  package static func response(_ path: ArraySlice<String>) -> Response? {
    switch Array(path) {
    case [""]: return Response(type: "text/html; charset=utf-8", text: PageDocument.text)
    case ["page.css"]: return Response(type: "text/css; charset=utf-8", text: PageStyle.text)
    case ["page.js"]: return Response(type: "text/javascript; charset=utf-8", text: PageScript.text)
    case ["icon.svg"]: return Response(type: "image/svg+xml", text: PageDocument.icon)
    default: return nil
    }
  }
}
