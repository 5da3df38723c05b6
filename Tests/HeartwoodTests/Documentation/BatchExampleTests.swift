import Foundation
import Heartwood
import Testing

final class Maker: ManagedObject {
  @Attribute(.unique) var name = ""
  @Relationship(inverse: { $0.maker }) var products: Set<Product>
}

final class Product: ManagedObject {
  @Attribute(.unique) var code = ""
  @Attribute var title = ""
  @Attribute var price = 0.0
  @Attribute var discount: Double?
  @Relationship(inverse: { $0.products }) var maker: Maker?
}

struct ProductRow: Encodable {
  var code: String
  var title: String
  var price: Double
}

@Suite struct `Examples of the article on batches` {
  @Test func `products are inserted, updated and deleted`() throws {
    let container = try PersistentContainer(
      name: "Products", types: [Maker.self, Product.self], at: URL(fileURLWithPath: "/dev/null"))
    let (context, viewContext) = (container.newBackgroundContext(), container.newBackgroundContext())
    Maker(context: context).name = "ACME"
    try context.save()

    // swift-format-ignore
    let request = BatchInsertRequest(entityName: "Product", objects: [
      ["code": "T1", "title": "Tea", "price": 3.5, "maker": "ACME"],
      ["code": "C1", "title": "Coffee", "price": 7],
    ])
    request.resultType = .count
    context.mergePolicy = .mergeByPropertyObjectTrump
    let result = try context.execute(request)
    #expect(result.result as? Int == 2)

    let rows = [ProductRow(code: "C1", title: "Coffee", price: 700)]
    try context.execute(BatchInsertRequest(entityName: "Product", rows: rows))

    let tea = try #require(try viewContext.fetch(Product.self, where: { $0.code == "T1" }).first)
    let coffee = try #require(try viewContext.fetch(Product.self, where: { $0.code == "C1" }).first)
    #expect(tea.title == "Tea" && coffee.price == 700)
    let raise = BatchUpdateRequest(entityName: "Product")
    raise.predicate = Where<Product> { $0.maker.name == "ACME" }
    raise.set(\Product.price) { $0.price * 1.1 }
    raise.propertiesToUpdate = ["title": "new"]
    try context.execute(raise, mergingInto: [viewContext])
    #expect(tea.price == 3.5 * 1.1 && tea.title == "new")

    let reset = BatchUpdateRequest(Product.self)
    reset.set(\Product.price, to: 1)
    reset.set(\Product.discount, to: nil)
    reset.predicate = Where<Product> { $0.code == "T1" }
    try context.execute(reset)
    context.mergePolicy = MergePolicy(rows: .error, unique: .objectTrump, toMany: .replace)

    let removal = BatchDeleteRequest(fetchRequest: FetchRequest<Product>(where: { $0.price > 100 }))
    removal.resultType = .objectIDs
    let removed = try context.execute(removal)
    viewContext.merge(removed.changes)
    #expect(removed.objectIDs == [coffee.objectID] && coffee.isDeleted)
  }
}
