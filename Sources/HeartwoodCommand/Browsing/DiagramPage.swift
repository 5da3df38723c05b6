import Heartwood
import HeartwoodBrowser

/// The diagram of the model, and where its entities are in it.
struct DiagramPage {
  let store: BrowsedStore

  /// The diagram as an image, in which nothing is executed.
  var image: Response {
    var response = Response(type: "image/svg+xml", text: SVGDiagram.text(store.model))
    response.fields = [
      ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    ]
    return response
  }

  var places: JSONValue {
    let layout = SVGDiagram.layout(store.model)
    func number(_ value: Double) -> JSONValue { .integer(Int64(value.rounded())) }
    return .object(
      JSONObject([
        ("width", number(layout.width)), ("height", number(layout.height)),
        (
          "entities",
          .array(
            zip(store.model.entities, layout.boxes).map { entity, box in
              .object(
                JSONObject([
                  ("name", .string(entity.name)), ("x", number(box.x)), ("y", number(box.y)),
                  ("width", number(box.width)), ("height", number(box.height)),
                ]))
            })
        ),
      ]))
  }
}
