import Foundation
import Heartwood
import Testing

/// Questions about customers and employees, each answered by one fetch.
@Suite struct `Questions about a shop's customers` {
  private let shop: ShopStore
  private let context: ManagedObjectContext

  init() throws {
    shop = try ShopStore.shared.get()
    context = shop.container.newBackgroundContext()
  }

  @Test func `customers are ranked by what they spent`() throws {
    shop.expect(
      "ranks of the customers within their countries",
      try context.fetchRows(
        Shop.Invoice.self,
        columns: {
          (
            $0.customer.country, $0.customer.lastName, $0.total.sum(),
            RowFunction.rank(partitionedBy: $0.customer.country, orderedBy: .descending($0.total.sum()))
          )
        }, groupedBy: { [$0.customer, $0.customer.country, $0.customer.lastName] },
        sort: {
          [
            .ascending($0.customer.country), .descending($0.total.sum()),
            .ascending($0.customer.lastName),
          ]
        }))
    shop.expect(
      "the five customers who spent most",
      try context.fetchRows(
        Shop.Customer.self,
        columns: { ($0.firstName, $0.lastName, $0.invoices.sum { $0.total }, $0.invoices.count) },
        sort: { [.descending($0.invoices.sum { $0.total }), .ascending($0.lastName)] }, limit: 5))
  }

  @Test func `employees have their customers' invoices, their manager and their reports`() throws {
    shop.expect(
      "sales of each representative, also of those without any",
      try context.fetchRows(
        Shop.Employee.self,
        columns: {
          (
            $0.lastName, $0.customers.sum { $0.invoices.count },
            $0.customers.sum { $0.invoices.sum { $0.total } }
          )
        }, sort: { [.ascending($0.number)] }))
    shop.expect(
      "employees, their managers and how many report to them",
      try context.fetchRows(
        Shop.Employee.self, columns: { ($0.lastName, $0.manager.lastName, $0.reports.count) },
        sort: { [.ascending($0.lastName)] }))
  }

  @Test func `customers are selected by the genres of what they bought`() throws {
    func bought(_ genre: String, _ customer: ObjectQuery<Shop.Customer>) -> Condition {
      customer.invoices.contains { $0.lines.contains { $0.track.genre.name == genre } }
    }
    shop.expect(
      "customers who bought jazz but no metal",
      try context.fetchRows(
        Shop.Customer.self, columns: { $0.lastName },
        where: { bought("Jazz", $0) && !bought("Metal", $0) }, sort: { [.ascending($0.lastName)] }))
    shop.expect(
      "how many genres each customer bought",
      try context.fetchRows(
        Shop.InvoiceLine.self,
        columns: { ($0.invoice.customer.lastName, $0.track.genre.name.count(distinct: true)) },
        groupedBy: { [$0.invoice.customer, $0.invoice.customer.lastName] },
        sort: {
          [
            .descending($0.track.genre.name.count(distinct: true)),
            .ascending($0.invoice.customer.lastName),
          ]
        }))
  }

  @Test func `the first and the last purchase are the ends of a customer's dates`() throws {
    shop.expect(
      "from the first to the last purchase of the customers",
      try context.fetchRows(
        Shop.Customer.self,
        columns: {
          ($0.lastName, $0.invoices.min { $0.date }, $0.invoices.max { $0.date }, $0.invoices.count)
        }, sort: { [.ascending($0.number)] }))
  }
}
